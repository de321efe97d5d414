import { describe, expect, it } from "vitest";
import { TRADE_PACKING } from "../../../src/core/order.ts";
import type { State } from "../../../src/core/state.ts";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import { changeClosed, changeField } from "../../support/changed-state.ts";
import { parametersIn } from "../../support/commands.ts";
import { openFundedExchange } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";
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

/** Sets a field at a place of the document, which only tests may do. */
function set(state: State, place: string, value: unknown): void {
  const [, field] = /^trades\.0\.(.*)/.exec(place) ?? [];
  if (field !== undefined) changeClosed(state, "trades", TRADE_PACKING, { number: 1, [field]: value });
  else {
    const own = place.replace(/^waiting/, "chain").replace(/^transactions/, "chain.transactions");
    changeField(state, own, () => value);
  }
}

/** A record of the document, and other values of its fields. */
const FIELDS = rowsOf(`
accounts.2 | address="0x" everyMarket=1 derivations=7
accounts.2.collateral | balance=1 reserved=1 incoming=1
accounts.2.holdings.0 | granted=1
accounts.2.holdings.0.yes | balance=1
accounts.2.holdings.0.no | reserved=1 outgoing=1
events.0 | title="other"
markets.0 | question="other" status="CLOSED" winningOutcome="NO" resolvedAt=1
markets.0.supply | yes=1
markets.0.onChain | collateral=1
markets.0.volume | micro=1
markets.0.liquidity | usdc=77
markets.0.books.0 | sequence=77
markets.0.books.0.last | price=1
markets.0.books.1 | updatedAt=1
orders.0 | status="EXPIRED" matched=1 notional=1 fee=1 expiration=1 cancelReason="USER" ordersAhead=7 updatedAt=1
trades.0 | price=1 fee=1 transaction=7
transactions.0 | status="MINED"
waiting | nextBlockAt=1
`).flatMap(([record, fields = ""]) =>
  Object.entries(parametersIn(fields)).map(([name, value]) => [`${record}.${name}`, value] as const),
);

describe("the canonical document", () => {
  it.each([["issued", 1] as const, ...FIELDS])("has %s, on which the hash depends", (place, value) => {
    expect(changed((state) => set(state, place, value))).toEqual([place]);
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
