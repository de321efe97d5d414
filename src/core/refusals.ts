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

/**
 * Why a command is refused: one closed list, in order of precedence where several apply.
 * A refused command leaves no trace.
 */
export type Refusal =
  | { readonly code: "EVENT_NOT_FOUND"; readonly event: number }
  | { readonly code: "MARKET_NOT_FOUND"; readonly market: number }
  | { readonly code: "TOKEN_NOT_FOUND"; readonly tokenId: string }
  | { readonly code: "ORDER_NOT_FOUND"; readonly orderId: string }
  | { readonly code: "ORDER_NOT_LIVE"; readonly order: number }
  | { readonly code: "SLUG_TAKEN"; readonly slug: string }
  | { readonly code: "INVALID_TICK_SIZE"; readonly price: Price; readonly tickSize: Price }
  | { readonly code: "SIZE_TOO_SMALL"; readonly size: Size; readonly minOrderSize: Size }
  | { readonly code: "EXPIRATION_IN_PAST"; readonly expiration: Millis; readonly now: Millis }
  | { readonly code: "MARKET_CLOSED"; readonly market: number }
  | ({ readonly code: "INSUFFICIENT_BALANCE" } & Shortfall)
  | { readonly code: "ISSUANCE_EXCEEDED"; readonly asked: Money; readonly left: Money }
  | { readonly code: "CREDENTIALS_ALREADY_DERIVED"; readonly address: string }
  | { readonly code: "REORGANIZATION_TOO_DEEP"; readonly depth: number; readonly most: number }
  | { readonly code: "FAULT_NOT_FOUND"; readonly number: number }
  | TransactionRefusal;

/** Why a transaction does not come to the chain, in order of precedence. */
export type TransactionRefusal =
  | { readonly code: "INTRINSIC_GAS_TOO_LOW"; readonly gas: number; readonly needed: number }
  | { readonly code: "TIP_ABOVE_FEE_CAP"; readonly maxFeePerGas: number; readonly tip: number }
  | { readonly code: "NONCE_TOO_LOW"; readonly nonce: number; readonly next: number }
  | { readonly code: "TRANSACTION_ALREADY_KNOWN"; readonly hash: string }
  | { readonly code: "REPLACEMENT_UNDERPRICED"; readonly offered: number; readonly needed: number }
  | { readonly code: "INSUFFICIENT_GAS_MONEY"; readonly needed: string; readonly available: string };

export type RefusalCode = Refusal["code"];

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
