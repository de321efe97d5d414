import type { Address, Command } from "./commands.ts";

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
