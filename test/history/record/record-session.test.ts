import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { serveWorld } from "../../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../../src/config.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { money, size } from "../../../src/core/units.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { recordSession } from "../../../src/history/record/record-session.ts";
import { observeBlocks } from "../../../src/history/record/session-recorder.ts";
import type { TracedCommand } from "../../../src/history/trace.ts";
import { emptyWorld } from "../../../src/simulation/opening.ts";
import type { Market } from "../../server/replies.ts";
import { deriveTrader } from "../../server/trader.ts";
import { Api, apiOfTest, useApi } from "../../support/http.ts";
import { failureOf } from "./run-text.ts";
import { SessionExchange } from "./session-exchange.ts";

interface Recorded {
  readonly name: string;
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

const recordedBy = (api: Api, query = ""): Promise<Recorded> => api.get<Recorded>(`/sim/scenario${query}`);

describe("GET /sim/scenario", () => {
  const api = useApi();
  const recorded = (query?: string): Promise<Recorded> => recordedBy(api, query);

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

  it("leaves out what an injected fault answered, and has what it executed without an answer", async () => {
    const tokenId = await api.newToken();
    const dave = await deriveTrader(api, 4);
    const before = await recorded();
    const bid = { tokenId, side: "BUY", price: 0.17, size: 5 } as const;
    await api.post("/sim/faults", { route: "POST /order", status: 503, times: 1 });
    await dave.orderRefused(bid, "UNAVAILABLE");
    expect(await recorded()).toEqual(before);
    await api.post("/sim/faults", { route: "POST /order", drop: "reply", times: 1 });
    await expect(dave.place(bid)).rejects.toThrow();
    const { orders, scenario } = await recorded();
    expect(orders).toBe(before.orders + 1);
    expect(scenario).toMatch(/: BUY 5 YES @ 0\.17/);
    expect(scenario).not.toContain("fault:");
  });

  it.each(["two wallets & a cross", "a: bid # at 0.2", "\u{1f40e}".repeat(200), "two\u2028parts"])(
    "gives the scenario the requested name, with which it passes: %j",
    async (requested) => {
      const { name, scenario } = await recorded(`?name=${encodeURIComponent(requested)}`);
      expect([name, parse(scenario).scenario]).toEqual([requested, requested]);
      expect(await failureOf(scenario)).toBeNull();
    },
  );

  it.each(["", "%20", "two%0Alines", "x".repeat(201)])("refuses the name %j", async (wrong) => {
    await api.refused(`GET /sim/scenario?name=${wrong}`, "INVALID_PARAMETER");
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

const activeMarkets = async (api: Api): Promise<Market[]> =>
  (await api.get<{ data: Market[] }>("/api/markets?active=true&limit=100")).data;

/** Wallets sweep, quote and cancel, and orders expire, in up to eight markets. */
async function trade(api: Api): Promise<void> {
  const [alice, bob, carol] = [
    await deriveTrader(api, 1),
    await deriveTrader(api, 2),
    await deriveTrader(api, 3),
  ];
  for (const { tokens, tickSize } of (await activeMarkets(api)).slice(0, 8)) {
    const [yes, no] = tokens.map(({ tokenId }) => tokenId);
    const low = Number(tickSize);
    const funds = { collateral: 12.345678, tokens: { [`${no}`]: 7.5 } };
    await api.post(`/sim/accounts/${bob.address}/fund`, funds);
    await alice.place({ tokenId: yes, side: "BUY", price: 1 - low, size: 75 });
    await alice.place({ tokenId: no, side: "BUY", price: 1 - low, size: 6 });
    await bob.place({ tokenId: no, side: "BUY", price: 1 - low, size: 60.5 });
    await carol.place({ tokenId: no, side: "SELL", price: low, size: 40, orderType: "FAK" });
    await carol.place({ tokenId: yes, side: "SELL", price: low, size: 90, orderType: "FOK" });
    const bid = await alice.place({ tokenId: yes, side: "BUY", price: low, size: 10 });
    const expiration = String(api.now + 30);
    await bob.place({ tokenId: no, side: "BUY", price: low, size: 20, orderType: "GTD", expiration });
    await carol.place({ tokenId: yes, side: "BUY", price: low, size: 30 });
    await alice.cancel(bid.id);
  }
  await api.post("/sim/clock", { advance: "45s" });
  await carol.ask("DELETE", "/clob/orders/all");
  const [first, second = first] = await activeMarkets(api);
  await api.post(`/sim/markets/${first?.slug}/close`);
  await api.post(`/sim/markets/${second?.slug}/resolve`, { winningOutcome: "YES" });
}

/** Starts a server without a world, with a market of the session. */
async function startEmpty(): Promise<Api> {
  const config = { ...DEFAULT_CONFIG, port: 0, clock: { mode: "frozen" }, logLevel: "silent" } as const;
  const { server } = await serveWorld(config, emptyWorld("no: thing"));
  const api = await new Api(server).open();
  onTestFinished(() => api.close());
  await api.createMarket({ slug: "rain", tickSize: 0.001, selfTrade: "cancel-both", feeRateBps: 50 });
  return api;
}

describe("the scenario that a server records passes", () => {
  it.each<[string, Partial<Config> | null, seed?: string]>([
    ["a world file", {}],
    ["the default world", { world: null }],
    ["another world", { world: null, seed: "7", markets: 5 }],
    ["a seed of the longest kind", { world: null, seed: `${"\u{1f40e}".repeat(127)}\u2028`, markets: 5 }],
    ["a faucet that gives little", { faucet: { collateral: money(500_000_000), everyMarket: size(10_000) } }],
    ["numbers as text", { numbers: "string" }],
    ["a clock that runs", { clock: { mode: "scaled", rate: 3 } }],
    ["no world", null, 'seed: "no: thing"\n'],
  ])("over %s", async (_case, config, seed = "") => {
    const api = await (config === null ? startEmpty() : apiOfTest(config));
    await trade(api);
    const { scenario } = await recordedBy(api);
    expect(scenario).toContain(seed);
    expect(await failureOf(scenario)).toBeNull();
  });
});

it("has no seed if a scenario would read another one", async () => {
  const api = await apiOfTest({ world: null, seed: " 7", markets: 1 });
  expect((await recordedBy(api)).scenario).not.toContain("seed:");
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

it("has every block that one command mined, however many", () => {
  const { state } = new SessionExchange();
  const rest = { at: 0, placed: null, reverts: false };
  const mine = { ...rest, command: { kind: "mineBlocks", count: 300_000 }, events: [] };
  const opened = { kind: "blockOpened", height: 1 };
  const blocks = Array.from({ length: 300_000 }, () => ({
    ...rest,
    command: { kind: "produceBlock" },
    events: [opened],
  }));
  const traced = [mine, ...blocks] as unknown as readonly TracedCommand[];
  const observed = observeBlocks(traced, state, state);
  expect(observed.requested.get(traced[0] as TracedCommand)?.length).toBe(300_000);
});
