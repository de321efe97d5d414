import { type Account, availableOf, type Balance, onChainOf } from "../../core/account.ts";
import { tokenIdIn } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import { checksummed } from "../address.ts";
import { marketIdOf, type View } from "./view.ts";

/**
 * What an address has (contract, section 7): USDC, shares of the markets it has touched, and how many it is granted of
 * each token of all others. `onChain` is what its wallet holds on the settlement chain.
 */
export function accountReply(view: View, account: Account): object {
  const { state, numbers } = view;
  const { collateral } = account;
  const holdings = [...account.holdings].sort(([a], [b]) => a - b);
  return {
    address: checksummed(account.address),
    collateral: {
      balance: numbers.money(collateral.balance),
      available: numbers.money(availableOf(collateral, state.config.balances)),
      reserved: numbers.money(collateral.reserved),
      onChain: numbers.money(onChainOf(collateral)),
    },
    sharesOfEveryOtherToken: numbers.size(account.everyMarket),
    tokens: holdings.flatMap(([number, { yes, no }]) => {
      const market = state.markets.get(number);
      const shares = (outcome: Outcome, of: Balance<Size>): object => ({
        tokenId: tokenIdIn(market, outcome),
        marketId: marketIdOf(view, market),
        outcome,
        balance: numbers.size(of.balance),
        available: numbers.size(availableOf(of, state.config.balances)),
        reserved: numbers.size(of.reserved),
        onChain: numbers.size(onChainOf(of)),
      });
      return [shares("YES", yes), shares("NO", no)];
    }),
  };
}
