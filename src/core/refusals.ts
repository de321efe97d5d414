import { type Command, isCausedByTime, parseCommand } from "./commands.ts";
import { DocumentError } from "./document-error.ts";
import type { DomainEvent } from "./events.ts";
import { counted, moneyText, priceText, quoted, sizeText } from "./format.ts";
import {
  address,
  boolean,
  custom,
  fieldsLike,
  type Infer,
  integer,
  oneOf,
  openRecord,
  orNull,
  record,
  text,
  textLike,
  union,
} from "./schema.ts";
import type { State } from "./state.ts";
import { marketText } from "./state.ts";
import type { Address } from "./terms.ts";
import { toIso } from "./time.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

/** Missing funds in one asset, in micro-USDC or in size units of a token. */
export interface Shortfall {
  /** `USDC` or a token id. */
  readonly asset: string;
  readonly required: number;
  readonly available: number;
  readonly balance: number;
  readonly reserved: number;
  readonly incoming: number;
}

/** Unit of a value in `details` of an error response. */
type Unit = "price" | "size" | "money" | "moment" | "count";
/** Fields of a refusal in `details` of an error response, with their units. */
type Details = Readonly<Record<string, Unit>>;

interface Row<Data> {
  readonly message: (refusal: Data, state: State) => string;
  readonly details: Details | undefined;
}

/** Fields that `details` must have. */
type Measured<Data> = {
  readonly [Field in keyof Data as Data[Field] extends Price | Size | Money | Millis ? Field : never]: Unit;
};

/** Declares the fields, the message and the response details of one refusal code. */
const refusal = <Data>(
  message: Row<Data>["message"],
  ...[details]: keyof Measured<Data> extends never
    ? [details?: { readonly [Field in keyof Data]?: Unit }]
    : [details: Measured<Data>]
): Row<Data> => ({ message, details: details as Details | undefined });

/** Why a transaction is refused, in order of precedence. The messages are those of Ethereum nodes, because clients parse them. */
const TRANSACTION_REFUSALS = {
  INTRINSIC_GAS_TOO_LOW: refusal<{ gas: number; needed: number }>(
    ({ gas, needed }) => `intrinsic gas too low: gas ${gas}, minimum needed ${needed}`,
  ),
  TIP_ABOVE_FEE_CAP: refusal<{ maxFeePerGas: number; tip: number }>(
    ({ maxFeePerGas, tip }) =>
      `max priority fee per gas higher than max fee per gas: tip ${tip}, max fee ${maxFeePerGas}`,
  ),
  NONCE_TOO_LOW: refusal<{ nonce: number; next: number }>(
    ({ nonce, next }) => `nonce too low: next nonce ${next}, tx nonce ${nonce}`,
  ),
  TRANSACTION_ALREADY_KNOWN: refusal<{ hash: string }>(({ hash }) => `already known: ${hash}`),
  REPLACEMENT_UNDERPRICED: refusal<{ fee: string; offered: number; needed: number }>(
    ({ fee, offered, needed }) =>
      `replacement transaction underpriced: ${fee} ${offered}, minimum needed ${needed}`,
  ),
  INSUFFICIENT_GAS_MONEY: refusal<{ needed: string; available: string }>(
    ({ needed, available }) => `Insufficient funds for gas * price + value: have ${available} want ${needed}`,
  ),
};

const REFUSALS = {
  EVENT_NOT_FOUND: refusal<{ event: number }>(({ event }) => `there is no event number ${event}`),
  MARKET_NOT_FOUND: refusal<{ market: number }>(({ market }) => `there is no market number ${market}`),
  TOKEN_NOT_FOUND: refusal<{ tokenId: string }>(({ tokenId }) => `no token ${quoted(tokenId)}`),
  ORDER_NOT_FOUND: refusal<{ orderId: string }>(
    ({ orderId }) => `this account has no order ${quoted(orderId)}`,
  ),
  ORDER_NOT_LIVE: refusal<{ order: number }>(({ order }) => `order number ${order} is not live`),
  SLUG_TAKEN: refusal<{ slug: string }>(({ slug }) => `slug ${JSON.stringify(slug)} is taken`),
  INVALID_TICK_SIZE: refusal<{ price: Price; tickSize: Price }>(
    ({ price, tickSize }) =>
      `price ${priceText(price)} is not a multiple of the tick size ${priceText(tickSize)}`,
    { price: "price", tickSize: "price" },
  ),
  SIZE_TOO_SMALL: refusal<{ size: Size; minOrderSize: Size }>(
    ({ size, minOrderSize }) =>
      `size ${sizeText(size)} is below the market's minimum of ${sizeText(minOrderSize)}`,
    { size: "size", minOrderSize: "size" },
  ),
  EXPIRATION_IN_PAST: refusal<{ expiration: Millis; serverTime: Millis }>(
    ({ expiration, serverTime }) =>
      `expiration ${toIso(expiration)} is not after the server's ${toIso(serverTime)}`,
    { expiration: "moment", serverTime: "moment" },
  ),
  MARKET_CLOSED: refusal<{ market: number }>(
    ({ market }, state) => `market ${marketText(state, market)} is ${state.markets.get(market).status}`,
  ),
  INSUFFICIENT_BALANCE: refusal<Shortfall>(({ asset, required, available }) => {
    const [amount, unit] = asset === "USDC" ? [moneyText, "USDC"] : [sizeText, "shares"];
    return `the order needs ${amount(required)} ${unit}, available: ${amount(available)}`;
  }),
  ISSUANCE_EXCEEDED: refusal<{ asked: Money; left: Money }>(
    ({ asked, left }) => `the exchange may issue ${moneyText(left)} more USDC, asked for ${moneyText(asked)}`,
    { asked: "money", left: "money" },
  ),
  CREDENTIALS_ALREADY_DERIVED: refusal<{ address: Address }>(
    ({ address }) => `${address} has derived credentials before`,
  ),
  REORGANIZATION_TOO_DEEP: refusal<{ depth: number; most: number }>(
    ({ depth, most }) =>
      `a reorganization of ${counted(depth, "block")} is too deep: ${most === 0 ? "no block" : `at most ${most}`} can be undone now`,
    { most: "count" },
  ),
  FAULT_NOT_FOUND: refusal<{ number: number }>(
    ({ number }) => `there is no settlement fault ${number} in force`,
  ),
  ...TRANSACTION_REFUSALS,
};

type Rows = typeof REFUSALS;
export type RefusalCode = keyof Rows;
export type RefusalOf<Code extends RefusalCode> = { readonly code: Code } & Readonly<
  Parameters<Rows[Code]["message"]>[0]
>;
/** A refused command does not change the state. */
export type Refusal = { [Code in RefusalCode]: RefusalOf<Code> }[RefusalCode];
export type TransactionRefusal = {
  [Code in keyof typeof TRANSACTION_REFUSALS]: RefusalOf<Code>;
}[keyof typeof TRANSACTION_REFUSALS];

/** Returns the message of a refusal; `state` is the one on which it was decided. */
export const refusalText = (refusal: Refusal, state: State): string =>
  (REFUSALS[refusal.code] as Row<Refusal>).message(refusal, state);

export const detailsOf = (code: RefusalCode): Details | undefined => REFUSALS[code].details;

/** Result of deciding a command: its events, or the reason why it is refused. */
export type Decision<Why extends Refusal = Refusal> =
  | { readonly ok: true; readonly events: readonly DomainEvent[] }
  | { readonly ok: false; readonly refusal: Why };

export const accepted = (events: readonly DomainEvent[]): Decision<never> => ({ ok: true, events });
export const refused = <Why extends Refusal>(refusal: Why): Decision<Why> => ({ ok: false, refusal });

/** JSON value other than an object or an array. */
export type Scalar = string | number | boolean | null;

/**
 * Content of a refused request: the command if the rules refused it, else the fields of its body and query that the
 * endpoint defines, as they were sent.
 */
const AskedFor = union({
  command: record({
    kind: oneOf("command"),
    command: custom((value): Command => {
      const command = parseCommand(value);
      if (isCausedByTime(command)) throw new DocumentError("a command that a client can send", command.kind);
      return command;
    }),
  }),
  request: record({
    kind: oneOf("request"),
    body: fieldsLike<Scalar>(
      (value) => typeof value !== "object" || value === null,
      "texts, numbers, true, false and null by name",
    ),
    query: fieldsLike<string>((value) => typeof value === "string", "texts by name"),
    /** Whether a value is truncated or left out, so that the request cannot be repeated. */
    isCut: boolean(),
  }),
});
export type AskedFor = Infer<typeof AskedFor>;

/** Trading or control request that got a 4xx response, without secrets of the caller. */
export const RefusedRequest = openRecord({
  method: oneOf("POST", "DELETE"),
  path: text(),
  /** The caller's address as given in the request; null if it has none. */
  address: orNull(address()),
  /** Whether a signature proved the address. */
  isProven: boolean(),
  status: integer(400, 499),
  code: textLike(/^[A-Z_]{1,64}$/, "an error code"),
  /** Invalid field according to the response; null if it names none. */
  field: orNull(text()),
  /** Null if the caller is unknown or the body is unreadable or too long. */
  asked: orNull(AskedFor),
});
export type RefusedRequest = Infer<typeof RefusedRequest>;

/** Maximum number of refused requests recorded per journal, or per session in memory; the first ones. */
export const MAX_REFUSED = 5_000;
