import type { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { pairOn } from "./tools.ts";

/** What a session of refusals speaks of. */
export interface RefusedSession {
  readonly alice: ExchangeClient;
  readonly bob: ExchangeClient;
  readonly tokenId: string;
  /** Alice's resting bid, 10 YES at 0.01. */
  readonly bid: string;
  readonly market: string;
  readonly close: () => void;
}

/** Alice rests a bid of 10 at 0.01 in the first market; Bob is there, too. */
export async function begun(url: string): Promise<RefusedSession> {
  const [alice, bob] = await pairOn(url);
  const market = orThrow(await alice.markets({ active: true, limit: 1 })).data[0];
  const tokenId = market?.tokens[0]?.tokenId ?? "";
  const { id: bid } = orThrow(await alice.place({ tokenId, side: "BUY", price: 0.01, size: 10 }));
  const close = (): void => {
    alice.close();
    bob.close();
  };
  return { alice, bob, tokenId, bid, market: market?.slug ?? "", close };
}

/** Sends a signed POST /clob/order with this body, and answers the code that it is refused with. */
export async function order(client: ExchangeClient, body: object | string): Promise<string> {
  return answered(client, { method: "POST", path: "/clob/order", body, signed: true });
}

export async function answered(
  client: ExchangeClient,
  request: Parameters<ExchangeClient["send"]>[0],
): Promise<string> {
  const { text } = orThrow(await client.send(request));
  return (JSON.parse(text) as { code?: string }).code ?? "accepted";
}

/** Requests that are refused one after another, each for a reason of its own; answers their codes. */
export async function refuseAll({ alice, bob, tokenId, bid }: RefusedSession): Promise<string[]> {
  const right = { tokenId, side: "BUY", price: 0.01, size: 10 };
  return [
    await order(alice, { ...right, price: 0.0155 }),
    await order(alice, { ...right, price: 0.99, size: 1_000_000 }),
    await order(alice, { ...right, side: "HOLD", secret: "a-secret-of-mine" }),
    await order(alice, { ...right, size: "10" }),
    await order(alice, { ...right, orderType: "GTD", expiration: "1" }),
    await order(alice, '{ "secret": "another-secret", '),
    await answered(bob, { method: "DELETE", path: "/clob/order", body: { orderId: bid }, signed: true }),
    await answered(bob, { method: "DELETE", path: "/clob/order", signed: true }),
    await answered(alice, { method: "POST", path: "/clob/order", body: right }),
  ];
}

/** The same codes, for whoever compares them. */
export const CODES = [
  "INVALID_TICK_SIZE",
  "INSUFFICIENT_BALANCE",
  "INVALID_SIDE",
  "INVALID_ORDER",
  "EXPIRATION_IN_PAST",
  "INVALID_JSON",
  "ORDER_NOT_FOUND",
  "ORDER_ID_REQUIRED",
  "MISSING_AUTH_HEADER",
];
