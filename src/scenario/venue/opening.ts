import type { CommandOf } from "../../core/commands.ts";
import { money, SHARE_UNITS, type Size, size, USDC_UNITS } from "../../core/units.ts";
import type { Funding, MarketTerms, TokenName } from "../language/parts.ts";

/** The event of the markets that a scenario declares. */
export const SCENARIO_EVENT: CommandOf<"createEvent"> = {
  kind: "createEvent",
  title: "Scenario",
  slug: "scenario",
  description: "",
  category: "scenario",
  tags: [],
  endDate: null,
};

/** Returns the command that creates a market of a scenario; `event` is the number of its event. */
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

/** Returns the command that funds an account. */
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

/** Returns the request body for the same, in USDC and shares. */
export const fundingBody = ({ collateral, tokens }: CommandOf<"fundAccount">) => ({
  collateral: collateral / USDC_UNITS,
  tokens: Object.fromEntries(tokens.map(({ tokenId, size }) => [tokenId, size / SHARE_UNITS])),
});
