import { afterAll, expect, it } from "vitest";
import { type Api, noOf, startApi } from "../support/http.ts";
import type { Operation } from "./document.ts";
import { deriveTrader } from "./trader.ts";

/** An exchange and the objects created on it. */
type Session = Awaited<ReturnType<typeof play>>;

/** Derives keys, creates markets, places orders of every kind, advances time and has orders refused. */
async function play(api: Api) {
  const [trader, other] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
  const market = await api.createMarket({ question: "Will it repeat?", tickSize: 0.001, feeRateBps: 25 });
  const [yes, no] = market.tokens.map(({ tokenId }) => tokenId);
  const { id: orderId } = await trader.place({ tokenId: yes, side: "SELL", price: 0.333, size: 33.33 });
  await other.place({ tokenId: no, side: "SELL", price: 0.667, size: 11.11 });
  await trader.orderRefused({ tokenId: yes, side: "BUY", price: 2, size: 1 }, "PRICE_OUT_OF_RANGE");
  await api.post("/sim/clock", { advance: "90s" });
  await other.place({ tokenId: yes, side: "BUY", price: 0.5, size: 7, orderType: "FAK" });
  const expiration = String(api.now + 10);
  await other.place({ tokenId: yes, side: "BUY", price: 0.2, size: 7, orderType: "GTD", expiration });
  await api.post("/sim/clock", { advance: "1h" });
  await other.ask("DELETE", "/clob/orders/all");
  await api.createMarket({ question: "And again?", matching: "independent" });
  return { api, trader, market, orderId };
}

const parametersOf = ({ market, trader, orderId }: Session): Readonly<Record<string, string>> => ({
  idOrSlug: market.slug,
  address: trader.address,
  id: orderId,
  token_id: noOf(market),
  q: "repeat",
});

/** Path and query of an operation, with parameters from the session. */
function targetOf(path: string, { parameters = [] }: Operation, session: Session): string {
  const values = parametersOf(session);
  const filled = path.replace(/\{(\w+)\}/g, (_braces, name: string) =>
    path.startsWith("/api/events") ? session.market.eventId : (values[name] ?? "missing"),
  );
  const needed = parameters.filter(({ in: place, required }) => place === "query" && required);
  return (
    filled + needed.map(({ name }, index) => `${index === 0 ? "?" : "&"}${name}=${values[name]}`).join("")
  );
}

/** The same for both servers, because GET /sim repeats it. */
const HOST = { host: "localhost" };

const one = await play(await startApi());
const two = await play(await startApi());
afterAll(() => Promise.all([one.api.close(), two.api.close()]));

it("two servers with the same seed, start and requests answer every GET with the same bytes", async () => {
  const paths = Object.entries(one.api.document.json.paths);
  // The live feed does not end, and its beginning depends on earlier readers.
  const gets = paths.flatMap(([path, { get }]) =>
    get === undefined || path === "/sim/stream" ? [] : [[path, get] as const],
  );
  expect(gets.length).toBeGreaterThan(25);
  for (const [path, operation] of gets) {
    const target = targetOf(path, operation, one);
    expect(targetOf(path, operation, two)).toBe(target);
    const [a, b] = [
      await one.api.send(one.trader.signed("GET", target, undefined, HOST)),
      await two.api.send(two.trader.signed("GET", target, undefined, HOST)),
    ];
    expect(a.status, `${target} ${a.text}`).toBe(200);
    expect(b.text, target).toBe(a.text);
    expect(b.headers).toEqual(a.headers);
  }
});
