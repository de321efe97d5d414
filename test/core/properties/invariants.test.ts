import { describe, expect, it } from "vitest";
import type { Account, Holding } from "../../../src/core/account.ts";
import { ASK, BID, type Book } from "../../../src/core/book/book.ts";
import { NO_SLOT } from "../../../src/core/book/order-pool.ts";
import { invariants, violations } from "../../../src/core/invariants.ts";
import { ORDER_PACKING } from "../../../src/core/order.ts";
import { findAccount } from "../../../src/core/state.ts";
import { size } from "../../../src/core/units.ts";
import { changeClosed, changeField } from "../../support/changed-state.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";

const RULES = {
  CONSERVED: "USDC issued = balances + locked collateral",
  BACKED: "supply of YES = supply of NO = locked collateral",
  SOLVENT: "no balance is negative or over-reserved",
  RESERVED: "reserved = what live orders may cost",
  LEVELS: "book levels = sum of live orders",
  CROSSED: "no book is crossed",
  ARRIVAL: "queues are in order of arrival",
  FILLS: "an order's matched size = sum of its fills",
  LISTED: "an account's open orders = its live orders",
  ON_CHAIN: "chain balances + pending = ledger",
  BLOCKS: "blocks = what was mined",
};

/** Orders 1 and 2 bid at 0.5, order 3 buys NO, an ask at 0.6, and order 4 has traded 3 with order 1. */
function openTraded() {
  const exchange = openFundedExchange({ feeRateBps: 100 });
  exchange.act("alice BUY 10 YES @ 0.5; bob BUY 5 YES @ 0.5; carol BUY 5 NO @ 0.4; carol SELL 3 YES @ 0.5");
  const { markets, orders } = exchange.state;
  const account = findAccount(exchange.state, addressOf("alice")) as Account;
  const market = markets.get(1);
  const holding = account.holdings.get(1) as Holding;
  const book = market.books[0].book as Book;
  return { state: exchange.state, account, holding, market, book, order: orders.get(1) };
}

type Traded = ReturnType<typeof openTraded>;

/** A defect, a field with what is added to it, and the invariants that the change breaks. */
const CHANGES = rowsOf(`
one micro-USDC too much | accounts.2.collateral.balance + 1 | CONSERVED ON_CHAIN
a YES balance too large | accounts.2.holdings.0.yes.balance + 1 | BACKED ON_CHAIN
a NO balance too small | accounts.2.holdings.0.no.balance + -1 | BACKED ON_CHAIN
a supply larger than the balances | markets.0.supply.yes + 1 | BACKED
locked collateral without shares | markets.0.supply.collateral + 1 | CONSERVED BACKED
incoming shares without a settlement | accounts.2.holdings.0.yes.incoming + 1 | ON_CHAIN
outgoing USDC without a settlement | accounts.2.collateral.outgoing + 1 | ON_CHAIN
a supply on chain without a transaction | markets.0.onChain.no + 1 | ON_CHAIN
a settlement that refers to a block that does not contain it | chain.transactions.0.block + 1 | BLOCKS
a wrong count of pending transactions | chain.pending + 1 | BLOCKS
more reserved than the balance | accounts.2.collateral.reserved + 1000000000000 | SOLVENT RESERVED
a negative reservation | accounts.2.holdings.0.yes.reserved + -1 | SOLVENT RESERVED
a reservation without an order | accounts.2.collateral.reserved + 1 | RESERVED
a liquidity that differs from the book | markets.0.liquidity.micro + 1 | LEVELS
an order whose matched size exceeds its fills | orders.0.matched + 1 | RESERVED LEVELS FILLS
a live filled order | orders.0.matched + 700 | RESERVED LEVELS FILLS
a wrong count of open orders | accounts.2.openCount + 1 | LISTED
`).map(([defect = "", change = "", broken = ""]): Defect => {
  const [place = "", added] = change.split(" + ");
  const plant = ({ state }: Traded) => changeField(state, place, (value) => Number(value) + Number(added));
  return [defect, plant, broken];
});

/** A defect, a function that makes it, and the invariants that it breaks. */
type Defect = readonly [defect: string, plant: (parts: Traded) => void, broken: string];

const OTHERS: readonly Defect[] = [
  ["a negative balance", takeNo, "BACKED SOLVENT ON_CHAIN"],
  ["a level with less than its orders", ({ book, order }) => book.fill(order.slot, 1), "LEVELS"],
  ["a live order that is not in the book", ({ book, order }) => book.remove(order.slot), "LEVELS"],
  ["an order in the book at another price", (parts) => restAnew(parts, 49), "LEVELS"],
  ["a crossed book", ({ book, order }) => void book.rest(ASK, 50, 1, 5, order.account), "LEVELS CROSSED"],
  ["an order ahead of an earlier one in its queue", (parts) => restAnew(parts, 50), "ARRIVAL"],
  ["an order that ended, but is live", reviveOrder, "FILLS"],
  ["a live order missing in the list of its account", (parts) => listFrom(parts, NO_SLOT), "LISTED"],
  [
    "an account that lists another account's order",
    (parts) => listFrom(parts, parts.state.orders.get(2).slot),
    "LISTED",
  ],
  ["two orders with exchanged slots", exchangeSlots, "LEVELS"],
];

function reviveOrder({ state }: Traded): void {
  changeClosed(state, "orders", ORDER_PACKING, { number: 4, matched: size(0), status: "LIVE" });
}

function listFrom({ account }: Traded, slot: number): void {
  account.oldestOpen = slot;
}

/** Takes all NO of alice, and one more, out of circulation. */
function takeNo({ holding: { no }, market }: Traded): void {
  market.supply.no = size(market.supply.no - no.balance - 1);
  no.balance = size(-1);
}

function exchangeSlots({ state, order }: Traded): void {
  const other = state.orders.get(2);
  [order.slot, other.slot] = [other.slot, order.slot];
}

function restAnew({ book, order }: Traded, tick: number): void {
  book.remove(order.slot);
  order.slot = book.rest(BID, tick, 700, 1, order.account);
}

describe("the invariants", () => {
  it.each([...CHANGES, ...OTHERS])("find %s", (_defect, plant, broken) => {
    const parts = openTraded();
    plant(parts);
    const found = violations(parts.state);
    const rules = broken.split(" ") as (keyof typeof RULES)[];
    expect(found.map(({ name }) => name)).toEqual(rules.map((rule) => RULES[rule]));
    for (const { differences } of found) expect(differences.length).toBeGreaterThan(0);
  });

  it("hold for an empty and a used exchange", () => {
    expect(violations(new TestExchange().state)).toEqual([]);
    expect(violations(openTraded().state)).toEqual([]);
  });

  it("report the number of comparisons", () => {
    for (const { name, checked } of invariants(openTraded().state)) expect(checked, name).toBeGreaterThan(0);
  });
});
