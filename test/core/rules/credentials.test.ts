import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { addressOf } from "../../support/commands.ts";
import { FAUCET_OF_10_000, TestExchange, verdictOf } from "../../support/exchange.ts";

const derive = (name: string): Command => ({ kind: "deriveCredentials", address: addressOf(name) });
const derivationsOf = (floor: TestExchange, name: string): number =>
  floor.state.accounts.get(floor.state.accountByAddress.get(addressOf(name)) ?? 0).derivations;

describe("deriving credentials", () => {
  it("for the first time opens the account and funds it from the faucet", () => {
    const floor = new TestExchange(FAUCET_OF_10_000);
    floor.market();
    floor.demand(derive("dave"));
    expect(floor.usdc("dave").balance).toBe(10_000);
    floor.send("dave SELL 10000 NO @ 0.5");
    expect(floor.shares("dave", "YES").balance).toBe(10_000);
  });

  it("for the first time funds an existing account too", () => {
    const floor = new TestExchange(FAUCET_OF_10_000);
    floor.fund("dave", { usdc: 1 });
    floor.demand(derive("dave"));
    expect(floor.usdc("dave").balance).toBe(10_001);
    expect(floor.state.accounts.size).toBe(3);
  });

  it("with an empty faucet adds no funds", () => {
    const floor = new TestExchange();
    floor.demand(derive("dave"));
    expect(floor.events.map(({ kind }) => kind)).toEqual(["accountOpened", "credentialsDerived"]);
  });

  it("again is counted and adds no funds if credentials rotate", () => {
    const floor = new TestExchange({ ...FAUCET_OF_10_000, credentials: "rotate" });
    for (let time = 1; time <= 3; time += 1) floor.demand(derive("dave"));
    expect(derivationsOf(floor, "dave")).toBe(3);
    expect(floor.usdc("dave").balance).toBe(10_000);
  });

  it("again is refused per address if credentials are derived once", () => {
    const floor = new TestExchange({ ...FAUCET_OF_10_000, credentials: "once" });
    const verdicts = ["dave", "dave", "eve", "dave"].map((name) => verdictOf(floor.submit(derive(name))));
    expect(verdicts).toEqual(["ok", "CREDENTIALS_ALREADY_DERIVED", "ok", "CREDENTIALS_ALREADY_DERIVED"]);
    expect(derivationsOf(floor, "dave")).toBe(1);
  });
});
