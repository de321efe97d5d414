import { describe, expect, it } from "vitest";
import type { Account, Holding } from "../../../src/core/account.ts";
import { ASK, BID, type Book } from "../../../src/core/book/book.ts";
import { NO_SLOT } from "../../../src/core/book/order-pool.ts";
import { invariants, violations } from "../../../src/core/invariants.ts";
import { ORDER_PACKING } from "../../../src/core/order.ts";
import { findAccount } from "../../../src/core/state.ts";
import { size } from "../../../src/core/units.ts";
import { changeClosed } from "../../support/closed-records.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";

const CONSERVED = "USDC issued = balances + locked collateral";
const BACKED = "supply of YES = supply of NO = locked collateral";
const SOLVENT = "no balance is negative or over-reserved";
const RESERVED = "reserved = what live orders may cost";
const LEVELS = "book levels = sum of live orders";
const CROSSED = "no book is crossed";
const ARRIVAL = "queues are in order of arrival";
const FILLS = "an order's matched size = sum of its fills";
const LISTED = "an account's open orders = its live orders";
const ON_CHAIN = "chain balances + pending = ledger";
const BLOCKS = "blocks = what was mined";

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

/** Adds to a field of a record, which only tests may do. */
const add =
  (of: (parts: Traded) => object, name: string, amount = 1) =>
  (parts: Traded): void => {
    const record = of(parts) as Record<string, number>;
    record[name] = (record[name] ?? 0) + amount;
  };
/** Sets a field of a record. */
const set =
  (of: (parts: Traded) => object, name: string, valueIn: (parts: Traded) => number) =>
  (parts: Traded): void =>
    void Object.assign(of(parts), { [name]: valueIn(parts) });
const slotOf =
  (order: number) =>
  ({ state }: Traded): number =>
    state.orders.get(order).slot;
const firstOrder = ({ order }: Traded): object => order;
const collateral = ({ account }: Traded): object => account.collateral;
const supply = ({ market }: Traded): object => market.supply;
const moreThanAll = ({ account }: Traded): number => account.collateral.balance + 1;
const account = (parts: Traded): object => parts.account;

/** A defect, a function that makes it, and the invariants that it breaks. */
const FAULTS: readonly [fault: string, plant: (parts: Traded) => void, found: readonly string[]][] = [
  ["one micro-USDC too much", add(collateral, "balance"), [CONSERVED, ON_CHAIN]],
  ["a YES balance too large", add(({ holding }) => holding.yes, "balance"), [BACKED, ON_CHAIN]],
  ["a NO balance too small", add(({ holding }) => holding.no, "balance", -1), [BACKED, ON_CHAIN]],
  ["a supply larger than the balances", add(supply, "yes"), [BACKED]],
  ["a negative balance", takeNo, [BACKED, SOLVENT, ON_CHAIN]],
  ["locked collateral without shares", add(supply, "collateral"), [CONSERVED, BACKED]],
  ["incoming shares without a settlement", add(({ holding }) => holding.yes, "incoming"), [ON_CHAIN]],
  ["outgoing USDC without a settlement", add(collateral, "outgoing"), [ON_CHAIN]],
  ["a supply on chain without a transaction", add(({ market }) => market.onChain, "no"), [ON_CHAIN]],
  [
    "a settlement that refers to a block that does not contain it",
    add(({ state: { chain } }) => chain.transactions.get(chain.transactions.size), "block"),
    [BLOCKS],
  ],
  ["a wrong count of pending transactions", add(({ state }) => state.chain, "pending"), [BLOCKS]],
  ["more reserved than the balance", set(collateral, "reserved", moreThanAll), [SOLVENT, RESERVED]],
  ["a negative reservation", add(({ holding }) => holding.yes, "reserved", -1), [SOLVENT, RESERVED]],
  ["a reservation without an order", add(collateral, "reserved"), [RESERVED]],
  ["a level with less than its orders", ({ book, order }) => book.fill(order.slot, 1), [LEVELS]],
  ["a live order that is not in the book", ({ book, order }) => book.remove(order.slot), [LEVELS]],
  ["an order in the book at another price", (parts) => restAnew(parts, 49), [LEVELS]],
  ["a liquidity that differs from the book", add(({ market }) => market.liquidity, "micro"), [LEVELS]],
  ["a crossed book", ({ book, order }) => void book.rest(ASK, 50, 1, 5, order.account), [LEVELS, CROSSED]],
  ["an order ahead of an earlier one in its queue", (parts) => restAnew(parts, 50), [ARRIVAL]],
  ["an order whose matched size exceeds its fills", add(firstOrder, "matched"), [RESERVED, LEVELS, FILLS]],
  ["a live filled order", set(firstOrder, "matched", ({ order }) => order.size), [RESERVED, LEVELS, FILLS]],
  [
    "an order that ended, but is live",
    ({ state }) =>
      changeClosed(state, "orders", ORDER_PACKING, { number: 4, matched: size(0), status: "LIVE" }),
    [FILLS],
  ],
  ["a live order missing in the list of its account", set(account, "oldestOpen", () => NO_SLOT), [LISTED]],
  ["an account that lists another account's order", set(account, "oldestOpen", slotOf(2)), [LISTED]],
  ["two orders with exchanged slots", exchangeSlots, [LEVELS]],
  ["a wrong count of open orders", add(account, "openCount"), [LISTED]],
];

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
  it.each(FAULTS)("find %s", (_fault, plant, found) => {
    const parts = openTraded();
    plant(parts);
    const broken = violations(parts.state);
    expect(broken.map(({ name }) => name)).toEqual(found);
    for (const { differences } of broken) expect(differences.length).toBeGreaterThan(0);
  });

  it("hold for an empty and a used exchange", () => {
    expect(violations(new TestExchange().state)).toEqual([]);
    expect(violations(openTraded().state)).toEqual([]);
  });

  it("report the number of comparisons", () => {
    for (const { name, checked } of invariants(openTraded().state)) expect(checked, name).toBeGreaterThan(0);
  });
});
