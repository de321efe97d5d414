import {
  type Account,
  availableOf,
  type Balance,
  type BalancePolicy,
  emptyBalance,
  type Holding,
} from "../account.ts";
import type { Address, Outcome } from "../commands.ts";
import type { CollateralIssued, DomainEvent, GrantMinted } from "../events.ts";
import { type Market, tokenIdIn } from "../market.ts";
import type { Shortfall } from "../refusals.ts";
import type { State } from "../state.ts";
import { FULL_PRICE, MAX_ISSUANCE, type Money, money, notional, type Size, size } from "../units.ts";

/** Adds the event that opens an account for an address without one, and answers the number it will have. */
export function opening(state: State, address: Address, events: DomainEvent[]): number {
  const account = state.accounts.next;
  events.push({ kind: "accountOpened", account, address });
  return account;
}

/** The event that issues USDC to an account, the first of its command that the chain hears of. */
export const issuing = (state: State, account: number, amount: Money): CollateralIssued => ({
  kind: "collateralIssued",
  account,
  amount,
  transaction: state.chain.transactions.next,
});

/** What the account holds in a market, made on first use; only `apply` may call it. */
export function holdingIn(account: Account, market: number): Holding {
  let holding = account.holdings.get(market);
  if (holding === undefined) {
    holding = {
      yes: emptyBalance(),
      no: emptyBalance(),
      granted: size(0),
      yesFills: null,
      noFills: null,
    };
    account.holdings.set(market, holding);
  }
  return holding;
}

/** The shares of one outcome. */
export const sharesIn = (holding: Holding, outcome: Outcome): Balance<Size> =>
  outcome === "YES" ? holding.yes : holding.no;

/** How much of its grant the account has not yet been minted in this market. */
export const grantDue = (account: Account, market: number): Size =>
  size(account.everyMarket - (account.holdings.get(market)?.granted ?? 0));

/**
 * The events that mint an account's grant in markets: in those that it touches, and in those that it has touched before
 * when its grant is raised too. Ordered by market; `transaction` is the number that the first mint will have.
 */
export function mintingGrants(
  account: { readonly number: number; readonly known: Account | undefined },
  touched: Iterable<number>,
  raise: Size,
  transaction: number,
): GrantMinted[] {
  const { number, known } = account;
  const before = raise > 0 && known !== undefined ? known.holdings.keys() : [];
  const markets = [...new Set([...touched, ...before])].sort((a, b) => a - b);
  const minted = markets.map((market) => ({
    market,
    size: size((known === undefined ? 0 : grantDue(known, market)) + raise),
  }));
  return minted
    .filter((grant) => grant.size > 0)
    .map((grant, index) => ({
      kind: "grantMinted",
      account: number,
      ...grant,
      transaction: transaction + index,
    }));
}

/** The USDC that is issued to back minted grants. */
export const backingOf = (minted: readonly GrantMinted[]): number =>
  minted.reduce((sum, grant) => sum + notional(FULL_PRICE, grant.size), 0);

/** How much USDC the exchange may still issue. */
export const issuanceLeft = (state: State): Money => money(MAX_ISSUANCE - state.issued);

const NOTHING: Balance<never> = emptyBalance();

/** What the account lacks for an order that must reserve `required`, or null when it can pay. */
export function shortfallOf(
  account: Account | undefined,
  market: Market,
  order: { readonly side: "BUY" | "SELL"; readonly outcome: Outcome },
  required: number,
  policy: BalancePolicy,
): Shortfall | null {
  if (order.side === "BUY") {
    const collateral: Balance<Money> = account?.collateral ?? NOTHING;
    const available = availableOf(collateral, policy);
    if (required <= available) return null;
    const { balance, reserved, incoming } = collateral;
    return { asset: "USDC", required: money(required), available, balance, reserved, incoming };
  }
  const holding = account?.holdings.get(market.number);
  const shares = holding === undefined ? NOTHING : sharesIn(holding, order.outcome);
  const due = account === undefined ? size(0) : grantDue(account, market.number);
  const available = size(availableOf<Size>(shares, policy) + due);
  return required <= available
    ? null
    : {
        asset: tokenIdIn(market, order.outcome),
        required: size(required),
        available,
        balance: size(shares.balance + due),
        reserved: shares.reserved,
        incoming: shares.incoming,
      };
}

/** Adds to a balance; a negative amount takes away. @throws Error when it would fall below what is reserved. */
export function credit<Unit extends Money | Size>(balance: Balance<Unit>, amount: number): void {
  balance.balance = (balance.balance + amount) as Unit;
  if (balance.balance < balance.reserved)
    throw new Error(`balance ${balance.balance} below reserved ${balance.reserved}`);
}

/** Reserves part of a balance; a negative amount releases. @throws Error when there is not that much. */
export function reserve<Unit extends Money | Size>(balance: Balance<Unit>, amount: number): void {
  balance.reserved = (balance.reserved + amount) as Unit;
  if (balance.reserved < 0 || balance.reserved > balance.balance) {
    throw new Error(`reserved ${balance.reserved} of a balance of ${balance.balance}`);
  }
}
