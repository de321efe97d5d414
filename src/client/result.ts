import type { ExchangeError } from "./exchange-error.ts";

/** What a call came to: a value, or why there is none. */
export type Result<Value> = Success<Value> | Failure;

export interface Success<Value> {
  readonly ok: true;
  readonly value: Value;
}

export interface Failure {
  readonly ok: false;
  readonly error: ExchangeError;
}

export const success = <Value>(value: Value): Success<Value> => ({ ok: true, value });

export const failure = (error: ExchangeError): Failure => ({ ok: false, error });

/** A failed call as something to throw; its message reads `CODE: message. hint`. */
export class ExchangeFailure extends Error {
  override readonly name = "ExchangeFailure";
  readonly error: ExchangeError;

  constructor(error: ExchangeError) {
    super(`${error.code}: ${error.message}${error.hint === null ? "" : `. ${error.hint}`}`);
    this.error = error;
  }
}

/** The value of a result, for scripts that end at the first error. @throws ExchangeFailure when there is none. */
export function orThrow<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new ExchangeFailure(result.error);
}
