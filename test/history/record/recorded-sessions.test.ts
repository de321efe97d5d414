import { describe, expect, it, onTestFinished } from "vitest";
import { serveWorld } from "../../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../../src/config.ts";
import { money, size } from "../../../src/core/units.ts";
import { emptyWorld } from "../../../src/simulation/opening.ts";
import type { Market } from "../../server/replies.ts";
import { deriveTrader } from "../../server/trader.ts";
import { Api, apiOfTest } from "../../support/http.ts";
import { failureOf } from "./run-text.ts";
import { recordOf } from "./session-exchange.ts";

const recordingOf = async (api: Api): Promise<string> =>
  (await api.get<{ scenario: string }>("/sim/scenario")).scenario;

const activeMarkets = async (api: Api): Promise<Market[]> =>
  (await api.get<{ data: Market[] }>("/api/markets?active=true&limit=100")).data;

const pairOn = async (api: Api) => [await deriveTrader(api, 1), await deriveTrader(api, 2)] as const;

/** Wallets sweep, quote and cancel, and orders expire, in up to eight markets. */
async function trade(api: Api): Promise<void> {
  const [alice, bob] = await pairOn(api);
  const carol = await deriveTrader(api, 3);
  for (const { tokens, tickSize } of (await activeMarkets(api)).slice(0, 8)) {
    const [yes, no] = tokens.map(({ tokenId }) => tokenId);
    const low = Number(tickSize);
    await alice.place({ tokenId: yes, side: "BUY", price: 1 - low, size: 75 });
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
  const [first, second] = await activeMarkets(api);
  await api.post(`/sim/markets/${first?.slug}/close`);
  await api.post(`/sim/markets/${second?.slug}/resolve`, { winningOutcome: "YES" });
}

/** Two wallets trade in a new market. */
async function tradeAlone(api: Api): Promise<void> {
  const terms = { tickSize: 0.001, selfTrade: "cancel-both", feeRateBps: 50 };
  const { tokens } = await api.createMarket({ slug: "rain", ...terms });
  const [yes, no] = tokens.map(({ tokenId }) => tokenId);
  const [alice, bob] = await pairOn(api);
  await api.post(`/sim/accounts/${bob.address}/fund`, { collateral: 12.345678, tokens: { [`${no}`]: 7.5 } });
  await alice.place({ tokenId: yes, side: "BUY", price: 0.505, size: 10 });
  await alice.place({ tokenId: yes, side: "BUY", price: 0.505, size: 20.25 });
  await bob.place({ tokenId: no, side: "BUY", price: 0.5, size: 15 });
  await alice.place({ tokenId: no, side: "BUY", price: 0.5, size: 3 });
  await bob.place({ tokenId: yes, side: "SELL", price: 0.9, size: 1 });
}

describe("the scenario that a server records passes", () => {
  it.each<[string, Partial<Config>]>([
    ["a world file", {}],
    ["the default world", { world: null }],
    ["another world", { world: null, seed: "7", markets: 5 }],
    ["a faucet that gives little", { faucet: { collateral: money(500_000_000), everyMarket: size(10_000) } }],
    ["numbers as text", { numbers: "string" }],
    ["a clock that runs", { clock: { mode: "scaled", rate: 3 } }],
  ])("over %s", async (_case, config) => {
    const api = await apiOfTest(config);
    await trade(api);
    expect(await failureOf(await recordingOf(api))).toBeNull();
  });

  it("without a world, with a market of the session", async () => {
    const config = { ...DEFAULT_CONFIG, port: 0, clock: { mode: "frozen" }, logLevel: "silent" } as const;
    const { server } = await serveWorld(config, emptyWorld("no: thing"));
    const api = await new Api(server).open();
    onTestFinished(() => api.close());
    await tradeAlone(api);
    const scenario = await recordingOf(api);
    expect(scenario).toContain('seed: "no: thing"\n');
    expect(await failureOf(scenario)).toBeNull();
  });
});

describe("a recorded scenario fails if one value in it is changed", () => {
  const { scenario } = recordOf(
    "market rain; fund maker usdc=1000; maker BUY 10 YES @ 0.4",
    "derive alice bob; alice BUY 10 YES @ 0.5; bob SELL 4 YES @ 0.3",
  );

  it.each([
    ["an order's state", "status: LIVE 0/10", "status: LIVE 1/10"],
    ["a fill", "fills: [SELL 4 YES @ 0.5 from wallet-1]", "fills: [SELL 4 YES @ 0.4 from trader-1]"],
    ["a book at the opening", "bids: [0.4 x 10 (1)], asks: []", "bids: [0.4 x 10 (2)], asks: []"],
    ["a book at the end", "YES: { bids: [0.5 x 6 (1), 0.4", "YES: { bids: [0.5 x 6 (2), 0.4"],
    ["an order's final state", "order-1: LIVE 4/10", "order-1: LIVE 5/10"],
    ["a trade", "wallet-2 SELL 4 YES @ 0.5", "wallet-2 SELL 4 YES @ 0.51"],
    ["a balance", "USDC: { balance: 98,", "USDC: { balance: 97,"],
    ["a balance on the chain", "98, onChain: 100", "98, onChain: 98"],
    ["a settlement", "order-1: MATCHED }", "order-1: MINED }"],
  ])("%s", async (_case, expected, other) => {
    expect(await failureOf(scenario)).toBeNull();
    expect(scenario.split(expected)).toHaveLength(2);
    expect(await failureOf(scenario.replace(expected, other))).toMatch(/^step \d+, /);
  });
});
