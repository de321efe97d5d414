import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf } from "../core/format.ts";
import type { State } from "../core/state.ts";
import type { HistoryNames } from "../history/shrink/history-expectation.ts";
import type { RestingOrder } from "./reference/naive-book.ts";
import type { ReferenceExchange, ReferenceMarket } from "./reference/reference-exchange.ts";
import { type Amount, nothing, type Wallet } from "./reference/wallet.ts";

/** What a reference says where an exchange says something else, as expectations of the scenario language, plainest first. */
export function* expectationsOf(
  state: State,
  reference: ReferenceExchange,
  names: HistoryNames,
): Generator<string> {
  yield* ordersOf(state, reference);
  yield* balancesOf(state, reference, names);
  for (const market of reference.markets) {
    const name = names.marketNames.get(market.number);
    if (name !== undefined) yield bookText(market, names.markets.length > 1 ? `${name} ` : "");
  }
}

function* ordersOf({ orders }: State, reference: ReferenceExchange): Generator<string> {
  for (const { number, status, filled, size } of reference.orders) {
    const order = orders.find(number);
    if (order === undefined || (order.status === status && order.matched === filled)) continue;
    yield `orders: { o${number}: ${status} ${textOf(filled, SIZE_PLACES)}/${textOf(size, SIZE_PLACES)} }`;
  }
}

function* balancesOf(state: State, reference: ReferenceExchange, names: HistoryNames): Generator<string> {
  for (const account of state.accounts) {
    const name = names.accountOf(account.address);
    const wallet = reference.wallets.find(({ address }) => address === account.address);
    if (name === null || wallet === undefined) continue;
    const parts: string[] = [];
    if (!isSame(account.collateral, wallet.usdc))
      parts.push(`USDC: ${amountText(wallet.usdc, MONEY_PLACES)}`);
    for (const market of reference.markets) {
      const marketName = names.marketNames.get(market.number);
      const holding = account.holdings.get(market.number);
      for (const outcome of ["YES", "NO"] as const) {
        const found = holding?.[outcome === "YES" ? "yes" : "no"] ?? nothing();
        const wanted = sharesOf(wallet, market.number, outcome);
        if (marketName === undefined || isSame(found, wanted)) continue;
        const token = names.markets.length > 1 ? `${marketName} ${outcome}` : outcome;
        parts.push(`${token}: ${amountText(wanted, SIZE_PLACES)}`);
      }
    }
    if (parts.length > 0) yield `balances: { ${name}: { ${parts.join(", ")} } }`;
  }
}

const sharesOf = (wallet: Wallet, market: number, outcome: "YES" | "NO"): Amount =>
  wallet.shares.get(market)?.[outcome] ?? nothing();

const isSame = (a: Pick<Amount, "balance" | "reserved">, b: Amount): boolean =>
  a.balance === b.balance && a.reserved === b.reserved;

const amountText = ({ balance, reserved }: Amount, places: number): string =>
  `{ balance: ${textOf(balance, places)}, reserved: ${textOf(reserved, places)} }`;

function bookText({ books, tick, isOneBook }: ReferenceMarket, prefix: string): string {
  const outcomes = isOneBook ? (["YES"] as const) : (["YES", "NO"] as const);
  const shown = outcomes.map((outcome) => {
    const { bids, asks } = books[outcome];
    return `${prefix}${outcome}: { bids: [${levels(bids, tick)}], asks: [${levels(asks, tick)}] }`;
  });
  return `book: { ${shown.join(", ")} }`;
}

function levels(queue: readonly RestingOrder[], tick: number): string {
  const totals = new Map<number, number>();
  for (const order of queue) totals.set(order.tick, (totals.get(order.tick) ?? 0) + order.open);
  return [...totals]
    .map(([level, open]) => `${textOf(level * tick, PRICE_PLACES)} x ${textOf(open, SIZE_PLACES)}`)
    .join(", ");
}
