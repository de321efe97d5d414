import type { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { firstMarket, pairOn } from "./tools.ts";

/** A session with clients, for refused requests. */
export interface RefusedSession {
  readonly alice: ExchangeClient;
  readonly bob: ExchangeClient;
  readonly tokenId: string;
  /** Alice's resting bid, 10 YES at 0.01. */
  readonly bid: string;
  readonly market: string;
  readonly close: () => void;
}

/** Starts a session: Alice places a bid of 10 at 0.01 in the first market. */
export async function startSession(url: string): Promise<RefusedSession> {
  const [alice, bob] = await pairOn(url);
  const { slug: market, tokenId } = await firstMarket(alice);
  const { id: bid } = orThrow(await alice.place({ tokenId, side: "BUY", price: 0.01, size: 10 }));
  const close = (): void => {
    alice.close();
    bob.close();
  };
  return { alice, bob, tokenId, bid, market, close };
}

/** Sends a signed POST /clob/order. Returns the error code, or "accepted". */
export async function sendOrder(client: ExchangeClient, body: object | string): Promise<string> {
  return sendRequest(client, { method: "POST", path: "/clob/order", body, signed: true });
}

export async function sendRequest(
  client: ExchangeClient,
  request: Parameters<ExchangeClient["send"]>[0],
): Promise<string> {
  const { text } = orThrow(await client.send(request));
  return (JSON.parse(text) as { code?: string }).code ?? "accepted";
}

/** Sends requests that are refused, each with another code. Returns the codes. */
export async function refuseAll({ alice, bob, tokenId, bid }: RefusedSession): Promise<string[]> {
  const valid = { tokenId, side: "BUY", price: 0.01, size: 10 };
  return [
    await sendOrder(alice, { ...valid, price: 0.0155 }),
    await sendOrder(alice, { ...valid, price: 0.99, size: 1_000_000 }),
    await sendOrder(alice, { ...valid, side: "HOLD", secret: "a-secret-of-mine" }),
    await sendOrder(alice, { ...valid, size: "10" }),
    await sendOrder(alice, { ...valid, orderType: "GTD", expiration: "1" }),
    await sendOrder(alice, '{ "secret": "another-secret", '),
    await sendOrder(alice, ""),
    await sendRequest(bob, { method: "DELETE", path: "/clob/order", body: { orderId: bid }, signed: true }),
    await sendRequest(bob, { method: "DELETE", path: "/clob/order", signed: true }),
    await sendRequest(alice, { method: "POST", path: "/clob/order", body: valid }),
  ];
}

/** The codes that `refuseAll` returns. */
export const CODES = [
  "INVALID_TICK_SIZE",
  "INSUFFICIENT_BALANCE",
  "INVALID_SIDE",
  "INVALID_ORDER",
  "EXPIRATION_IN_PAST",
  "INVALID_JSON",
  "INVALID_JSON",
  "ORDER_NOT_FOUND",
  "ORDER_ID_REQUIRED",
  "MISSING_AUTH_HEADER",
];
