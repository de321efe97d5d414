import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import type { Account } from "../core/account.ts";
import {
  decimalText,
  MONEY_PLACES,
  POWERS,
  PRICE_PLACES,
  plainNumber,
  quoted,
  SIZE_PLACES,
  sumText,
} from "../core/format.ts";
import { numberOf } from "../core/ids.ts";
import { type EventRecord, type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import { refusalText } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import type { Millis, Money, Price, Size, Sum } from "../core/units.ts";
import { ApiError } from "./errors.ts";

/** A decimal of the API: a JSON number. With `--numbers string` it is a text, which this type does not show. */
export type Decimal = number;

export interface Numbers {
  readonly mode: "number" | "string";
  /** Converts units of 10^-places. The quotient of the integers is the double whose shortest text is that decimal. */
  decimal(units: number, places: number): Decimal;
  price(price: Price): Decimal;
  size(size: Size): Decimal;
  money(money: Money): Decimal;
  /** Converts a total to the nearest double or to its exact text. */
  total(sum: Sum): Decimal;
  /** Converts a number of a request. Where JSON would write an exponent, it is its text in both modes. */
  sent(value: number): Decimal;
}

/** Returns the converter for a mode. Both modes print the same digits. */
export function numbersAs(mode: "number" | "string"): Numbers {
  const decimal =
    mode === "number"
      ? (units: number, places: number): Decimal => units / (POWERS[places] as number)
      : (units: number, places: number): Decimal => decimalText(units, places) as unknown as Decimal;
  return {
    mode,
    decimal,
    price: (price) => decimal(price, PRICE_PLACES),
    size: (size) => decimal(size, SIZE_PLACES),
    money: (money) => decimal(money, MONEY_PLACES),
    total: (sum) => {
      const text = sumText(sum);
      return mode === "number" ? Number(text) : (text as unknown as Decimal);
    },
    sent: (value) => {
      const text = plainNumber(value);
      return mode === "number" && text === String(value) ? value : (text as unknown as Decimal);
    },
  };
}

/** Input of the reply builders: the state and the decimal format. */
export interface View {
  readonly state: State;
  readonly numbers: Numbers;
}

/** Casts a text that begins with `0x`, as every hash and id of the core, to viem's type. */
export const asHex = (text: string): `0x${string}` => text as `0x${string}`;

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : toIso(at));

type Window = Readonly<{ limit: number; offset: number }>;

/** Returns a page of a list, with each item converted by `reply`. */
export const pageOf = <Item, T>(items: readonly Item[], window: Window, reply: (item: Item) => T) =>
  pageAt(items.length, window, (index) => reply(items[index] as Item));

/** Returns a page of `total` items, which `at` returns by index, so that its cost depends on the items returned only. */
export function pageAt<T>(total: number, { limit, offset }: Window, at: (index: number) => T) {
  const length = Math.max(0, Math.min(limit, total - offset));
  const data = Array.from({ length }, (_, place) => at(offset + place));
  return { data, limit, offset, total, hasMore: offset + length < total };
}

/** Returns a hint if an unknown token id is the slug, condition id or id of a market. */
export function hintForToken(view: View, text: string): string {
  const { state } = view;
  const market = marketNamed(state, text) ?? state.markets.find(state.marketByConditionId.get(text) ?? 0);
  if (market === undefined) return "GET /api/markets lists the markets with their tokens";
  const kind =
    text === market.slug ? "the slug" : text === market.conditionId ? "the condition id" : "the id";
  return `that is ${kind} of a market; its tokens are ${market.tokenIds[0]} (YES) and ${market.tokenIds[1]} (NO)`;
}

/** Returns a token and its market. @throws ApiError `TOKEN_NOT_FOUND`. */
export function marketOfTokenId(view: View, tokenId: string) {
  const token = view.state.tokenById.get(tokenId);
  if (token === undefined) {
    const message = refusalText({ code: "TOKEN_NOT_FOUND", tokenId }, view.state);
    throw new ApiError("TOKEN_NOT_FOUND", message, { hint: hintForToken(view, tokenId) });
  }
  return { token, market: view.state.markets.get(marketOfToken(token)) };
}

/** Returns the market of an id or slug. An id comes first, because a slug may have the form of an id. */
export function marketNamed(state: State, idOrSlug: string): Market | undefined {
  const byId = state.markets.find(numberOf(state.idPrefixes.market, idOrSlug));
  return byId ?? state.markets.find(state.marketBySlug.get(idOrSlug) ?? 0);
}

/** Returns the event of an id or slug, in the same way. */
function eventNamed(state: State, idOrSlug: string): EventRecord | undefined {
  const byId = state.events.find(numberOf(state.idPrefixes.event, idOrSlug));
  return byId ?? state.events.find(state.eventBySlug.get(idOrSlug) ?? 0);
}

/** Returns the market of an id or slug. @throws ApiError `MARKET_NOT_FOUND`; its hint says what else the text names. */
export function findMarket({ state }: View, idOrSlug: string): Market {
  const market = marketNamed(state, idOrSlug);
  if (market !== undefined) return market;
  const isEvent = eventNamed(state, idOrSlug) !== undefined;
  throw new ApiError("MARKET_NOT_FOUND", `no market ${quoted(idOrSlug, 128)}`, {
    hint: isEvent
      ? "that is an event: GET /api/events/{idOrSlug} lists its markets"
      : state.marketByConditionId.has(idOrSlug)
        ? "that is a condition id: markets are addressed by id or slug"
        : state.tokenById.has(idOrSlug)
          ? "that is a token id: markets are addressed by id or slug"
          : "GET /api/markets lists the markets",
  });
}

/** Returns the event of an id or slug. @throws ApiError `EVENT_NOT_FOUND`. */
export function findEvent({ state }: View, idOrSlug: string): EventRecord {
  const event = eventNamed(state, idOrSlug);
  if (event !== undefined) return event;
  const isMarket = marketNamed(state, idOrSlug) !== undefined;
  throw new ApiError("EVENT_NOT_FOUND", `no event ${quoted(idOrSlug, 128)}`, {
    hint: isMarket ? "that is a market: GET /api/markets/{idOrSlug}" : "GET /api/events lists the events",
  });
}

/** Returns the outcome of a market's token. @throws ApiError `TOKEN_NOT_FOUND`, `TOKEN_NOT_IN_MARKET`. */
export function outcomeIn(view: View, market: Market, tokenId: string) {
  const { token, market: owner } = marketOfTokenId(view, tokenId);
  if (owner !== market) {
    throw new ApiError(
      "TOKEN_NOT_IN_MARKET",
      `token ${tokenId} belongs to market ${owner.slug}, not ${market.slug}`,
      { hint: `the tokens of ${market.slug} are ${market.tokenIds[0]} (YES) and ${market.tokenIds[1]} (NO)` },
    );
  }
  return outcomeOf(token);
}

/** Returns an order of the account. @throws ApiError `ORDER_NOT_FOUND`, with the same message for another account's order. */
export function ownOrder({ state }: View, account: Account, orderId: string): Order {
  const order = findOrder(state, orderId);
  if (order?.account === account.number) return order;
  throw noOrder(refusalText({ code: "ORDER_NOT_FOUND", orderId }, state));
}

/** Returns an order of any account. @throws ApiError `ORDER_NOT_FOUND`. */
export function orderOfAny(state: State, orderId: string): Order {
  const order = findOrder(state, orderId);
  if (order === undefined) throw noOrder(`no order ${quoted(orderId)}`);
  return order;
}

const noOrder = (message: string): ApiError =>
  new ApiError("ORDER_NOT_FOUND", message, {
    hint: "GET /clob/orders lists the orders of the account that signs it",
  });

const findOrder = ({ orders, idPrefixes }: State, orderId: string): Order | undefined =>
  orders.find(numberOf(idPrefixes.order, orderId));

/** Cache of checksummed addresses, because a checksum takes longer than the rest of a small reply. */
const CHECKSUMMED = new Map<Address, `0x${string}`>();
const MAX_CHECKSUMMED = 10_000;

/** Returns the checksummed, mixed-case form of an address in lower case (EIP-55). */
export function checksummed(address: Address): `0x${string}` {
  const known = CHECKSUMMED.get(address);
  if (known !== undefined) return known;
  const hash = bytesToHex(keccak_256(utf8ToBytes(address.slice(2))));
  const digits = Array.from(address.slice(2), (digit, index) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  const text = `0x${digits.join("")}` as const;
  if (CHECKSUMMED.size >= MAX_CHECKSUMMED) CHECKSUMMED.clear();
  CHECKSUMMED.set(address, text);
  return text;
}
