import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Api, startApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import type { PlacedOrder } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

let api: Api;
let trader: Trader;
let tokenId: string;
let order: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
});
afterAll(() => api.close());

beforeEach(async () => {
  tokenId = (await api.createMarket()).tokens[0]?.tokenId ?? "";
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

/** The order with one field written as it stands, which no JSON.stringify would write. */
const written = (field: string, literal: string): string =>
  JSON.stringify({ ...order, [field]: "%" }).replace('"%"', literal);

describe("the fields of an order", () => {
  it(titleOf("O01"), async () => {
    for (const price of ["0", "1", "-0.1", "1.0000001", "-0", "1e300"]) {
      await trader.refused(written("price", price), ...refusalOf("O01"));
    }
    await trader.refused(written("price", "1e400"), 400, "INVALID_ORDER");
  });

  it("a price off the grid is told the valid ones next to it", async () => {
    const { body } = await trader.refused({ ...order, price: 0.555 }, 400, "INVALID_TICK_SIZE");
    expect(body).toMatchObject({
      error: "price 0.555 is not a multiple of the tick size 0.01",
      hint: "nearest valid prices: 0.55, 0.56",
      details: { price: 0.555, tickSize: 0.01 },
    });
    const edges = [
      ["0.001", "0.01"],
      ["0.999", "0.99"],
      ["0.00000001", "0.01"],
      ["0.5000000000000001", "0.5, 0.51"],
    ];
    for (const [price = "", nearest] of edges) {
      const reply = await trader.refused(written("price", price), 400, "INVALID_TICK_SIZE");
      expect(reply.body.hint).toBe(`nearest valid prices: ${nearest}`);
      expect(reply.text).not.toMatch(/\de-\d/);
    }
  });

  it.each(["price", "size"])(`${titleOf("O04")}: %s`, async (field) => {
    for (const literal of ['"0.5"', "true", "null", "[0.5]", "{}", '""']) {
      const { body } = await trader.refused(written(field, literal), ...refusalOf("O04"));
      expect(body.details).toEqual({ fields: [field] });
      if (literal === '"0.5"') expect(body.hint).toContain("JSON number");
    }
    const { [field]: _, ...without } = order;
    const { body } = await trader.refused(without, ...refusalOf("O04"));
    expect(body.details).toEqual({ fields: [field] });
  });

  it(titleOf("O05"), async () => {
    for (const size of ["0", "-5", "-0", "0.001", "1e-7", "5.001", "1e18", "10000000.01", "5.0000000001"]) {
      await trader.refused(written("size", size), ...refusalOf("O05"));
    }
    await trader.refused(written("size", "1e400"), 400, "INVALID_ORDER");
    await trader.refused(written("size", "0.5"), 400, "SIZE_TOO_SMALL");
  });

  it(titleOf("O06"), async () => {
    for (const unknown of ["1", "__proto__", "constructor", "0", `0${tokenId}`, ` ${tokenId}`]) {
      await trader.refused({ ...order, tokenId: unknown }, 404, "TOKEN_NOT_FOUND");
    }
    const { body } = await trader.refused(written("tokenId", "12345678901234567890"), 400, "INVALID_ORDER");
    expect(body.hint).toContain("in quotes");
    await trader.refused({ ...order, tokenId: "" }, 400, "INVALID_ORDER");
  });

  it(titleOf("O07"), async () => {
    for (const side of ["buy", "Buy", "", "B", "__proto__"]) {
      const { body } = await trader.refused({ ...order, side }, 400, "INVALID_SIDE");
      expect(body.hint).toContain("BUY, SELL");
    }
    for (const orderType of ["gtc", "IOC", "", "constructor"]) {
      const { body } = await trader.refused({ ...order, orderType }, 400, "INVALID_ORDER_TYPE");
      expect(body.hint).toContain("GTC, GTD, FOK, FAK");
    }
  });

  it(titleOf("O08"), async () => {
    for (const more of [{}, { expiration: null }, { expiration: "" }]) {
      await trader.refused({ ...order, orderType: "GTD", ...more }, ...refusalOf("O08"));
    }
  });

  it("an expiration belongs to GTD alone", async () => {
    for (const orderType of ["GTC", "FOK", "FAK"]) {
      const expiring = { ...order, orderType, expiration: "9999999999" };
      await trader.refused(expiring, 400, "EXPIRATION_NOT_ALLOWED");
    }
  });

  it.each([null, "", "0", 0])("an expiration of %j stands for none", async (expiration) => {
    for (const orderType of ["GTC", "FOK", "FAK"]) {
      const placed = await trader.place({ ...order, orderType, expiration });
      expect([placed.status, placed.expiration]).toEqual([orderType === "GTC" ? "LIVE" : "CANCELED", null]);
    }
    await trader.refused({ ...order, orderType: "GTD", expiration }, 400, "EXPIRATION_REQUIRED");
  });

  it.each([1, -1, 0.5, 1_767_225_600, true, {}, []])(
    "an expiration is a text, unless it is none: %j",
    async (expiration) => {
      const { body } = await trader.refused({ ...order, expiration }, 400, "INVALID_ORDER");
      expect(body.details).toEqual({ fields: ["expiration"] });
    },
  );

  it.each([
    "2026-02-30T00:00:00Z",
    "foo 2026",
    "2026-1-1",
    "2026-01-01T00:00:00",
    "Jan 1 2026",
    "2027-01-01",
    "2027-01-01T24:00:00Z",
    "+99999999999",
    "99999999999999",
    "1e12",
    "2027-01-01t00:00:00z",
    " 9999999999",
    "٩٩٩٩٩٩٩٩٩٩",
  ])(`${titleOf("O09")}: %s`, async (expiration) => {
    await trader.refused({ ...order, orderType: "GTD", expiration }, ...refusalOf("O09"));
  });

  it("an expiration of 1 is the Unix second 1, and in the past", async () => {
    await trader.refused({ ...order, orderType: "GTD", expiration: "1" }, 400, "EXPIRATION_IN_PAST");
  });

  it(titleOf("O10"), async () => {
    for (const expiration of [String(api.now), `${api.now}000`, String(api.now - 1)]) {
      await trader.refused({ ...order, orderType: "GTD", expiration }, 400, "EXPIRATION_IN_PAST");
    }
    for (const expiration of ["9999-12-31T23:59:59.999Z", "253402300799", `${api.now}001`]) {
      const placed = await trader.place({ ...order, orderType: "GTD", expiration });
      expect(placed.status).toBe("LIVE");
    }
  });

  it(titleOf("O11"), async () => {
    const reply = await api.send(trader.signed("POST", "/clob/order", { ...order, orderTyp: "FOK" }));
    expect(reply).toMatchObject({ status: 200, body: { orderType: "GTC", status: "LIVE" } });
    expect(reply.headers["x-sim-warning"]).toBe('unknown field "orderTyp", did you mean "orderType"?');
  });

  it(titleOf("O13"), async () => {
    const body = JSON.stringify(order).replace('"price":0.5', '"price":0.4,"price":0.6');
    expect(await trader.ask<PlacedOrder>("POST", "/clob/order", body)).toMatchObject({ price: 0.6 });
  });

  it("a field that nobody knows cannot break out of the warning, whatever its name", async () => {
    for (const name of [
      "a\r\nx-evil: 1",
      "\u001b[2J",
      "größe",
      "数量",
      "\u0000",
      "\ud800",
      "a".repeat(4000),
    ]) {
      const request = trader.signed("POST", "/clob/order", { ...order, [name]: 1 });
      const { status, headers } = await api.send(request);
      expect(status).toBe(200);
      expect(headers["x-sim-warning"]).toMatch(/^unknown field "[ -~]{1,140}"$/);
      expect(headers["x-evil"]).toBeUndefined();
    }
  });

  it("keys of the prototype are fields like any other: unknown ones", async () => {
    const body = JSON.stringify(order).replace(
      "{",
      '{"__proto__":{"price":0.9,"side":"SELL"},"constructor":1,',
    );
    const reply = await api.send<PlacedOrder>(trader.signed("POST", "/clob/order", body));
    expect(reply).toMatchObject({ status: 200, body: { price: 0.5, side: "BUY" } });
    expect(reply.headers["x-sim-warning"]).toContain('"__proto__"');
    const { price: _, ...without } = order;
    const inherited = JSON.stringify(without).replace("{", '{"__proto__":{"price":0.9},');
    await trader.refused(inherited, 400, "INVALID_ORDER");
  });
});
