import type { CommandOf } from "../../core/commands.ts";
import { tokenIdIn } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { type Money, money, type Size, size } from "../../core/units.ts";
import type { Funding, MarketTerms, TokenName } from "../language/scenario.ts";

/** The event that holds a scenario's own markets. */
export const SCENARIO_EVENT: CommandOf<"createEvent"> = {
  kind: "createEvent",
  title: "Scenario",
  slug: "scenario",
  description: "",
  category: "scenario",
  tags: [],
  endDate: null,
};

/** The command that opens a market of a scenario's own, in the event of that number. */
export const marketCommand = ({ name, ...terms }: MarketTerms, event: number): CommandOf<"createMarket"> => ({
  kind: "createMarket",
  event,
  question: name,
  slug: name,
  description: "",
  category: "scenario",
  tags: [],
  endDate: null,
  ...terms,
});

/** What several fundings of one account come to: USDC, and shares by token. */
export function totalOf<Token>(
  fundings: readonly Funding[],
  token: (name: TokenName) => Token,
): { readonly collateral: Money; readonly shares: readonly (readonly [Token, Size])[] } {
  let collateral = 0;
  const shares: (readonly [Token, Size])[] = [];
  for (const funding of fundings) {
    if (funding.asset === "USDC") collateral += funding.amount;
    else shares.push([token(funding.asset), funding.amount]);
  }
  return { collateral: money(collateral), shares };
}

/** The command that funds an account. */
export function fundCommand(
  address: string,
  fundings: readonly Funding[],
  tokenId: (name: TokenName) => string,
): CommandOf<"fundAccount"> {
  const { collateral, shares } = totalOf(fundings, tokenId);
  const tokens = shares.map(([id, amount]) => ({ tokenId: id, size: amount }));
  return { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) };
}

/** The id of a token by the names of a scenario; undefined when there is no such market. */
export function tokenIdOfName(state: State, { market, outcome }: TokenName): string | undefined {
  const number =
    market === null ? (state.markets.size === 1 ? 1 : undefined) : state.marketBySlug.get(market);
  return number === undefined ? undefined : tokenIdIn(state.markets.get(number), outcome);
}
