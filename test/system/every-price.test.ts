import { expect, it } from "vitest";
import { titleOf } from "../server/bad-inputs.ts";
import { repliesTo } from "../server/raw-socket.ts";
import type { Book, PlacedOrder } from "../server/replies.ts";
import { useTrader } from "../server/trader.ts";
import { useApi, yesOf } from "../support/http.ts";

/** Number of pipelined requests. A connection for each request would take most of the time. */
const PIPELINED = 250;

const api = useApi();
const trader = useTrader(api, 1);

function orderBytes(body: string): string {
  const headers = Object.entries(trader.headers("POST", "/clob/order", body));
  return [
    "POST /clob/order HTTP/1.1",
    "Host: localhost",
    ...headers.map(([name, value]) => `${name}: ${value}`),
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

async function placedPrices(bodies: readonly string[]): Promise<number[]> {
  const prices: number[] = [];
  for (let start = 0; start < bodies.length; start += PIPELINED) {
    const batch = bodies.slice(start, start + PIPELINED);
    const replies = await repliesTo(api.port, batch.map(orderBytes).join(""), { replies: batch.length });
    for (const { status, text } of replies) {
      expect(status, text).toBe(200);
      prices.push((JSON.parse(text) as PlacedOrder).price);
    }
  }
  return prices;
}

it.each([
  [0.01, 99],
  [0.001, 999],
  [0.0001, 9999],
])(`${titleOf("O03")}: tick %d`, async (tickSize, count) => {
  const market = await api.createMarket({ tickSize });
  await api.post(`/sim/accounts/${trader.address}/fund`, { collateral: 10_000 });
  const token = yesOf(market);
  const texts = Array.from({ length: count }, (_, k) => `0.${`${k + 1}`.padStart(`${count}`.length, "0")}`);
  const bodies = texts.map((price) => `{"tokenId":"${token}","side":"BUY","price":${price},"size":1}`);
  const expected = texts.map(Number);
  expect(await placedPrices(bodies)).toEqual(expected);
  const { bids } = await api.get<Book>(`/clob/book?token_id=${token}`);
  expect(bids.map(({ price }) => price)).toEqual(expected.toReversed());
});
