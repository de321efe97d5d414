import type { Command } from "../../core/commands.ts";
import type { DomainEvent, GrantMinted } from "../../core/events.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import { type Order, remainingOf, reservationOf } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { FULL_PRICE, notional, size } from "../../core/units.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { TouchedMarket } from "./touched-markets.ts";

/** What an account starts with. */
export class Funds {
  /** Micro-USDC. */
  collateral = 0;
  /** Size units by token. */
  readonly shares = new Map<number, number>();

  addShares(token: number, amount: number): void {
    if (amount > 0) this.shares.set(token, (this.shares.get(token) ?? 0) + amount);
  }

  /** The USDC that giving this issues: shares of one outcome are minted as full sets. */
  get issued(): number {
    let issued = this.collateral;
    for (const amount of this.shares.values()) issued += notional(FULL_PRICE, size(amount));
    return issued;
  }
}

/**
 * What everybody in a scenario starts with, by account: those who act what they had when the session began and what
 * the faucet gave them in it, then those who only rest what their orders reserve.
 */
export function startingFunds(
  session: ObservedSession,
  markets: readonly TouchedMarket[],
  actors: readonly number[],
  resting: readonly Order[],
): Map<number, Funds> {
  const funds = new Map<number, Funds>();
  for (const account of actors) funds.set(account, heldBefore(session.opening, account, markets));
  addFaucet(session, funds);
  const isActor = new Set(actors);
  for (const order of [...resting].sort((a, b) => a.account - b.account)) {
    if (isActor.has(order.account)) continue;
    const own = funds.get(order.account) ?? new Funds();
    funds.set(order.account, own);
    const { feeRateBps } = session.opening.markets.get(marketOfToken(order.token));
    const reserved = reservationOf(order, remainingOf(order), feeRateBps);
    if (order.side === "BUY") own.collateral += reserved;
    else own.addShares(order.token, reserved);
  }
  return funds;
}

function heldBefore(state: State, number: number, markets: readonly TouchedMarket[]): Funds {
  const funds = new Funds();
  const account = state.accounts.find(number);
  if (account === undefined) return funds;
  funds.collateral = account.collateral.balance;
  for (const { number: market } of markets) {
    const holding = account.holdings.get(market);
    funds.addShares(tokenOf(market, "YES"), holding?.yes.balance ?? 0);
    funds.addShares(tokenOf(market, "NO"), holding?.no.balance ?? 0);
  }
  return funds;
}

/** The grants that a funding mints because it raises them: they are given by steps, not at the start. */
export const raisedIn = (command: Command, events: readonly DomainEvent[]): GrantMinted[] =>
  command.kind === "fundAccount" && command.everyMarket > 0
    ? events.filter((event) => event.kind === "grantMinted")
    : [];

/** Adds what first derivations of keys issued, and the shares that were granted and minted on first touch. */
function addFaucet({ acts }: ObservedSession, funds: ReadonlyMap<number, Funds>): void {
  for (const { command, events } of acts) {
    for (const event of events) {
      if (event.kind === "collateralIssued" && command.kind === "deriveCredentials") {
        const own = funds.get(event.account);
        if (own !== undefined) own.collateral += event.amount;
      } else if (event.kind === "grantMinted" && raisedIn(command, events).length === 0) {
        const own = funds.get(event.account);
        own?.addShares(tokenOf(event.market, "YES"), event.size);
        own?.addShares(tokenOf(event.market, "NO"), event.size);
      }
    }
  }
}
