import type { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { firstMarket, pairOn } from "./tools.ts";

type RefusedSession = Awaited<ReturnType<typeof startSession>>;

/** Starts a session: Alice places a bid of 10 at 0.01 in the first market. */
export async function startSession(url: string) {
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
export const sendOrder = (client: ExchangeClient, body: object | string): Promise<string> =>
  sendRequest(client, { method: "POST", path: "/clob/order", body, signed: true });

async function sendRequest(
  client: ExchangeClient,
  request: Parameters<ExchangeClient["send"]>[0],
): Promise<string> {
  const { text } = orThrow(await client.send(request));
  return (JSON.parse(text) as { code?: string }).code ?? "accepted";
}

/** Sends requests that are refused. Returns the expected and the actual code of each. */
export async function refuseAll({ alice, bob, tokenId, bid }: RefusedSession): Promise<[string, string][]> {
  const valid = { tokenId, side: "BUY", price: 0.01, size: 10 };
  const [path, signed] = ["/clob/order", true];
  const cancel = { method: "DELETE", path, signed } as const;
  return [
    ["INVALID_TICK_SIZE", await sendOrder(alice, { ...valid, price: 0.0155 })],
    ["INSUFFICIENT_BALANCE", await sendOrder(alice, { ...valid, price: 0.99, size: 1_000_000 })],
    ["INVALID_SIDE", await sendOrder(alice, { ...valid, side: "HOLD", secret: "a-secret-of-mine" })],
    ["INVALID_ORDER", await sendOrder(alice, { ...valid, size: "10" })],
    ["EXPIRATION_IN_PAST", await sendOrder(alice, { ...valid, orderType: "GTD", expiration: "1" })],
    ["INVALID_JSON", await sendOrder(alice, '{ "secret": "another-secret", ')],
    ["INVALID_JSON", await sendOrder(alice, "")],
    ["ORDER_NOT_FOUND", await sendRequest(bob, { ...cancel, body: { orderId: bid } })],
    ["ORDER_ID_REQUIRED", await sendRequest(bob, cancel)],
    ["MISSING_AUTH_HEADER", await sendRequest(alice, { method: "POST", path, body: valid })],
  ];
}
