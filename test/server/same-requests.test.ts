import { afterAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import type { Config } from "../../src/config.ts";
import { noOf, startApi, yesOf } from "../support/http.ts";
import type { Operation } from "./document.ts";
import type { PlacedOrder, Refusal } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

/** An exchange and the objects created on it. */
type Session = Awaited<ReturnType<typeof play>>;

/** Derives keys, creates markets, places orders of every kind, advances time and has orders refused. */
async function play(config: Partial<Config> = {}) {
  const api = await startApi(config);
  const [trader, other] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
  const terms = { tickSize: 0.0001, feeRateBps: 37, minOrderSize: 0.5 };
  const market = await api.createMarket({ question: "Will it repeat?", ...terms });
  const [yes, no] = market.tokens.map(({ tokenId }) => tokenId);
  const { id: orderId } = await trader.place({ tokenId: yes, side: "SELL", price: 0.333, size: 33.33 });
  await trader.place({ tokenId: yes, side: "SELL", price: 0.3001, size: 0.7 });
  await other.place({ tokenId: no, side: "SELL", price: 0.667, size: 11.11 });
  await trader.orderRefused({ tokenId: yes, side: "BUY", price: 2, size: 1 }, "PRICE_OUT_OF_RANGE");
  await api.post("/sim/clock", { advance: "90s" });
  await other.place({ tokenId: yes, side: "BUY", price: 0.5, size: 7, orderType: "FAK" });
  const expiration = String(api.now + 10);
  await other.place({ tokenId: yes, side: "BUY", price: 0.2, size: 7, orderType: "GTD", expiration });
  await api.post("/sim/clock", { advance: "1h" });
  await other.ask("DELETE", "/clob/orders/all");
  await trader.place({ tokenId: yes, side: "BUY", price: 0.1, size: 1000.01 });
  await api.createMarket({ question: "And again?", matching: "independent" });
  return { api, trader, other, market, orderId };
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

/** The same for all servers, because GET /sim repeats it. */
const HOST = { host: "localhost" };

const [one, two, asText] = [await play(), await play(), await play({ numbers: "string" })];
afterAll(() => Promise.all([one, two, asText].map(({ api }) => api.close())));

/** The targets of all GETs, except the live feed, which does not end and begins as earlier readers left it. */
const targets = Object.entries(one.api.document.json.paths).flatMap(([path, { get }]) =>
  get === undefined || path === "/sim/stream" ? [] : [targetOf(path, get, one)],
);

const answerTo = ({ api, trader }: Session, target: string) =>
  api.send(trader.signed("GET", target, undefined, HOST));

it("two servers with the same seed, start and requests answer every GET with the same bytes", async () => {
  expect(targets.length).toBeGreaterThan(25);
  for (const target of targets) {
    const [a, b] = [await answerTo(one, target), await answerTo(two, target)];
    expect(a.status, `${target} ${a.text}`).toBe(200);
    expect(b.text, target).toBe(a.text);
    expect(b.headers).toEqual(a.headers);
  }
});

const DECIMALS = new Set(
  `price size sharesOfEveryOtherToken sizeMatched sizeRemaining avgPrice fee tickSize minOrderSize bestBid bestAsk lastTradePrice volume
   liquidity mid spread p balance available reserved onChain required shares collateral sharesOfEveryToken step amount paid
   received YES NO`.split(/\s+/),
);
const withText = (value: unknown, key = ""): unknown => {
  if (typeof value === "number") return DECIMALS.has(key) ? String(value) : value;
  if (Array.isArray(value)) return value.map((item) => withText(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withText(inner, name)]));
};

describe("with --numbers string", () => {
  it("every decimal is a string of the same digits, and nothing else differs", async () => {
    // Other replies have the units of the core, or have the setting.
    const decimal = targets.filter(
      (target) => !/^\/(?:openapi|sim$|sim\/(?:state|journal|report))/.test(target),
    );
    for (const target of decimal) {
      const [numbers, text] = [await answerTo(one, target), await answerTo(asText, target)];
      expect(text.status, target).toBe(200);
      expect(text.body, target).toEqual(withText(numbers.body));
    }
  });

  it("decimals of a placed order are strings too; requests still have JSON numbers", async () => {
    const place = ({ other, market }: Session): Promise<PlacedOrder> =>
      other.place({ tokenId: yesOf(market), side: "BUY", price: 0.3331, size: 16 });
    const [numbers, text] = [await place(one), await place(asText)];
    expect(text).toEqual(withText(numbers));
    const prices = { price: "0.3331", avgPrice: "0.333" };
    expect(text).toMatchObject({ ...prices, size: "16", sizeMatched: "15.92", fee: "0.019615" });
    const quoted = { tokenId: yesOf(asText.market), side: "BUY", price: "0.3", size: 5 };
    await asText.other.orderRefused(quoted, "INVALID_ORDER");
  });

  it.each(["BUY", "SELL"])("decimals of a previewed %s are strings too", async (side) => {
    const preview = ({ api, other: { address }, market }: Session): Promise<object> =>
      api.post("/sim/orders/preview", { tokenId: yesOf(market), side, price: 0.2, size: 5, address });
    expect(await preview(asText)).toEqual(withText(await preview(one)));
  });

  it("decimals in the details of an error are strings too", async () => {
    const refusals: [code: ErrorCode, field: "price" | "size", ...values: number[]][] = [
      ["INVALID_TICK_SIZE", "price", 0.55555, 1e-9],
      ["PRICE_OUT_OF_RANGE", "price", 0, 1, -1e-9, 1e21],
      ["INVALID_SIZE", "size", 0, 5.001, 1e-7, 1e21],
      ["SIZE_TOO_SMALL", "size", 0.1],
      ["INSUFFICIENT_BALANCE", "size", 100_000],
    ];
    for (const [code, field, ...values] of refusals)
      for (const value of values) {
        const refuse = ({ other, market }: Session): Promise<{ body: Refusal }> => {
          const order = { tokenId: yesOf(market), side: "BUY", price: 0.5, size: 5 };
          return other.orderRefused({ ...order, [field]: value }, code);
        };
        const [numbers, text] = [(await refuse(one)).body, (await refuse(asText)).body];
        expect(text.details, code).toEqual(withText(numbers.details));
        expect(text.error).toBe(numbers.error);
        expect(Object.values(text.details ?? {}).every((each) => typeof each === "string")).toBe(true);
        expect(JSON.stringify(numbers)).not.toMatch(/\de[+-]\d/);
      }
  });

  it("the document has the string type", () => {
    const typesOf = ({ api }: Session) =>
      ["Price", "Shares", "Usdc"].map((name) => api.document.json.components.schemas[name]?.type);
    expect(typesOf(one)).toEqual(["number", "number", "number"]);
    expect(typesOf(asText)).toEqual(["string", "string", "string"]);
  });

  it("the state hash is the same", async () => {
    expect(await asText.api.stateHash()).toBe(await one.api.stateHash());
  });
});
