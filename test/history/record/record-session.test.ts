import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "../../../src/api/errors.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { recordSession } from "../../../src/history/record/record-session.ts";
import type { Market, Refusal } from "../../server/replies.ts";
import { deriveTrader } from "../../server/trader.ts";
import { type Api, startApi } from "../../support/http.ts";
import { SessionExchange } from "./session-exchange.ts";

interface Recorded {
  readonly name: string;
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

describe("GET /sim/scenario", () => {
  let api: Api;
  const recorded = (query = ""): Promise<Recorded> => api.get<Recorded>(`/sim/scenario${query}`);

  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  it("returns a scenario of an empty session", async () => {
    const { scenario, ...facts } = await recorded();
    expect(facts).toEqual({ name: "recorded session of 0 orders", orders: 0, trades: 0 });
    expect(scenario).toContain("  - expect: { trades: [] }\n");
  });

  it("returns the session so far, and changes nothing", async () => {
    const market = await api.createMarket({ slug: "rain" });
    const [alice, bob] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
    const order = { tokenId: market.tokens[0]?.tokenId, price: 0.5, size: 5 };
    await alice.place({ ...order, side: "BUY" });
    await bob.place({ ...order, side: "SELL" });
    await bob.orderRefused({ ...order, side: "HOLD" }, "INVALID_SIDE");
    const before = await api.stateHash();
    const first = await recorded();
    expect(first).toMatchObject({ name: "recorded session of 2 orders", orders: 2, trades: 1 });
    expect(first.scenario).toContain("  rain: { tickSize: 0.01 }\n");
    expect(first.scenario).toContain("  - wallet-2: SELL 5 YES @ 0.5\n    status: MATCHED 5/5\n");
    expect(await api.stateHash()).toBe(before);
    expect(await recorded()).toEqual(first);
  });

  it("gives the scenario the requested name", async () => {
    const { name, scenario } = await recorded("?name=two%20wallets%20%26%20a%20cross");
    expect(name).toBe("two wallets & a cross");
    expect(scenario).toContain("scenario: two wallets & a cross\n");
    for (const wrong of ["", "%20", "two%0Alines", "x".repeat(201)]) {
      await api.refused(`GET /sim/scenario?name=${wrong}`, "INVALID_PARAMETER");
    }
  });

  it("returns the commands that lead to a restored snapshot, and begins again with a reset", async () => {
    const before = await recorded();
    const { data } = await api.get<{ data: Market[] }>("/api/markets");
    const tokenId = data.find(({ slug }) => slug === "rain")?.tokens[0]?.tokenId;
    await api.post("/sim/snapshots", { name: "early" });
    await (await deriveTrader(api, 3)).place({ tokenId, side: "BUY", price: 0.11, size: 1 });
    expect((await recorded()).orders).toBe(before.orders + 1);
    await api.post("/sim/snapshots/early/restore");
    expect(await recorded()).toEqual(before);
    await api.post("/sim/reset");
    const { tokens } = await api.createMarket({ slug: "snow" });
    await (await deriveTrader(api, 1)).place({
      tokenId: tokens[0]?.tokenId,
      side: "BUY",
      price: 0.5,
      size: 5,
    });
    const { orders, scenario } = await recorded();
    expect(orders).toBe(1);
    expect(scenario).toContain("  snow: { tickSize: 0.01 }\n");
    expect(scenario).not.toContain("rain");
  });

  it("requires the token of the control plane", async () => {
    const guarded = await startApi({ simToken: "secret" });
    const sent = { method: "GET", path: "/sim/scenario", headers: { "x-sim-token": "guess" } } as const;
    const { status, body } = await guarded.send<Refusal>(sent);
    expect([status, body.code]).toEqual([401, "SIM_TOKEN_REQUIRED"]);
    await guarded.close();
  });
});

describe("a session that is too long", () => {
  /** Records a session of small fundings. Returns the recording or the error. */
  const attempt = (maximum: number, fundings: number): unknown => {
    const log = new SessionLog(maximum);
    const exchange = new SessionExchange(log);
    exchange.act("market rain");
    log.begin();
    for (let number = 1; number <= fundings; number += 1) exchange.fund("alice", { usdc: number });
    const open = () => {
      const fresh = new SessionExchange();
      fresh.act("market rain");
      return fresh.exchange;
    };
    try {
      return runSteps(recordSession({ log, open, devAccounts: [], name: null }));
    } catch (error) {
      return error;
    }
  };

  it("is refused above the maximum number of commands", () => {
    expect(attempt(3, 3)).toMatchObject({ orders: 0 });
    const refusal = attempt(3, 4) as ApiError;
    expect(refusal).toBeInstanceOf(ApiError);
    expect([refusal.code, refusal.status, refusal.message]).toEqual([
      "SESSION_TOO_LONG",
      409,
      "the session has more than 3 commands, the maximum in memory",
    ]);
    expect(refusal.help.hint).toBe("POST /sim/reset begins a new session, which can be recorded");
  });

  it("is refused above the maximum size of a scenario file", () => {
    const refusal = attempt(100_000, 40_000) as ApiError;
    expect(refusal.code).toBe("SESSION_TOO_LONG");
    expect(refusal.message).toMatch(
      /^the session takes \d{7} bytes as a scenario, and a scenario file has at most 1048576 bytes$/,
    );
  });
});
