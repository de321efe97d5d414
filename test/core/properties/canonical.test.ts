import { describe, expect, it } from "vitest";
import { TRADE_PACKING, type Trade } from "../../../src/core/order.ts";
import type { State } from "../../../src/core/state.ts";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { money, price } from "../../../src/core/units.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import { changeClosed } from "../../support/closed-records.ts";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";
import type { Json } from "../document/damaged-documents.ts";

/** Alice's order 1 rests, partly filled by bob's order 2; grants are minted. */
function usedState(): State {
  const exchange = openFundedExchange({ feeRateBps: 100, matching: "independent" });
  exchange.fund("alice", { everyMarket: 5 });
  exchange.send("alice BUY 10 YES @ 0.5 GTD 1h", "bob SELL 3 YES @ 0.5", "bob SELL 3 NO @ 0.5 FOK");
  return exchange.state;
}

const documentOf = (state: State): Record<string, Json> => JSON.parse([...canonicalLines(state)].join("\n"));

/** Returns the path of each value of a document. */
function pathsOf(value: Json, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]));
}

/** Returns the paths at which the document differs after a change of the state. */
function changed(change: (state: State) => void): string[] {
  const state = usedState();
  const [before, hash] = [documentOf(state), contentHash(state)];
  change(state);
  const after = documentOf(state);
  expect(contentHash(state)).not.toBe(hash);
  const at = (document: Json, path: readonly string[]): unknown =>
    path.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
  const places = new Set([...pathsOf(before), ...pathsOf(after)].map((path) => path.join(".")));
  return [...places].filter((place) => at(before, place.split(".")) !== at(after, place.split(".")));
}

/** Changes one field directly, which only tests may do. */
const set =
  (of: (state: State) => object, name: string, value: unknown) =>
  (state: State): void =>
    void Object.assign(of(state), { [name]: value });

const account = (state: State) => state.accounts.get(3);
const holding = (state: State) => account(state).holdings.get(1) as object & { yes: object; no: object };
const market = (state: State) => state.markets.get(1);
const order = (state: State) => state.orders.get(1);
/** Changes the first trade, which is closed. */
const setTrade =
  (change: Partial<Trade>) =>
  (state: State): void =>
    changeClosed(state, "trades", TRADE_PACKING, { number: 1, ...change });

const FIELDS: readonly [place: string, change: (state: State) => void][] = [
  ["issued", set((state) => state, "issued", 1)],
  ["accounts.2.address", set(account, "address", "0x")],
  ["accounts.2.collateral.balance", set((state) => account(state).collateral, "balance", 1)],
  ["accounts.2.collateral.reserved", set((state) => account(state).collateral, "reserved", 1)],
  ["accounts.2.everyMarket", set(account, "everyMarket", 1)],
  ["accounts.2.derivations", set(account, "derivations", 7)],
  ["accounts.2.holdings.0.yes.balance", set((state) => holding(state).yes, "balance", 1)],
  ["accounts.2.holdings.0.no.reserved", set((state) => holding(state).no, "reserved", 1)],
  ["accounts.2.holdings.0.granted", set(holding, "granted", 1)],
  ["events.0.title", set((state) => state.events.get(1), "title", "other")],
  ["markets.0.question", set(market, "question", "other")],
  ["markets.0.status", set(market, "status", "CLOSED")],
  ["markets.0.winningOutcome", set(market, "winningOutcome", "NO")],
  ["markets.0.resolvedAt", set(market, "resolvedAt", 1)],
  ["markets.0.supply.yes", set((state) => market(state).supply, "yes", 1)],
  ["markets.0.onChain.collateral", set((state) => market(state).onChain, "collateral", 1)],
  ["markets.0.volume.micro", set((state) => market(state).volume, "micro", 1)],
  ["markets.0.liquidity.usdc", set((state) => market(state).liquidity, "usdc", 77)],
  ["markets.0.books.0.sequence", set((state) => market(state).books[0], "sequence", 77)],
  ["markets.0.books.1.updatedAt", set((state) => market(state).books[1] as object, "updatedAt", 1)],
  ["markets.0.books.0.last.price", set((state) => market(state).books[0].last as object, "price", 1)],
  ["orders.0.status", set(order, "status", "EXPIRED")],
  ["orders.0.matched", set(order, "matched", 1)],
  ["orders.0.notional", set(order, "notional", 1)],
  ["orders.0.fee", set(order, "fee", 1)],
  ["orders.0.expiration", set(order, "expiration", 1)],
  ["orders.0.cancelReason", set(order, "cancelReason", "USER")],
  ["orders.0.ordersAhead", set(order, "ordersAhead", 7)],
  ["orders.0.updatedAt", set(order, "updatedAt", 1)],
  ["trades.0.price", setTrade({ price: price(1) })],
  ["trades.0.fee", setTrade({ fee: money(1) })],
  ["trades.0.transaction", setTrade({ transaction: 7 })],
  ["accounts.2.collateral.incoming", set((state) => account(state).collateral, "incoming", 1)],
  ["accounts.2.holdings.0.no.outgoing", set((state) => holding(state).no, "outgoing", 1)],
  ["waiting.nextBlockAt", set((state) => state.chain, "nextBlockAt", 1)],
  ["transactions.0.status", set((state) => state.chain.transactions.get(1), "status", "MINED")],
];

describe("the canonical document", () => {
  it.each(FIELDS)("has %s, on which the hash depends", (place, change) => {
    expect(changed(change)).toEqual([place]);
  });

  it("is JSON, for an empty and a used exchange, and names its units", () => {
    const empty = { events: [], markets: [], orders: [], trades: [] };
    expect(documentOf(new TestExchange().state)).toMatchObject(empty);
    expect(documentOf(usedState())).toMatchObject({
      units: { price: "0.0001 USDC", size: "0.01 share", money: "0.000001 USDC", at: "Unix ms" },
      config: { seed: "test" },
      accounts: { length: 5 },
      orders: { length: 3 },
      trades: { length: 1 },
    });
  });

  it("lists holdings by market number, not in order of creation", () => {
    const exchange = openFundedExchange();
    exchange.market();
    exchange.market();
    exchange.fund("dave", { usdc: 100, everyMarket: 10 });
    for (const market of [3, 1, 2]) exchange.mustSubmit(exchange.command("dave SELL 1 YES @ 0.9", market));
    const accounts = documentOf(exchange.state).accounts as { holdings: { market: number }[] }[];
    expect(accounts.at(-1)?.holdings.map(({ market }) => market)).toEqual([1, 2, 3]);
  });

  it("contains no derived fields", () => {
    const names = new Set(pathsOf(documentOf(usedState())).flat());
    for (const name of ["slot", "oldestOpen", "newestOpen", "lastTrade", "book", "history"]) {
      expect(names.has(name), name).toBe(false);
    }
  });
});

const NAMES_ON_DISK = { fillableSize: "crossable", blockingOwnOrder: "ownInWay" } as Readonly<
  Record<string, string>
>;
const LINKS = ["slot", "lastTrade", "takerPrevious", "makerPrevious"];

it.each(["orders", "trades"] as const)(
  "the lines of %s have every persisted field, in order, and no links",
  (part) => {
    const state = usedState();
    const lines = (documentOf(state)[part] as object[]).map((line) => JSON.stringify(line));
    const facts = Array.from<object>(state[part]).map((record) => {
      const persisted = Object.entries(record).filter(([name]) => !LINKS.includes(name));
      return JSON.stringify(
        Object.fromEntries(persisted.map(([name, value]) => [NAMES_ON_DISK[name] ?? name, value])),
      );
    });
    expect(lines).toEqual(facts);
  },
);
