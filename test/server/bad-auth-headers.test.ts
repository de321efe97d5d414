import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, type Headers, type Request, startApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import { answerTo, refusalIn, requestBytes } from "./raw-socket.ts";
import type { OrderPage, Refusal } from "./replies.ts";
import { deriveTrader, type Signed, type Trader } from "./trader.ts";

const HEADERS = [
  "poly_address",
  "poly_api_key",
  "poly_passphrase",
  "poly_timestamp",
  "poly_signature",
] as const;

let api: Api;
let trader: Trader;
let other: Trader;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
  other = await deriveTrader(api, 2);
});
afterAll(() => api.close());

/** GET /clob/orders with the right headers, some of them replaced; undefined leaves one out. */
function orders(replaced: Readonly<Record<string, string | undefined>> = {}, signed: Signed = {}): Request {
  const all = { ...trader.headers("GET", "/clob/orders", "", signed), ...replaced };
  const headers = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Headers;
  return { method: "GET", path: "/clob/orders", headers };
}

const accepted = async (sent: Request): Promise<void> =>
  expect((await api.send<OrderPage>(sent)).status, JSON.stringify(sent)).toBe(200);

/** Sends these header lines over a bare socket: no client touches names or values. */
async function rawRefusal(headers: readonly string[]): Promise<Refusal> {
  const before = await api.stateHash();
  const bytes = requestBytes("GET /clob/orders", ["Host: localhost", ...headers]);
  const refusal = refusalIn(await answerTo(api.port, bytes));
  expect(await api.stateHash()).toBe(before);
  return refusal;
}

const lines = (headers: Headers): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

describe("a signed request", () => {
  it(titleOf("A01"), async () => {
    for (const skew of [-30, 30]) await accepted(orders({}, { timestamp: String(api.now + skew) }));
  });

  it(titleOf("A02"), async () => {
    for (const skewSeconds of [-31, 31]) {
      const sent = api.now + skewSeconds;
      const { body } = await api.refused(orders({}, { timestamp: String(sent) }), ...refusalOf("A02"));
      expect(body.details).toEqual({ serverTime: api.now, sent, skewSeconds });
      expect(body.error).toContain(String(api.now));
      expect(body.error).toContain("31 s");
    }
  });

  it.each(["", " ", "abc", "-1", "+1750000000", "0x684ee180", "1.75e9", "01750000000", "1750000000.0"])(
    `${titleOf("A04")}: "%s"`,
    async (timestamp) => {
      const headers = trader.headers("GET", "/clob/orders", "", { timestamp });
      const { status, code } = await rawRefusal(lines(headers));
      expect([status, code]).toEqual(refusalOf("A04"));
    },
  );

  it.each([
    ["NaN", "NaN"],
    ["Infinity", "Infinity"],
    ["Arabic-Indic digits", Buffer.from("١٧٥٠٠٠٠٠٠٠").toString("latin1")],
    ["400 digits", "1".repeat(400)],
  ])("A04, too: %s", async (_what, timestamp) => {
    const headers = trader.headers("GET", "/clob/orders", "", { timestamp });
    const { status, code } = await rawRefusal(lines(headers));
    expect([status, code]).toEqual(refusalOf("A04"));
  });

  it(titleOf("A05"), async () => {
    const { body } = await api.refused(orders({}, { timestamp: `${api.now}000` }), ...refusalOf("A05"));
    expect(body.hint).toContain("looks like milliseconds");
  });

  it(titleOf("A06"), async () => {
    for (const name of HEADERS) {
      const { body } = await api.refused(orders({ [name]: undefined }), ...refusalOf("A06"));
      expect(body.details).toEqual({ field: name });
    }
  });

  it("with a header given twice is refused, whatever the letter case, even with the same value", async () => {
    const headers = lines(trader.headers("GET", "/clob/orders"));
    for (const name of HEADERS) {
      const again = headers.find((line) => line.startsWith(name))?.replace(name, name.toUpperCase()) ?? "";
      const { status, code, details } = await rawRefusal([...headers, again]);
      expect({ status, code, details }).toEqual({
        status: 401,
        code: "DUPLICATE_AUTH_HEADER",
        details: { field: name },
      });
    }
  });

  it(titleOf("A08"), async () => {
    const headers = trader.headers("GET", "/clob/orders");
    const upper = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${value}`);
    const mixed = Object.entries(headers).map(
      ([name, value]) => `${name.replace(/(^|_)[a-z]/g, (letter) => letter.toUpperCase())}: ${value}`,
    );
    for (const spelled of [upper, mixed]) {
      const bytes = requestBytes("GET /clob/orders", ["Host: localhost", ...spelled]);
      expect((await answerTo(api.port, bytes)).status).toBe(200);
    }
  });

  it(titleOf("A09"), async () => {
    const headers = lines(trader.headers("GET", "/clob/orders"));
    const { status, code, hint } = await rawRefusal(
      headers.map((line) => line.replace(/^[a-z_]+/, (name) => name.replaceAll("_", "-"))),
    );
    expect([status, code]).toEqual(refusalOf("A09"));
    expect(hint).toContain("poly-address");
    expect(hint).toContain("underscores_in_headers");
  });

  it(titleOf("A10"), async () => {
    const own = await startApi();
    const wiped = await deriveTrader(own, 1);
    for (const poly_api_key of ["00000000-0000-4000-8000-000000000000", "", "__proto__", "x".repeat(5000)]) {
      await own.refused(
        wiped.signed("GET", "/clob/orders", undefined, { poly_api_key }),
        ...refusalOf("A10"),
      );
    }
    await own.post("/sim/reset");
    const { body } = await own.refused(wiped.signed("GET", "/clob/orders"), ...refusalOf("A10"));
    expect(body.hint).toContain("reset");
    await own.close();
  });

  it(titleOf("A11"), async () => {
    const { passphrase } = trader.credentials;
    const flipped = passphrase.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const wrong of [flipped, passphrase.slice(1), passphrase.toUpperCase(), `${passphrase}0`, ""]) {
      await api.refused(orders({ poly_passphrase: wrong }), ...refusalOf("A11"));
    }
  });

  it(titleOf("A12"), async () => {
    await api.refused(orders({ poly_address: other.address }), ...refusalOf("A12"));
  });

  it(titleOf("A13"), async () => {
    const digits = trader.address.slice(2);
    const swapped = digits.replace(/[a-f]/gi, (digit) =>
      digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase(),
    );
    for (const spelled of [digits.toLowerCase(), digits.toUpperCase(), swapped]) {
      await accepted(orders({ poly_address: `0x${spelled}` }));
    }
  });

  it(titleOf("A14"), async () => {
    const digits = trader.address.slice(2);
    for (const wrong of [
      `0X${digits}`,
      digits,
      `0x${digits.slice(1)}`,
      `0x${digits}0`,
      `0x${digits.slice(1)}g`,
      "",
    ]) {
      await api.refused(orders({ poly_address: wrong }), ...refusalOf("A14"));
    }
  });
});
