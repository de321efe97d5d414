import { beforeEach, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import { T0, useApi } from "../support/http.ts";
import { codeOf, titleOf } from "./bad-inputs.ts";
import { chunked, HOST, headerLines, refusalTo, replyTo, requestBytes } from "./raw-socket.ts";
import type { Account, PlacedOrder } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const trader = useTrader(api, 1);
const other = useTrader(api, 2);
let tokenId: string;
let order: Readonly<Record<string, unknown>>;

beforeEach(async () => {
  tokenId = await api.newToken();
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

describe("the body of an order", () => {
  it.each([
    ...["", '{"side":"BUY"', "1", "null", "[]", '"text"', '{"a":NaN}', '{"a":1,}', '{"a":1} // comment'],
    ...["{'a':1}", "{}{}", "\ufeff{}", '{"a":"\u0000"}', "[".repeat(20_000), `{"a":"\\ud800"`],
    `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  ])(`${titleOf("O14")}: %j`.slice(0, 140), async (body) => {
    await trader.orderRefused(body, codeOf("O14"));
  });

  it("in invalid UTF-8 is refused as invalid JSON", async () => {
    for (const bytes of [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe]]) {
      const text = JSON.stringify(order).replace('"BUY"', '"BUY","note":"%"');
      const [head = "", tail = ""] = text.split("%");
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
      const headers = trader.headers("POST", "/clob/order", body);
      await api.refused({ method: "POST", path: "/clob/order", headers, body }, "INVALID_JSON");
    }
  });

  it(titleOf("O16"), async () => {
    const body = JSON.stringify(order);
    const signed = headerLines(trader.headers("POST", "/clob/order", body));
    const head = [HOST, `Content-Length: ${body.length}`, ...signed];
    const json = "application/json";
    const twice = `${json}\r\nContent-Type: text/plain`;
    for (const type of ["text/plain", `${json}; charset=utf-16`, `${json}p`, "", twice]) {
      const bytes = requestBytes("POST /clob/order", [...head, `Content-Type: ${type}`], body);
      expect((await refusalTo(api, bytes)).code, type).toBe(codeOf("O16"));
    }
  });

  it("may have no content type, on any route", async () => {
    const json = (body: object): string => JSON.stringify(body);
    for (const [line, headers, sent] of [
      ["POST /clob/order", headerLines(trader.headers("POST", "/clob/order", json(order))), json(order)],
      ["GET /api/markets", [], "{}"],
      ["POST /sim/events", [], json({ title: "Untyped" })],
      ["POST /chain", [], json({ jsonrpc: "2.0", id: 1, method: "eth_chainId" })],
    ] as const) {
      for (const [framing, framed] of [
        [`Content-Length: ${sent.length}`, sent],
        ["Transfer-Encoding: chunked", chunked(sent)],
      ] as const) {
        const bytes = requestBytes(line, [HOST, ...headers, framing], framed);
        const { status, text } = await replyTo(api.port, bytes);
        expect(status, `${line} ${text}`).toBe(200);
      }
    }
  });

  it.each([
    ...["application/json", "Application/JSON", "application/json;charset=UTF-8"],
    'application/json; charset="utf-8"',
  ])("may have the content type %s", async (type) => {
    const request = trader.signed("POST", "/clob/order", order, { "content-type": type });
    expect((await api.send(request)).status).toBe(200);
  });
});

/** The order with a literal that JSON.stringify would not write. */
const written = (field: string, literal: string): string =>
  JSON.stringify({ ...order, [field]: "%" }).replace('"%"', literal);

describe("the fields of an order", () => {
  it.each<[id: string, field: string, code: ErrorCode, literals: string[], hint?: string]>([
    ["O01", "price", codeOf("O01"), ["0", "1", "-0.1", "1.0000001", "-0", "1e300"]],
    ["O01", "price", "INVALID_ORDER", ["1e400"]],
    ["O05", "size", codeOf("O05"), ["0", "-5", "-0", "0.001", "1e-7", "5.001", "1e18", "10000000.01"]],
    ["O05", "size", codeOf("O05"), ["5.0000000001"]],
    ["O05", "size", "INVALID_ORDER", ["1e400"]],
    ["O05", "size", "SIZE_TOO_SMALL", ["0.5"]],
    ["O06", "tokenId", "TOKEN_NOT_FOUND", ['"1"', '"__proto__"', '"constructor"', '"0"', '"0TOKEN"']],
    ["O06", "tokenId", "TOKEN_NOT_FOUND", ['" TOKEN"']],
    ["O06", "tokenId", "INVALID_ORDER", ["12345678901234567890"], "in quotes"],
    ["O06", "tokenId", "INVALID_ORDER", ['""']],
    ["O07", "side", "INVALID_SIDE", ['"buy"', '"Buy"', '""', '"B"', '"__proto__"'], "BUY, SELL"],
    ["O07", "orderType", "INVALID_ORDER_TYPE", ['"gtc"', '"IOC"', '""', '"constructor"'], "GTC, GTD, FOK"],
  ])("%s: %s is refused as %s: %j", async (_id, field, code, literals, hint = "") => {
    for (const literal of literals) {
      const { body } = await trader.orderRefused(written(field, literal.replace("TOKEN", tokenId)), code);
      expect(body.hint ?? "").toContain(hint);
    }
  });

  it("a price off the tick size is refused with the nearest valid prices", async () => {
    const { body } = await trader.orderRefused({ ...order, price: 0.555 }, "INVALID_TICK_SIZE");
    expect(body).toMatchObject({
      error: "price 0.555 is not a multiple of the tick size 0.01",
      hint: "nearest valid prices: 0.55, 0.56",
      details: { price: 0.555, tickSize: 0.01 },
    });
    const nearestOf = {
      "0.001": "0.01",
      "0.999": "0.99",
      "0.00000001": "0.01",
      "0.5000000000000001": "0.5, 0.51",
    };
    for (const [price, nearest] of Object.entries(nearestOf)) {
      const reply = await trader.orderRefused(written("price", price), "INVALID_TICK_SIZE");
      expect(reply.body.hint).toBe(`nearest valid prices: ${nearest}`);
      expect(reply.text).not.toMatch(/\de-\d/);
    }
  });

  it.each(["price", "size"])(`${titleOf("O04")}: %s`, async (field) => {
    for (const literal of ['"0.5"', "true", "null", "[0.5]", "{}", '""']) {
      const { body } = await trader.orderRefused(written(field, literal), codeOf("O04"));
      expect(body.details).toEqual({ fields: [field] });
      if (literal === '"0.5"') expect(body.hint).toContain("JSON number");
    }
    const { [field]: _, ...without } = order;
    const { body } = await trader.orderRefused(without, codeOf("O04"));
    expect(body.details).toEqual({ fields: [field] });
  });

  it.each([null, "", "0", 0])("an expiration of %j means none", async (expiration) => {
    for (const orderType of ["GTC", "FOK", "FAK"]) {
      const placed = await trader.place({ ...order, orderType, expiration });
      expect([placed.status, placed.expiration]).toEqual([orderType === "GTC" ? "LIVE" : "CANCELED", null]);
    }
  });

  it.each<[id: string, orderTypes: string, code: ErrorCode, expirations: unknown[]]>([
    ["O08", "GTD", codeOf("O08"), [undefined, null, "", "0", 0]],
    ["O08", "GTC FOK FAK", "EXPIRATION_NOT_ALLOWED", ["9999999999"]],
    ["O09", "GTC", "INVALID_ORDER", [1, -1, 0.5, 1_767_225_600, true, {}, []]],
    ["O09", "GTD", codeOf("O09"), ["2026-02-30T00:00:00Z", "foo 2026", "2026-01-01T00:00:00", "2027-01-01"]],
    ["O09", "GTD", codeOf("O09"), ["2026-1-1", "Jan 1 2026", "2027-01-01T24:00:00Z", "2027-01-01t00:00:00z"]],
    ["O09", "GTD", codeOf("O09"), ["+99999999999", "99999999999999", "1e12", " 9999999999", "٩٩٩٩٩٩٩٩٩٩"]],
    ["O10", "GTD", "EXPIRATION_IN_PAST", ["1", String(T0), `${T0}000`, String(T0 - 1)]],
  ])("%s: an expiration of %s is refused as %s: %j", async (_id, orderTypes, code, expirations) => {
    for (const orderType of orderTypes.split(" ")) {
      for (const expiration of expirations) {
        const { body } = await trader.orderRefused({ ...order, orderType, expiration }, code);
        if (code === "INVALID_ORDER") expect(body.details).toEqual({ fields: ["expiration"] });
      }
    }
  });

  it(titleOf("O10"), async () => {
    for (const expiration of ["9999-12-31T23:59:59.999Z", "253402300799", `${T0}001`])
      expect((await trader.place({ ...order, orderType: "GTD", expiration })).status).toBe("LIVE");
  });

  it(titleOf("O11"), async () => {
    const reply = await trader.send("POST /clob/order", { ...order, orderTyp: "FOK" });
    expect(reply).toMatchObject({ status: 200, body: { orderType: "GTC", status: "LIVE" } });
    expect(reply.headers["x-sim-warning"]).toBe('unknown field "orderTyp", did you mean "orderType"?');
  });

  it(titleOf("O13"), async () => {
    const body = JSON.stringify(order).replace('"price":0.5', '"price":0.4,"price":0.6');
    expect(await trader.ask<PlacedOrder>("POST", "/clob/order", body)).toMatchObject({ price: 0.6 });
  });

  it("keys named like properties of Object.prototype are unknown fields", async () => {
    const odd = '{"__proto__":{"price":0.9,"side":"SELL"},"constructor":1,';
    const body = JSON.stringify(order).replace("{", odd);
    const reply = await trader.send<PlacedOrder>("POST /clob/order", body);
    expect(reply).toMatchObject({ status: 200, body: { price: 0.5, side: "BUY" } });
    expect(reply.headers["x-sim-warning"]).toContain('"__proto__"');
    const { price: _, ...without } = order;
    const inherited = JSON.stringify(without).replace("{", '{"__proto__":{"price":0.9},');
    await trader.orderRefused(inherited, "INVALID_ORDER");
  });
});

const collateralOf = async (): Promise<Account["collateral"]> =>
  (await api.account(trader.address)).collateral;

describe("an order and the current state", () => {
  it(titleOf("O18"), async () => {
    const { balance, available, reserved } = await collateralOf();
    const size = Math.ceil(available / 0.5) + 1;
    const { body } = await trader.orderRefused({ ...order, size }, codeOf("O18"));
    expect(body.details).toEqual({ asset: "USDC", required: size * 0.5, available, balance, reserved });
    await trader.place({ ...order, side: "SELL", price: 0.9, size: 100 });
    const sale = await trader.orderRefused({ ...order, side: "SELL", size: 9901 }, codeOf("O18"));
    const details = { required: 9901, available: 9900, balance: 10_000, reserved: 100 };
    expect(sale.body.details).toMatchObject(details);
  });

  it(titleOf("O21"), async () => {
    const { id } = await other.place(order);
    const unknown = id.replace(/\d{12}$/, "000000999999");
    const refusal = async (orderId: string): Promise<string> => {
      const reply = await trader.refused("DELETE /clob/order", codeOf("O21"), { orderId });
      return reply.text.replace(orderId, "ID").replace(reply.body.requestId, "REQUEST");
    };
    expect(await refusal(id)).toBe(await refusal(unknown));
    for (const odd of ["nothing", "__proto__", `${id}0`, id.toUpperCase().replace(/^/, " ")])
      await refusal(odd);
  });
});
