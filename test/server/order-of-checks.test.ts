import { beforeAll, describe, expect, it } from "vitest";
import { ORDER_ERRORS, orderBody } from "../../src/api/order-request.ts";
import { ORDER_CHECKS } from "../../src/core/rules/trading.ts";
import { money, size } from "../../src/core/units.ts";
import { useApi, yesOf } from "../support/http.ts";
import type { Refusal } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi({ faucet: { collateral: money(0), everyMarket: size(0) } });
const rich = useTrader(api, 1);
const poor = useTrader(api, 2);
let open: string;
let closed: string;

beforeAll(async () => {
  await api.post(`/sim/accounts/${rich.address}/fund`, { collateral: 1000 });
  open = await api.newToken();
  const ended = await api.createMarket();
  closed = yesOf(ended);
  await api.post(`/sim/markets/${ended.id}/close`);
});

const CLOSED = Symbol("a token of a closed market");

/** A mistake in an order, the code of its refusal, and its fields with the mistake; `trader` is the sender. */
type Mistake = readonly [name: string, code: string, fields: Readonly<Record<string, unknown>>];

/** All mistakes in the order of the checks. Two of the same field exclude each other. */
const MISTAKES: readonly Mistake[] = [
  ["no tokenId", "INVALID_ORDER", { tokenId: undefined }],
  ["a number as tokenId", "INVALID_ORDER", { tokenId: 5 }],
  ["an empty tokenId", "INVALID_ORDER", { tokenId: "" }],
  ["no side", "INVALID_ORDER", { side: undefined }],
  ["a number as side", "INVALID_ORDER", { side: 1 }],
  ["an unknown side", "INVALID_SIDE", { side: "buy" }],
  ["a number as orderType", "INVALID_ORDER", { orderType: 1 }],
  ["an unknown orderType", "INVALID_ORDER_TYPE", { orderType: "IOC" }],
  ["no price", "INVALID_ORDER", { price: undefined }],
  ["a string as price", "INVALID_ORDER", { price: "0.5" }],
  ["a price out of range", "PRICE_OUT_OF_RANGE", { price: 1 }],
  ["no size", "INVALID_ORDER", { size: undefined }],
  ["a string as size", "INVALID_ORDER", { size: "5" }],
  ["a size out of range", "INVALID_SIZE", { size: 0 }],
  ["a size off the step of 0.01", "INVALID_SIZE", { size: 5.001 }],
  ["a number as expiration", "INVALID_ORDER", { expiration: 1_767_225_600 }],
  ["no expiration with GTD", "EXPIRATION_REQUIRED", { orderType: "GTD" }],
  ["a malformed expiration", "INVALID_EXPIRATION", { orderType: "GTD", expiration: "soon" }],
  ["an expiration with GTC", "EXPIRATION_NOT_ALLOWED", { orderType: "GTC", expiration: "9999999999" }],
  ["an unknown token", "TOKEN_NOT_FOUND", { tokenId: "1" }],
  ["a price off the tick size", "INVALID_TICK_SIZE", { price: 0.555 }],
  ["a price finer than every tick size", "INVALID_TICK_SIZE", { price: 0.55555 }],
  ["a size below the minimum", "SIZE_TOO_SMALL", { size: 0.5 }],
  ["an expiration in the past", "EXPIRATION_IN_PAST", { orderType: "GTD", expiration: "1" }],
  ["a closed market", "MARKET_CLOSED", { tokenId: CLOSED }],
  ["no funds", "INSUFFICIENT_BALANCE", { trader: "poor" }],
];

/** The refusal of an order with some mistakes. */
async function refusalOf(...mistakes: readonly Mistake[]): Promise<Refusal> {
  const good = { tokenId: open, side: "BUY", price: 0.5, size: 5, trader: "rich" };
  const { trader, ...order } = Object.assign(good, ...mistakes.map(([, , fields]) => fields)) as typeof good;
  const sent = { ...order, tokenId: (order.tokenId as unknown) === CLOSED ? closed : order.tokenId };
  const request = (trader === "rich" ? rich : poor).signed("POST", "/clob/order", sent);
  const { status, body } = await api.send<Refusal>(request);
  expect(status).toBe(body.status);
  return body;
}

/** Whether an order can have both. */
const areCompatible = ([, , one]: Mistake, [, , other]: Mistake): boolean =>
  !Object.keys(one).some((field) => Object.hasOwn(other, field));

describe("an order", () => {
  it("without a mistake is accepted", async () => {
    await rich.place({ tokenId: open, side: "BUY", price: 0.5, size: 5 });
  });

  it.each(MISTAKES.map((mistake, at) => ({ mistake, later: MISTAKES.slice(at + 1) })))(
    "with $mistake.0 is refused as $mistake.1, also with a later mistake",
    async ({ mistake, later }) => {
      const { code, error } = await refusalOf(mistake);
      expect(code).toBe(mistake[1]);
      for (const other of later.filter((each) => areCompatible(mistake, each)))
        expect(await refusalOf(mistake, other), other[0]).toMatchObject({ code, error });
    },
  );

  it("with a price in cents is told the unit of prices", async () => {
    expect((await refusalOf(["cents", "PRICE_OUT_OF_RANGE", { price: 55 }])).hint).toContain(
      "0.55 for 55 cents",
    );
  });

  it("is checked for its signature first, then for its JSON", async () => {
    const wrong = { ...rich.headers("POST", "/clob/order", "other"), "content-type": "application/json" };
    const unsigned = { method: "POST", path: "/clob/order", headers: wrong, body: "{" } as const;
    await api.refused(unsigned, "INVALID_SIGNATURE");
    await rich.refused("POST /clob/order?zebra=1", "INVALID_JSON", "{");
  });

  it("can be refused with each code of the endpoint, and for each field; the mistakes above are in the order of the checks", () => {
    const codes = MISTAKES.map(([, code]) => code);
    expect(new Set(codes)).toEqual(new Set(ORDER_ERRORS));
    const fields = new Set(MISTAKES.flatMap(([, , mistaken]) => Object.keys(mistaken)));
    expect(fields).toEqual(new Set([...orderBody.fields, "trader"]));
    const refusals = Object.keys(ORDER_CHECKS);
    expect([...new Set(codes.filter((code) => refusals.includes(code)))]).toEqual(refusals);
  });

  it("has the order of its checks in the document", () => {
    const { description } = api.document.json.paths["/clob/order"]?.post ?? {};
    const steps = ["signature", "tokenId, side, orderType, price, size, expiration", "token is known"];
    const places = [...steps, ...Object.values(ORDER_CHECKS)].map((step) => description?.indexOf(step) ?? -1);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});
