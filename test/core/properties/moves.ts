import fc from "fast-check";
import { availableOf } from "../../../src/core/account.ts";
import type { Command, CommandOf } from "../../../src/core/commands.ts";
import { idOf } from "../../../src/core/ids.ts";
import { type Market, tokenIdIn } from "../../../src/core/market.ts";
import { reservationOf } from "../../../src/core/order.ts";
import { grantDue, sharesIn } from "../../../src/core/rules/ledger.ts";
import { type ExchangeConfig, findAccount, type State } from "../../../src/core/state.ts";
import type { OrderType, Outcome, Side } from "../../../src/core/terms.ts";
import { MAX_SIZE, type Millis, millis, money, price, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import {
  addressOf,
  eventCommand,
  fundCommand,
  type MarketTerms,
  marketCommand,
} from "../../support/commands.ts";
import { AUTO } from "../../support/config.ts";
import { START } from "../../support/exchange.ts";
import { ofKind, type ValueOf } from "../../support/runs.ts";

const NAMES = ["ann", "ben", "cat", "dan"] as const;

/** One market of every kind, some with extreme parameters. */
const MARKETS: readonly MarketTerms[] = [
  { tickSize: 0.1, minOrderSize: 0.01 },
  { tickSize: 0.0001, minOrderSize: 0.01, feeRateBps: 10_000, selfTrade: "cancel-maker" },
  { tickSize: 0.1, minOrderSize: 0.03, feeRateBps: 77, selfTrade: "cancel-both", matching: "independent" },
  { tickSize: 0.1, minOrderSize: 1, feeRateBps: 9999, selfTrade: "cancel-taker" },
  { tickSize: 0.01, minOrderSize: 0.01, feeRateBps: 10_000 },
];

const by = fc.nat({ max: NAMES.length - 1 });
/** Sometimes one that does not exist or was created later. */
const market = fc.oneof(
  { weight: 12, arbitrary: fc.nat({ max: MARKETS.length - 1 }) },
  { weight: 1, arbitrary: fc.constant(MARKETS.length) },
);
const outcome = fc.constantFrom<Outcome[]>("YES", "NO");

const order = {
  by,
  market,
  outcome,
  side: fc.constantFrom<Side[]>("BUY", "SELL"),
  /** From 0 to 1 of the price grid; off the grid when `isOff`. */
  level: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0.375, 0.5, 0.625) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 8 }).map((n) => n / 8) },
  ),
  isOff: fc.integer({ min: 0, max: 30 }).map((n) => n === 0),
  /** In size units, or as much as the account can pay for. */
  size: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 3000 }) },
    { weight: 2, arbitrary: fc.constant("all" as const) },
    { weight: 1, arbitrary: fc.constantFrom(1, 2, 3, MAX_SIZE - 1, MAX_SIZE) },
  ),
  type: fc.constantFrom<OrderType[]>("GTC", "GTC", "GTC", "GTC", "GTD", "GTD", "FOK", "FAK"),
  lifeMs: fc.constantFrom(0, 1, 500, 1000, 1500, 60_000),
};

/** Any action of a client, valid or not, mostly an order. It can be converted to a command in any state. */
export const anyMove = fc.oneof(
  ofKind(120, "order", order),
  ofKind(16, "cancel", { by, back: fc.nat({ max: 12 }) }),
  ofKind(3, "cancelAll", { by }),
  ofKind(3, "derive", { by }),
  ofKind(6, "fund", {
    by,
    amount: fc.constantFrom(0, 1, 7, 1000, 100_000, 2_000_000_000),
    into: fc.constantFrom("usdc", "YES", "NO", "all"),
  }),
  ofKind(1, "open", { like: fc.nat({ max: MARKETS.length - 1 }) }),
  ofKind(1, "end", { market, how: fc.constantFrom("close", "YES", "NO", "SPLIT") }),
  ofKind(10, "wait", { ms: fc.constantFrom(1, 499, 500, 1001, 90_000) }),
);
export type Move = ValueOf<typeof anyMove>;

/** Configuration of the arena, the exchange of property tests. */
export const ARENA: ExchangeConfig = {
  seed: "arena",
  faucet: { collateral: money(30_000_000), everyMarket: size(1000) },
  credentials: "rotate",
  ...AUTO,
};

/** Opens an exchange with a market of every kind and four accounts with little funds. */
export function openArena(exchange = new Exchange(ARENA, START)): Exchange {
  exchange.submit(eventCommand("event"));
  for (const [index, terms] of MARKETS.entries()) exchange.submit(marketCommand(`market-${index}`, terms));
  for (const name of NAMES) exchange.submit({ kind: "deriveCredentials", address: addressOf(name) });
  return exchange;
}

/** Returns the command of a move in a state; null for a wait. */
export function commandOf(state: State, now: Millis, move: Move): Command | null {
  switch (move.kind) {
    case "order":
      return placeOrder(state, now, move);
    case "cancel": {
      const order = Math.max(0, state.orders.size - move.back);
      const orderId = idOf(state.idPrefixes.order, order);
      return { kind: "cancelOrder", address: nameOf(move.by), orderId };
    }
    case "cancelAll":
      return { kind: "cancelAllOrders", address: nameOf(move.by) };
    case "derive":
      return { kind: "deriveCredentials", address: nameOf(move.by) };
    case "fund":
      return fundAccount(state, move);
    case "end":
      return move.how === "close"
        ? { kind: "closeMarket", market: move.market + 1 }
        : { kind: "resolveMarket", market: move.market + 1, winningOutcome: move.how };
    case "open":
      return marketCommand(`market-${state.markets.size}`, MARKETS[move.like]);
    case "wait":
      return null;
  }
}

const nameOf = (by: number): string => addressOf(NAMES[by] as string);

function placeOrder(state: State, now: Millis, move: Move & { kind: "order" }): CommandOf<"placeOrder"> {
  const known = state.markets.find(move.market + 1);
  const tick: number = known?.tickSize ?? 100;
  const step = 1 + Math.round(move.level * (10_000 / tick - 2));
  const limit = price(step * tick + (move.isOff && tick > 1 ? 1 : 0));
  const order = { address: nameOf(move.by), side: move.side, price: limit };
  const most = known === undefined ? 100 : affordable(state, known, move.outcome, order);
  return {
    kind: "placeOrder",
    ...order,
    tokenId: known === undefined ? "0" : tokenIdIn(known, move.outcome),
    size: size(move.size === "all" ? most : move.size),
    orderType: move.type,
    expiration: move.type === "GTD" ? millis(now + move.lifeMs) : null,
  };
}

/** Returns the maximum size of such an order that the account can pay for; 0 if none. */
function affordable(
  state: State,
  { number, feeRateBps }: Market,
  outcome: Outcome,
  order: Pick<CommandOf<"placeOrder">, "address" | "side" | "price">,
): number {
  const account = findAccount(state, order.address);
  if (account === undefined) return 0;
  if (order.side === "SELL") {
    const holding = account.holdings.get(number);
    const due = grantDue(account, number);
    return Math.min(
      MAX_SIZE,
      (holding === undefined ? 0 : availableOf(sharesIn(holding, outcome), state.config.balances)) + due,
    );
  }
  const budget = availableOf(account.collateral, state.config.balances);
  const costs = (shares: number): number => reservationOf(order, size(shares), feeRateBps);
  const worst = order.price * 10_000 + Math.min(order.price, 10_000 - order.price) * feeRateBps;
  let most = Math.min(MAX_SIZE, Math.floor((budget * 10_000) / worst));
  while (most > 0 && costs(most) > budget) most -= 1;
  while (most < MAX_SIZE && costs(most + 1) <= budget) most += 1;
  return most;
}

function fundAccount(state: State, { by, amount, into }: Move & { kind: "fund" }): Command {
  const first = state.markets.get(1);
  if (into === "usdc") return fundCommand(nameOf(by), { collateral: money(amount) });
  if (into === "all") return fundCommand(nameOf(by), { everyMarket: size(amount) });
  return fundCommand(nameOf(by), { tokens: [{ tokenId: tokenIdIn(first, into), size: size(amount) }] });
}
