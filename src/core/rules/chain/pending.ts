import type { Account, Balance } from "../../account.ts";
import { type Chain, isOrderly } from "../../chain/chain.ts";
import { marketOfToken, outcomeOf } from "../../market.ts";
import type { Order, Trade } from "../../order.ts";
import { FEES, type State } from "../../state.ts";
import { type Money, notional, type Price, type Size } from "../../units.ts";
import { sharesIn } from "../ledger.ts";

/** Whether something comes to what is pending, or leaves it. */
export type Sign = 1 | -1;

/** Whether fills are never on their way: the block that settles them is mined with the command that makes them. */
export const settlesAtOnce = ({ config, chain }: State): boolean =>
  config.settlement === "instant" && isOrderly(chain);

/** Notes whose balances a fill is about to put something on its way to or from, where nothing was. */
export function touch(
  { touched }: Chain,
  { number, collateral }: Account,
  market: number,
  shares: Balance<Size>,
): void {
  if (collateral.incoming === 0 && collateral.outgoing === 0) touched.push(number, 0);
  if (shares.incoming === 0 && shares.outgoing === 0) touched.push(number, market);
}

/** Nothing is on its way any more: the chain has all that the ledger has. */
export function settleTouched({ accounts, markets, chain }: State): void {
  const { touched } = chain;
  for (let index = 0; index < touched.length; index += 2) {
    const { collateral, holdings } = accounts.get(touched[index] as number);
    const market = touched[index + 1] as number;
    if (market === 0) {
      settleBalance(collateral);
      continue;
    }
    const holding = holdings.get(market);
    if (holding === undefined) throw new Error(`market ${market} was touched without a holding`);
    settleBalance(holding.yes);
    settleBalance(holding.no);
    const { supply, onChain } = markets.get(market);
    onChain.yes = supply.yes;
    onChain.no = supply.no;
    onChain.collateral = supply.collateral;
  }
}

function settleBalance<Unit extends number>(balance: Balance<Unit>): void {
  balance.incoming = 0 as Unit;
  balance.outgoing = 0 as Unit;
}

/** Notes that a fill of one party is on its way to the chain, or has come there. A seller's fee is kept back from what comes. */
export function noteParty(
  collateral: Balance<Money>,
  shares: Balance<Size>,
  isBuyer: boolean,
  value: number,
  size: number,
  fee: number,
  sign: Sign,
): void {
  if (isBuyer) {
    collateral.outgoing = (collateral.outgoing + sign * (value + fee)) as Money;
    shares.incoming = (shares.incoming + sign * size) as Size;
  } else {
    collateral.incoming = (collateral.incoming + sign * (value - fee)) as Money;
    shares.outgoing = (shares.outgoing + sign * size) as Size;
  }
}

/** The same for all parties of a trade. */
export function notePending(state: State, trade: Trade, taker: Order, maker: Order, sign: Sign): void {
  noteOrder(state, taker, trade.price, trade.size, trade.fee, sign);
  noteOrder(state, maker, maker.price, trade.size, 0, sign);
  if (trade.fee > 0) noteFee(state, trade.fee, sign);
}

/** The same for what the exchange collects. */
export function noteFee(state: State, fee: Money, sign: Sign): void {
  const { collateral } = state.accounts.get(FEES);
  if (collateral.incoming === 0) state.chain.touched.push(FEES, 0);
  collateral.incoming = (collateral.incoming + sign * fee) as Money;
}

function noteOrder(state: State, order: Order, price: Price, size: Size, fee: number, sign: Sign): void {
  const { collateral, holdings } = state.accounts.get(order.account);
  const holding = holdings.get(marketOfToken(order.token));
  if (holding === undefined) throw new Error(`order ${order.number} traded without a holding`);
  const shares = sharesIn(holding, outcomeOf(order.token));
  noteParty(collateral, shares, order.side === "BUY", notional(price, size), size, fee, sign);
}
