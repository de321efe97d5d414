import type { CommandOf } from "../../core/commands.ts";
import { money, type Size, size } from "../../core/units.ts";
import type { Funding, MarketTerms, TokenName } from "../language/parts.ts";

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

/** The command that funds an account. */
export function fundCommand(
  address: string,
  fundings: readonly Funding[],
  tokenId: (name: TokenName) => string,
): CommandOf<"fundAccount"> {
  let collateral = 0;
  const tokens: { tokenId: string; size: Size }[] = [];
  for (const { asset, amount } of fundings) {
    if (asset === "USDC") collateral += amount;
    else tokens.push({ tokenId: tokenId(asset), size: size(amount) });
  }
  return { kind: "fundAccount", address, collateral: money(collateral), tokens, everyMarket: size(0) };
}

/** The body of the request that funds so, in USDC and shares. */
export const fundingBody = ({ collateral, tokens }: CommandOf<"fundAccount">) => ({
  collateral: collateral / 1_000_000,
  tokens: Object.fromEntries(tokens.map(({ tokenId, size }) => [tokenId, size / 100])),
});
