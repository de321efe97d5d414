import { TOKEN_UNITS } from "../../core/chain/contracts.ts";
import type { Address } from "../../core/commands.ts";
import { type Market, marketOfToken, outcomeOf, tokenIdIn } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { addressWord, decimalWord, numberWord } from "../hex.ts";
import { tokenEvents } from "./events.ts";
import type { Log } from "./log.ts";

/** The id of a token as 64 hex digits. */
export const tokenWord = ({ markets }: State, token: number): string =>
  decimalWord(tokenIdIn(markets.get(marketOfToken(token)), outcomeOf(token)));

/** The ids of both tokens of a market. */
export const pairOf = ({ tokenIds }: Market): readonly [yes: string, no: string] => [
  decimalWord(tokenIds[0]),
  decimalWord(tokenIds[1]),
];

/** Shares in the units of the tokens' contract. */
export const unitsOf = (size: number): number => size * TOKEN_UNITS;

/** Shares of one token change hands. */
export const sharesMoved = (
  operator: Address,
  from: Address,
  to: Address,
  token: string,
  size: number,
): Log =>
  tokenEvents.TransferSingle(
    addressWord(operator),
    addressWord(from),
    addressWord(to),
    token,
    numberWord(unitsOf(size)),
  );

/** Shares of several tokens change hands, amounts in the contract's units. */
export const batchMoved = (
  operator: Address,
  from: Address,
  to: Address,
  tokens: readonly string[],
  amounts: readonly string[],
): Log =>
  tokenEvents.TransferBatch(addressWord(operator), addressWord(from), addressWord(to), tokens, amounts);
