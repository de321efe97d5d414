import type { ExchangeClient } from "../../client/client.ts";
import type { Attempt } from "./venue.ts";
import { VenueError } from "./venue.ts";

/** What a node answers to a call that would revert (EIP-1474 leaves it open, geth's code is 3). */
const REVERTED = 3;

interface RpcReply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * Asks the settlement chain's node; a failure is that of a wallet's transaction.
 * @throws VenueError when nobody answers as a node does.
 */
export async function askNode(
  client: ExchangeClient,
  method: string,
  params: readonly unknown[],
): Promise<Attempt<unknown>> {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const sent = await client.send({ method: "POST", path: "/chain", body });
  if (!sent.ok) throw new VenueError(`${method}: ${sent.error.message}`);
  const { result, error } = (sent.value.body ?? {}) as RpcReply;
  if (error !== undefined) {
    const code = error.code === REVERTED ? "TRANSACTION_REVERTED" : "TRANSACTION_REFUSED";
    return { ok: false, code, message: error.message, hint: null };
  }
  if (result === undefined) throw new VenueError(`${method}: the server answers ${sent.value.text}`);
  return { ok: true, value: result };
}
