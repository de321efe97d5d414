import type { ExchangeClient } from "../../client/client.ts";
import type { RawRequest } from "../../client/connection.ts";
import type { CancelResult } from "../../client/messages.ts";
import type { Result } from "../../client/result.ts";
import { codeOf } from "./http-request.ts";
import type { Attempt, Canceled, Refused } from "./venue.ts";
import { VenueError } from "./venue.ts";

export const DONE = { ok: true, value: null } as const;

/** Sends a request as it stands, right or wrong; what comes back is believed to be a `Value`. */
export async function askFor<Value>(client: ExchangeClient, request: RawRequest): Promise<Attempt<Value>> {
  const sent = await client.send(request);
  if (!sent.ok) return refusedOf(sent.error);
  const { status, body } = sent.value;
  const code = codeOf(status, body);
  if (code === null) return { ok: true, value: body as Value };
  const { error = `the server answers ${status}`, hint = null } = (body ?? {}) as {
    error?: string;
    hint?: string | null;
  };
  return { ok: false, code, message: error, hint };
}

type Failed = Extract<Result<unknown>, { readonly ok: false }>["error"];

const refusedOf = ({ code, message, hint }: Failed): Refused => ({ ok: false, code, message, hint });

/** A call of which only its success matters. */
export const nothingOf = (result: Result<unknown>): Attempt<null> =>
  result.ok ? DONE : refusedOf(result.error);

/** What a cancellation came to. */
export function canceledOf(result: Result<CancelResult>): Attempt<Canceled> {
  if (!result.ok) return refusedOf(result.error);
  const { canceled, notCanceled } = result.value;
  return { ok: true, value: { canceled, notCanceled: Object.values(notCanceled) } };
}

/** What the runner itself cannot do without. @throws VenueError */
export function demand<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new VenueError(`${result.error.code}: ${result.error.message}`);
}
