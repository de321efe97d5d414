import { afterAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import { noOf, startApi, yesOf } from "../support/http.ts";
import type { PlacedOrder, Refusal } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

type Exchange = Awaited<ReturnType<typeof open>>;

async function open(numbers: "number" | "string") {
  const api = await startApi({ numbers });
  const [trader, other] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
  const market = await api.createMarket({ tickSize: 0.0001, feeRateBps: 37, minOrderSize: 0.5 });
  const tokenId = yesOf(market);
  await trader.place({ tokenId, side: "SELL", price: 0.3, size: 10.1 });
  await trader.place({ tokenId, side: "SELL", price: 0.3001, size: 0.7 });
  await trader.place({ tokenId, side: "BUY", price: 0.1, size: 1000.01 });
  await other.place({ tokenId, side: "BUY", price: 0.9, size: 10.4 });
  return { api, trader, other, market };
}

/** Two exchanges with the same orders: decimals as JSON numbers, and as strings. */
const [asNumbers, asText] = [await open("number"), await open("string")];
afterAll(() => Promise.all([asNumbers.api.close(), asText.api.close()]));

/** Fields whose numbers are decimals. */
const DECIMALS = new Set(
  `price size sharesOfEveryOtherToken sizeMatched sizeRemaining avgPrice fee tickSize minOrderSize bestBid bestAsk lastTradePrice volume
   liquidity mid spread p balance available reserved onChain required shares collateral sharesOfEveryToken step amount paid
   received`.split(/\s+/),
);
const withText = (value: unknown, key = ""): unknown => {
  if (typeof value === "number") return DECIMALS.has(key) ? String(value) : value;
  if (Array.isArray(value)) return value.map((item) => withText(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withText(inner, name)]));
};

const pathsOf = ({ market, trader }: Exchange): string[] => [
  "/api/markets",
  `/api/markets/${market.id}`,
  `/api/markets/${market.id}/prices-history`,
  `/api/markets/${market.id}/trades?all=true`,
  "/api/events",
  `/api/events/${market.eventId}`,
  "/api/search?q=rain",
  ...["book", "price", "midpoint", "spread", "last-trade-price", "tick-size", "fee-rate"].map(
    (read) => `/clob/${read}?token_id=${noOf(market)}`,
  ),
  "/clob/orders",
  "/clob/trades",
  "/sim/accounts",
  `/sim/accounts/${trader.address}`,
];

describe("with --numbers string", () => {
  it("every decimal is a string of the same digits, and nothing else differs", async () => {
    const [paths, others] = [pathsOf(asNumbers), pathsOf(asText)];
    expect(others).toEqual(paths);
    for (const path of paths) {
      const numbers = await asNumbers.api.send(asNumbers.trader.signed("GET", path));
      const text = await asText.api.send(asText.trader.signed("GET", path));
      expect([numbers.status, text.status], path).toEqual([200, 200]);
      expect(text.body, path).toEqual(withText(numbers.body));
    }
  });

  it("decimals of a placed order are strings too; requests still have JSON numbers", async () => {
    const place = ({ other, market }: Exchange): Promise<PlacedOrder> =>
      other.place({ tokenId: yesOf(market), side: "BUY", price: 0.3001, size: 0.5 });
    const [numbers, text] = [await place(asNumbers), await place(asText)];
    expect(text).toEqual(withText(numbers));
    const prices = { price: "0.3001", avgPrice: "0.3001" };
    expect(text).toMatchObject({ ...prices, size: "0.5", sizeMatched: "0.4", fee: "0.000444" });
    const quoted = { tokenId: yesOf(asText.market), side: "BUY", price: "0.3", size: 5 };
    await asText.other.orderRefused(quoted, "INVALID_ORDER");
  });

  it.each(["BUY", "SELL"])("decimals of a previewed %s are strings too", async (side) => {
    const preview = ({ api, other: { address }, market }: Exchange): Promise<object> =>
      api.post("/sim/orders/preview", { tokenId: yesOf(market), side, price: 0.2, size: 5, address });
    expect(await preview(asText)).toEqual(withText(await preview(asNumbers)));
  });

  it("decimals in the details of an error are strings too", async () => {
    const refusals: [code: ErrorCode, field: "price" | "size", ...values: number[]][] = [
      ["INVALID_TICK_SIZE", "price", 0.55555, 1e-9],
      ["PRICE_OUT_OF_RANGE", "price", 0, 1, -1e-9, 1e21],
      ["INVALID_SIZE", "size", 0, 5.001, 1e-7, 1e21],
      ["SIZE_TOO_SMALL", "size", 0.1],
      ["INSUFFICIENT_BALANCE", "size", 100_000],
    ];
    const each = refusals.flatMap(([code, field, ...values]) =>
      values.map((value) => ({ code, fields: { [field]: value } })),
    );
    for (const { code, fields } of each) {
      const refuse = ({ other, market }: Exchange): Promise<{ body: Refusal }> =>
        other.orderRefused({ tokenId: yesOf(market), side: "BUY", price: 0.5, size: 5, ...fields }, code);
      const [numbers, text] = [await refuse(asNumbers), await refuse(asText)];
      expect(text.body.details, code).toEqual(withText(numbers.body.details));
      expect(text.body.error).toBe(numbers.body.error);
      expect(Object.values(text.body.details ?? {}).every((value) => typeof value === "string")).toBe(true);
      expect(JSON.stringify(numbers.body)).not.toMatch(/\de[+-]\d/);
    }
  });

  it("the document has the string type", () => {
    const schemasOf = ({ api }: Exchange) => api.document.json.components.schemas;
    for (const name of ["Price", "Shares", "Usdc"]) {
      expect(schemasOf(asNumbers)[name]?.type).toBe("number");
      expect(schemasOf(asText)[name]?.type).toBe("string");
    }
  });

  it("the state hash is the same", async () => {
    expect(await asText.api.stateHash()).toBe(await asNumbers.api.stateHash());
  });
});
