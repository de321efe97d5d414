import type { ClientOptions } from "../../src/client/client.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import type { ExchangeError } from "../../src/client/result.ts";
import { orThrow, type Result } from "../../src/client/result.ts";
import { openTransport, type Transport } from "../../src/client/transport.ts";
import { wallet } from "../server/wallet.ts";
import { type Api, T0 } from "../support/http.ts";

/** Client time that equals the time of a frozen server at its start. */
export const atT0 = (): number => T0;

/** A transport that checks every reply against the server's OpenAPI document. */
export function checked(api: Api): Transport {
  const { send } = openTransport(new URL(api.server.url), 10_000);
  return async (request) => {
    const reply = await send(request);
    const body: unknown = JSON.parse(reply.text);
    api.document.check({ method: request.method, path: request.path, status: reply.status, body });
    return reply;
  };
}

/** Opens a client for the wallet with private key `number` and derives its credentials; the faucet funds it. */
export async function openTrader(
  api: Api,
  number: number,
  options: ClientOptions = {},
): Promise<ExchangeClient> {
  const account = wallet(number);
  const client = new ExchangeClient(api.server.url, {
    account,
    time: atT0,
    transport: checked(api),
    ...options,
  });
  orThrow(await client.derive());
  return client;
}

/** The error of a call that must fail. */
export function errorOf(result: Result<unknown>): ExchangeError {
  if (result.ok) throw new Error(`expected an error, found ${JSON.stringify(result.value)}`);
  return result.error;
}
