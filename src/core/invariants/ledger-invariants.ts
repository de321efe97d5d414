import { type Account, availableOf, type Balance } from "../account.ts";
import { USDC } from "../chain/moves.ts";
import { marketOfToken, tokenOf } from "../market.ts";
import { type Order, remainingOf, reservationOf } from "../order.ts";
import { payoutOf } from "../rules/chain/payouts.ts";
import type { State } from "../state.ts";
import { FULL_PRICE, notional } from "../units.ts";
import { type Invariant, Judgement } from "./judgement.ts";
import { Pace, type Steps } from "./pace.ts";

/** All USDC ever issued is in a balance or locked behind shares. */
export function collateralIsConserved(state: State): Invariant {
  const judgement = new Judgement("USDC issued = balances + locked collateral");
  let total = 0;
  for (const account of state.accounts) total += account.collateral.balance;
  for (const { supply } of state.markets) total += supply.collateral;
  judgement.equal(() => "micro-USDC", total, state.issued);
  return judgement.result;
}

/**
 * Every share has its other half and one USDC behind the two, until the market is resolved and shares are redeemed:
 * then what is locked is what the shares still pay.
 */
export function sharesAreBacked(state: State): Invariant {
  const judgement = new Judgement("supply of YES = supply of NO = locked collateral");
  const yes = new Map<number, number>();
  const no = new Map<number, number>();
  for (const account of state.accounts) {
    for (const [market, holding] of account.holdings) {
      yes.set(market, (yes.get(market) ?? 0) + holding.yes.balance);
      no.set(market, (no.get(market) ?? 0) + holding.no.balance);
    }
  }
  for (const { number, supply, winningOutcome } of state.markets) {
    judgement.equal(() => `YES of market ${number}`, yes.get(number) ?? 0, supply.yes);
    judgement.equal(() => `NO of market ${number}`, no.get(number) ?? 0, supply.no);
    if (winningOutcome === null) {
      judgement.equal(() => `NO of market ${number} beside its YES`, supply.no, supply.yes);
      judgement.equal(
        () => `locked in market ${number}`,
        supply.collateral,
        notional(FULL_PRICE, supply.yes),
      );
    } else {
      const payout = payoutOf(winningOutcome);
      const owed = supply.yes * payout.YES + supply.no * payout.NO;
      judgement.equal(() => `locked in market ${number}`, supply.collateral, owed);
    }
  }
  return judgement.result;
}

/** Nobody owes, and nobody reserves more than there is. */
export function noBalanceIsNegative(state: State): Invariant {
  const judgement = new Judgement("no balance is negative or over-reserved");
  const { balances } = state.config;
  for (const account of state.accounts) {
    const check = (outcome: string, market: number, of: Balance<number>): void => {
      judgement.compared(1);
      if (of.reserved >= 0 && availableOf(of, balances) >= 0 && Number.isSafeInteger(of.balance)) return;
      const what = market === 0 ? outcome : `${outcome} of market ${market}`;
      judgement.differs(`account ${account.number} ${what}: balance ${of.balance}, reserved ${of.reserved}`);
    };
    check("USDC", 0, account.collateral);
    for (const [market, holding] of account.holdings) {
      check("YES", market, holding.yes);
      check("NO", market, holding.no);
    }
  }
  return judgement.result;
}

/** What is reserved is what the live orders may cost. */
export function* reservationsFollowOrders(state: State, live: readonly Order[]): Steps<Invariant> {
  const pace = new Pace();
  const judgement = new Judgement("reserved = what live orders may cost");
  const expected = new Map<number, number>();
  const count = state.accounts.next;
  const keyOf = (account: number, token: number): number => token * count + account;
  for (const order of live) {
    if (pace.isStep()) yield;
    const { feeRateBps } = state.markets.get(marketOfToken(order.token));
    const key = keyOf(order.account, order.side === "BUY" ? USDC : order.token);
    expected.set(key, (expected.get(key) ?? 0) + reservationOf(order, remainingOf(order), feeRateBps));
  }
  const check = ({ number }: Account, token: number, reserved: number): void => {
    judgement.compared(1);
    const wanted = expected.get(keyOf(number, token)) ?? 0;
    if (reserved === wanted) return;
    const asset = token === USDC ? "USDC" : `${token}`;
    judgement.differs(`account ${number}/${asset}: ${reserved}, expected ${wanted}`);
  };
  for (const account of state.accounts) {
    check(account, USDC, account.collateral.reserved);
    for (const [market, { yes, no }] of account.holdings) {
      check(account, tokenOf(market, "YES"), yes.reserved);
      check(account, tokenOf(market, "NO"), no.reserved);
    }
  }
  return judgement.result;
}
