import type { Command } from "./commands.ts";
import type { DomainEvent } from "./events.ts";
import type { Address } from "./terms.ts";
import type { Millis, Money, Price, Size } from "./units.ts";

/** What an account has of one asset: micro-USDC, or size units of a token. */
export interface Shortfall {
  /** `USDC` or a token id. */
  readonly asset: string;
  readonly required: number;
  readonly available: number;
  readonly balance: number;
  readonly reserved: number;
  /** What of the balance pending settlements are to bring. */
  readonly incoming: number;
}

/** Why a command is refused, in order of precedence where several apply, with what an answer says of it. */
interface Refusals extends TransactionRefusals {
  EVENT_NOT_FOUND: { event: number };
  MARKET_NOT_FOUND: { market: number };
  TOKEN_NOT_FOUND: { tokenId: string };
  ORDER_NOT_FOUND: { orderId: string };
  ORDER_NOT_LIVE: { order: number };
  SLUG_TAKEN: { slug: string };
  INVALID_TICK_SIZE: { price: Price; tickSize: Price };
  SIZE_TOO_SMALL: { size: Size; minOrderSize: Size };
  EXPIRATION_IN_PAST: { expiration: Millis; now: Millis };
  MARKET_CLOSED: { market: number };
  INSUFFICIENT_BALANCE: Shortfall;
  ISSUANCE_EXCEEDED: { asked: Money; left: Money };
  CREDENTIALS_ALREADY_DERIVED: { address: Address };
  REORGANIZATION_TOO_DEEP: { depth: number; most: number };
  FAULT_NOT_FOUND: { number: number };
}

/** Why a transaction does not come to the chain, in order of precedence. */
interface TransactionRefusals {
  INTRINSIC_GAS_TOO_LOW: { gas: number; needed: number };
  TIP_ABOVE_FEE_CAP: { maxFeePerGas: number; tip: number };
  NONCE_TOO_LOW: { nonce: number; next: number };
  TRANSACTION_ALREADY_KNOWN: { hash: string };
  REPLACEMENT_UNDERPRICED: { offered: number; needed: number };
  INSUFFICIENT_GAS_MONEY: { needed: string; available: string };
}

export type RefusalCode = keyof Refusals;
export type RefusalOf<Code extends RefusalCode> = { readonly code: Code } & Readonly<Refusals[Code]>;
/** A refused command leaves no trace. */
export type Refusal = { [Code in RefusalCode]: RefusalOf<Code> }[RefusalCode];
export type TransactionRefusal = {
  [Code in keyof TransactionRefusals]: RefusalOf<Code>;
}[keyof TransactionRefusals];

/** What becomes of a command: events that happen, or the reason why nothing does. */
export type Decision =
  | { readonly ok: true; readonly events: readonly DomainEvent[] }
  | { readonly ok: false; readonly refusal: Refusal };

export const accepted = (events: readonly DomainEvent[]): Decision => ({ ok: true, events });
export const refused = (refusal: Refusal): Decision => ({ ok: false, refusal });

/** A value of JSON that holds no others. */
export type Scalar = string | number | boolean | null;

/**
 * What a refused request asked for: the command, where the rules refused it; else the fields of its body and query that
 * its endpoint knows, as they were sent.
 */
export type AskedFor =
  | { readonly kind: "command"; readonly command: Command }
  | {
      readonly kind: "request";
      readonly body: Readonly<Record<string, Scalar>>;
      readonly query: Readonly<Record<string, string>>;
      /** Whether something is shortened or left out here, so that it cannot be tried again. */
      readonly isCut: boolean;
    };

/** A trading or control request that was answered with a 4xx, without any secret of its sender. */
export interface RefusedRequest {
  readonly method: "POST" | "DELETE";
  /** Of the request's target, without the query. */
  readonly path: string;
  /** The sender's address as the request names it; null where it names none. */
  readonly address: Address | null;
  /** Whether a signature has proven that address. */
  readonly isProven: boolean;
  /** HTTP status, 400 to 499. */
  readonly status: number;
  /** The error code of the answer. */
  readonly code: string;
  /** The field that the answer names as wrong; null where it names none. */
  readonly field: string | null;
  /** Null where nothing of it is kept: its sender is unknown, or its body is unreadable or too long. */
  readonly asked: AskedFor | null;
}

/** So many refused requests are noted in one journal, or in one session in memory; the first ones. */
export const MAX_REFUSED = 5_000;
