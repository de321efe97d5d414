import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { addressOf } from "../../support/commands.ts";
import { FAUCET_OF_10_000, TestExchange, verdictOf } from "../../support/exchange.ts";

const derive = (name: string): Command => ({ kind: "deriveCredentials", address: addressOf(name) });
const derivationsOf = (exchange: TestExchange, name: string): number =>
  exchange.state.accounts.get(exchange.state.accountByAddress.get(addressOf(name)) ?? 0).derivations;

describe("deriving credentials", () => {
  it("for the first time opens the account and funds it from the faucet", () => {
    const exchange = new TestExchange(FAUCET_OF_10_000);
    exchange.market();
    exchange.mustSubmit(derive("dave"));
    expect(exchange.usdc("dave").balance).toBe(10_000);
    exchange.send("dave SELL 10000 NO @ 0.5");
    expect(exchange.shares("dave", "YES").balance).toBe(10_000);
  });

  it("for the first time funds an existing account too", () => {
    const exchange = new TestExchange(FAUCET_OF_10_000);
    exchange.fund("dave", { usdc: 1 });
    exchange.mustSubmit(derive("dave"));
    expect(exchange.usdc("dave").balance).toBe(10_001);
    expect(exchange.state.accounts.size).toBe(3);
  });

  it("with an empty faucet adds no funds", () => {
    const exchange = new TestExchange();
    exchange.mustSubmit(derive("dave"));
    expect(exchange.events.map(({ kind }) => kind)).toEqual(["accountOpened", "credentialsDerived"]);
  });

  it("again is counted and adds no funds if credentials rotate", () => {
    const exchange = new TestExchange({ ...FAUCET_OF_10_000, credentials: "rotate" });
    for (let time = 1; time <= 3; time += 1) exchange.mustSubmit(derive("dave"));
    expect(derivationsOf(exchange, "dave")).toBe(3);
    expect(exchange.usdc("dave").balance).toBe(10_000);
  });

  it("again is refused per address if credentials are derived once", () => {
    const exchange = new TestExchange({ ...FAUCET_OF_10_000, credentials: "once" });
    const verdicts = ["dave", "dave", "eve", "dave"].map((name) => verdictOf(exchange.submit(derive(name))));
    expect(verdicts).toEqual(["ok", "CREDENTIALS_ALREADY_DERIVED", "ok", "CREDENTIALS_ALREADY_DERIVED"]);
    expect(derivationsOf(exchange, "dave")).toBe(1);
  });
});
