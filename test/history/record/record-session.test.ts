import { describe, expect, it } from "vitest";
import { runSteps } from "../../../src/core/steps.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { recordSession } from "../../../src/history/record/record-session.ts";
import { deriveTrader } from "../../server/trader.ts";
import { useApi } from "../../support/http.ts";
import { SessionExchange } from "./session-exchange.ts";

interface Recorded {
  readonly name: string;
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

describe("GET /sim/scenario", () => {
  const api = useApi();
  const recorded = (query = ""): Promise<Recorded> => api.get<Recorded>(`/sim/scenario${query}`);

  it("returns the session so far, also if it is empty, and changes nothing", async () => {
    const { scenario, ...facts } = await recorded();
    expect(facts).toEqual({ name: "recorded session of 0 orders", orders: 0, trades: 0 });
    expect(scenario).toContain("  - expect: { trades: [] }\n");
    const [alice, bob] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
    const order = { tokenId: await api.newToken({ slug: "rain" }), price: 0.5, size: 5 };
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
    await api.post("/sim/snapshots", { name: "early" });
    const bid = { side: "BUY", price: 0.11, size: 1 };
    await (await deriveTrader(api, 3)).place({ ...bid, tokenId: await api.newToken() });
    expect((await recorded()).orders).toBe(before.orders + 1);
    await api.post("/sim/snapshots/early/restore");
    expect(await recorded()).toEqual(before);
    await api.post("/sim/reset");
    await (await deriveTrader(api, 1)).place({ ...bid, tokenId: await api.newToken({ slug: "snow" }) });
    const { orders, scenario } = await recorded();
    expect(orders).toBe(1);
    expect(scenario).toContain("  snow: { tickSize: 0.01 }\n");
    expect(scenario).not.toContain("rain");
  });
});

describe("a session that is too long", () => {
  /** Records a session of small fundings. */
  const attempt = (maximum: number, fundings: number) => {
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
    return runSteps(recordSession({ log, open, devAccounts: [], name: null }));
  };

  it("is refused above the maximum number of commands", () => {
    expect(attempt(3, 3)).toMatchObject({ orders: 0 });
    expect(() => attempt(3, 4)).toThrow(
      expect.objectContaining({
        ...{ name: "ApiError", code: "SESSION_TOO_LONG", status: 409 },
        message: "the session has more than 3 commands, the maximum in memory",
        help: { hint: "POST /sim/reset begins a new session, which can be recorded" },
      }),
    );
  });

  it("is refused above the maximum size of a scenario file", () => {
    expect(() => attempt(100_000, 40_000)).toThrow(
      expect.objectContaining({
        code: "SESSION_TOO_LONG",
        message: expect.stringMatching(
          /^the session takes \d{7} bytes as a scenario, and a scenario file has at most 1048576 bytes$/,
        ),
      }),
    );
  });
});
