import { faultTerms, type SettlementFaultWords } from "../../src/api/chain.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import { type ContractCall, callGas } from "../../src/core/chain/transaction.ts";
import type { Command, CommandOf } from "../../src/core/commands.ts";
import { PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../src/core/format.ts";
import type { OrderType, Outcome, SettlementMode, Side } from "../../src/core/terms.ts";
import { parseDuration } from "../../src/core/time.ts";
import { type Millis, millis, money, price, size } from "../../src/core/units.ts";

const GWEI = 1_000_000_000;

/** Terms of a market, in decimals. The defaults are those of the control plane. */
export interface MarketTerms
  extends Partial<Pick<CommandOf<"createMarket">, "matching" | "selfTrade" | "feeRateBps">> {
  readonly tickSize?: number;
  readonly minOrderSize?: number;
}

const ORDER =
  /^(?<by>\w+) (?<side>BUY|SELL) (?<shares>[\d.]+) (?<outcome>YES|NO) @ (?<limit>[\d.]+)(?: (?<type>GTC|GTD|FOK|FAK)(?: (?<lifetime>\w+))?)?$/;

/** Returns the wallet address of a named account. */
export function addressOf(name: string): string {
  const hex = [...name].map((letter) => letter.charCodeAt(0).toString(16));
  return `0x${hex.join("").padStart(40, "0")}`;
}

/** Converts a decimal to units of 10^-places. @throws Error if it has more decimals. */
export function unitsIn(decimal: number | string, places: number): number {
  const units = unitsOf(decimal, places);
  if (units === null) throw new Error(`${decimal} has more than ${places} decimals`);
  return units;
}

/** Parses an order: `alice BUY 10 YES @ 0.5 GTD 60s`. Type and lifetime are optional. */
export function orderCommand(
  sentence: string,
  now: Millis,
  tokenId: (outcome: Outcome) => string,
): CommandOf<"placeOrder"> {
  const words = ORDER.exec(sentence)?.groups as Record<string, string | undefined> | undefined;
  if (words === undefined) throw new Error(`not an order: ${sentence}`);
  const { by = "", side, shares = "", outcome, limit = "", type = "GTC", lifetime } = words;
  const duration = lifetime === undefined ? null : parseDuration(lifetime);
  return {
    kind: "placeOrder",
    address: addressOf(by),
    tokenId: tokenId(outcome as Outcome),
    side: side as Side,
    price: price(unitsIn(limit, PRICE_PLACES)),
    size: size(unitsIn(shares, SIZE_PLACES)),
    orderType: type as OrderType,
    expiration: duration === null ? null : millis(now + duration),
  };
}

/** Returns a command that creates an event with a slug. */
export const eventCommand = (slug: string): Command => ({
  kind: "createEvent",
  title: slug,
  slug,
  description: "",
  category: "",
  tags: [],
  endDate: null,
});

/** Returns a command that creates a market of an event. */
export const marketCommand = (
  slug: string,
  terms: MarketTerms = {},
  event = 1,
): CommandOf<"createMarket"> => ({
  kind: "createMarket",
  event,
  question: slug,
  slug,
  description: "",
  category: "",
  tags: [],
  tickSize: price(unitsIn(terms.tickSize ?? 0.01, PRICE_PLACES)),
  minOrderSize: size(unitsIn(terms.minOrderSize ?? 1, SIZE_PLACES)),
  feeRateBps: terms.feeRateBps ?? 0,
  matching: terms.matching ?? "complementary",
  selfTrade: terms.selfTrade ?? "allow",
  endDate: null,
});

/** Returns a wallet's call, by default of the outcome tokens at 2 gwei. */
export const callCommand = (
  from: string,
  call: ContractCall,
  terms: Partial<CommandOf<"sendTransaction">> = {},
): CommandOf<"sendTransaction"> => ({
  ...{ kind: "sendTransaction", from, to: CONTRACTS.conditionalTokens, nonce: null, value: "0" },
  ...{ gas: callGas(call, terms.input ?? "0x"), maxFeePerGas: 2 * GWEI, maxPriorityFeePerGas: 0 },
  ...{ input: "0x", call, raw: null, hash: null, ...terms },
});

/** Returns a command that funds an account with nothing but what is given. */
export const fundCommand = (
  address: string,
  funds: Partial<CommandOf<"fundAccount">>,
): CommandOf<"fundAccount"> => ({
  ...{ kind: "fundAccount", address, collateral: money(0), tokens: [] },
  ...{ everyMarket: size(0), ...funds },
});

type Parameters = Readonly<Record<string, unknown>>;
type Reader = (first: string, parameters: Parameters, market: number) => Command;

/** How each verb of `commandIn` is read: its first word, its parameters and the market. */
const VERBS: Readonly<Record<string, Reader>> = {
  market: (slug, terms) => marketCommand(slug, terms),
  mine: (count) => ({ kind: "mineBlocks", count: Number(count) }),
  reorg: (depth) => ({ kind: "reorganizeChain", depth: Number(depth) }),
  bump: () => ({ kind: "bumpFees" }),
  ether: (name, { wei }) => ({ kind: "setNativeBalance", address: addressOf(name), wei: String(wei) }),
  nonce: (name, { to }) => ({ kind: "setNonce", address: addressOf(name), nonce: Number(to) }),
  fault: (kind, { order, ...terms }) => ({
    kind: "setSettlementFault",
    ...faultTerms({ kind, ...terms } as SettlementFaultWords),
    ...(order !== undefined && { order: Number(order) }),
  }),
  end: (number) => ({ kind: "endSettlementFault", number: number === "all" ? null : Number(number) }),
  mining: (mode, { intervalMs = 2_000 }) => ({
    kind: "setMining",
    mode: mode as SettlementMode,
    intervalMs: Number(intervalMs),
  }),
  "base-fee": (gwei) => ({ kind: "setNextBaseFee", baseFee: Number(gwei) * GWEI }),
  close: (_, _parameters, market) => ({ kind: "closeMarket", market }),
  resolve: (outcome, _parameters, market) => ({
    kind: "resolveMarket",
    market,
    winningOutcome: outcome as Outcome | "SPLIT",
  }),
};

/** Returns the parameters in words: `times=2 reason="the relayer"`. */
export const parametersIn = (words: string): Parameters =>
  Object.fromEntries(
    [...words.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, name, value = ""]) => [name, JSON.parse(value)]),
  );

/** Parses a command such as `mine 2`, `fault retry times=2` or `resolve YES`; null if it begins with another verb. */
export function commandIn(words: string, market: number): Command | null {
  const [verb = "", first = "1"] = words.split(" ");
  return VERBS[verb]?.(first, parametersIn(words), market) ?? null;
}
