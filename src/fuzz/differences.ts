import type { Balance } from "../core/account.ts";
import { ASK, BID } from "../core/book/book.ts";
import type { EventOf } from "../core/events.ts";
import type { Market } from "../core/market.ts";
import { remainingOf } from "../core/order.ts";
import type { Refusal } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import type { RestingOrder } from "./reference/naive-book.ts";
import type {
  ReferenceExchange,
  ReferenceMarket,
  ReferenceTrade,
  Reply,
} from "./reference/reference-exchange.ts";
import { type Amount, nothing } from "./reference/wallet.ts";

/** Where the exchange and its reference do not agree: what it is about, and the figures. */
export interface Difference {
  readonly about: string;
  readonly text: string;
}

const differ = (about: string, text: string, found: unknown, expected: unknown): Difference => ({
  about,
  text: `${text}: ${String(found)}, expected ${String(expected)}`,
});

/** How an answer differs from the one expected, or null. */
export function replyDifference(
  found: { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal },
  expected: Reply,
): Difference | null {
  const code = found.ok ? "accepted" : found.refusal.code;
  const wanted = expected.ok ? "accepted" : expected.code;
  if (code !== wanted) return differ(`answer ${code} instead of ${wanted}`, "answer", code, wanted);
  if (found.ok || expected.ok || found.refusal.code !== "INSUFFICIENT_BALANCE") return null;
  const { required, available } = found.refusal;
  if (required !== expected.required)
    return differ("funds required", "required", required, expected.required);
  return available === expected.available
    ? null
    : differ("funds available", "available", available, expected.available);
}

const tradeText = ({ taker, maker, price, size, fee }: Omit<ReferenceTrade, "kind">, kind: string): string =>
  `${kind} ${size} at ${price}, order ${taker} from ${maker}, fee ${fee}`;

/** How the fills of one order differ from those expected, or null. */
export function tradesDifference(
  found: readonly EventOf<"orderTraded">[],
  expected: readonly ReferenceTrade[],
): Difference | null {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const [trade, wanted] = [found[index], expected[index]];
    const text = trade === undefined ? "no fill" : tradeText(trade, trade.matchType);
    const wantedText = wanted === undefined ? "no fill" : tradeText(wanted, wanted.kind);
    if (text !== wantedText) return differ(fillAspect(trade, wanted), `fill ${index + 1}`, text, wantedText);
  }
  return null;
}

function fillAspect(trade: EventOf<"orderTraded"> | undefined, wanted: ReferenceTrade | undefined): string {
  if (trade === undefined) return "fills missing";
  if (wanted === undefined) return "fills too many";
  for (const aspect of ["maker", "price", "size", "fee"] as const) {
    if (trade[aspect] !== wanted[aspect]) return `${aspect} of a fill`;
  }
  return "kind of a fill";
}

/** The first difference between all that both know, or null. */
export function stateDifference(state: State, reference: ReferenceExchange): Difference | null {
  return (
    ordersDifference(state, reference) ??
    marketsDifference(state, reference) ??
    walletsDifference(state, reference)
  );
}

function ordersDifference({ orders }: State, reference: ReferenceExchange): Difference | null {
  if (orders.size !== reference.orders.length)
    return differ("number of orders", "orders", orders.size, reference.orders.length);
  for (let number = 1; number <= orders.size; number += 1) {
    const order = orders.get(number);
    const wanted = reference.order(number);
    if (order.status !== wanted.status)
      return differ(
        `order ${order.status} instead of ${wanted.status}`,
        `order ${number}`,
        order.status,
        wanted.status,
      );
    if (order.matched !== wanted.filled)
      return differ("filled size of an order", `order ${number} filled`, order.matched, wanted.filled);
  }
  return null;
}

function marketsDifference(state: State, reference: ReferenceExchange): Difference | null {
  if (state.markets.size !== reference.markets.length)
    return differ("number of markets", "markets", state.markets.size, reference.markets.length);
  for (const market of state.markets) {
    const wanted = reference.market(market.number);
    if (market.status !== wanted.status)
      return differ("status of a market", `market ${market.number}`, market.status, wanted.status);
    const difference = booksDifference(state, market, wanted);
    if (difference !== null) return difference;
  }
  return null;
}

function booksDifference(state: State, market: Market, wanted: ReferenceMarket): Difference | null {
  const { YES, NO } = wanted.books;
  for (const [index, { book }] of market.books.entries()) {
    const naive = index === 0 ? YES : NO;
    for (const side of [BID, ASK] as const) {
      const queue = side === BID ? naive.bids : naive.asks;
      let place = 0;
      let difference: Difference | null = null;
      book?.queue(side, (slot) => {
        const order = state.orders.get(state.pool.orderIn(slot));
        difference ??= placeDifference(market, place, order.number, remainingOf(order), queue[place]);
        place += 1;
      });
      if (difference !== null) return difference;
      if (place !== queue.length)
        return differ("orders missing in a book", `market ${market.number} resting`, place, queue.length);
    }
  }
  return null;
}

function placeDifference(
  { number }: Market,
  place: number,
  order: number,
  open: number,
  wanted: RestingOrder | undefined,
): Difference | null {
  if (wanted?.id !== order)
    return differ(
      "queue of a book",
      `market ${number}, place ${place + 1}, order`,
      order,
      wanted?.id ?? "none",
    );
  return wanted.open === open
    ? null
    : differ("open size in a book", `market ${number}, order ${order} open`, open, wanted.open);
}

function walletsDifference(state: State, reference: ReferenceExchange): Difference | null {
  for (const account of state.accounts) {
    const wallet = reference.wallets[account.number - 1];
    if (wallet?.address !== account.address)
      return differ("accounts", `account ${account.number}`, account.address, wallet?.address ?? "none");
    const usdc = amountDifference("USDC", account.number, account.collateral, wallet.usdc);
    if (usdc !== null) return usdc;
    for (let market = 1; market <= state.markets.size; market += 1) {
      const holding = account.holdings.get(market);
      const shares = wallet.shares.get(market);
      if (holding === undefined && shares === undefined) continue;
      const { YES: yes, NO: no } = shares ?? { YES: NOTHING, NO: NOTHING };
      const difference =
        amountDifference("YES", account.number, holding?.yes ?? NOTHING, yes) ??
        amountDifference("NO", account.number, holding?.no ?? NOTHING, no);
      if (difference !== null) return difference;
    }
  }
  return state.accounts.size === reference.wallets.length
    ? null
    : differ("accounts", "accounts", state.accounts.size, reference.wallets.length);
}

const NOTHING: Amount = nothing();

function amountDifference(
  asset: string,
  account: number,
  found: Balance<number> | Amount,
  wanted: Amount,
): Difference | null {
  for (const part of ["balance", "reserved", "incoming", "outgoing"] as const) {
    if (found[part] !== wanted[part])
      return differ(
        `${part} of ${asset === "USDC" ? asset : "shares"}`,
        `account ${account}, ${part} of ${asset}`,
        found[part],
        wanted[part],
      );
  }
  return null;
}
