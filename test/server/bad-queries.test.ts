import { beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import { useApi, yesOf } from "../support/http.ts";
import { codeOf, titleOf } from "./bad-inputs.ts";
import { replyTo, requestBytes } from "./raw-socket.ts";
import type { Market, MarketPage } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

const api = useApi();
let market: Market;

beforeAll(async () => {
  [market] = (await api.get<MarketPage>("/api/markets?sort=volume")).data as readonly [Market];
});

const refused = (path: string, code: ErrorCode) => api.refused(`GET ${path}`, code);

describe("a query", () => {
  it(titleOf("Q01"), async () => {
    const tokenId = yesOf(market);
    await refused("/clob/book", "TOKEN_ID_REQUIRED");
    await refused(`/clob/book?token_id=${tokenId}&token_id=${tokenId}`, "INVALID_PARAMETER");
    await refused(`/clob/book?token_id=${tokenId}&token_id=`, "INVALID_PARAMETER");
    await refused("/clob/book?token_id=1", "TOKEN_NOT_FOUND");
    await refused("/clob/book?token_id[]=1", "TOKEN_ID_REQUIRED");
    await refused("/clob/book?TOKEN_ID=1", "TOKEN_ID_REQUIRED");
  });

  it.each(["0", "-1", "1.5", "abc", "", "1e2", "0x10", "01", "+1", " 1", "NaN", "١"])(
    `${titleOf("Q02")}: limit "%s"`,
    async (limit) => {
      const { body } = await refused(`/api/markets?limit=${encodeURIComponent(limit)}`, codeOf("Q02"));
      expect(body.details).toEqual({ parameter: "limit", found: limit });
    },
  );

  it("Q02, too: a limit is clamped however long it is, and the warning has its first digits", async () => {
    const shown = "9".repeat(200);
    for (const digits of [16, 200, 201, 8000]) {
      const limit = "9".repeat(digits);
      const { status, headers, body } = await api.send<MarketPage>(`GET /api/markets?limit=${limit}`);
      expect([status, body.limit]).toEqual([200, 100]);
      const found = digits > 200 ? `${shown}...` : limit;
      expect(headers["x-sim-warning"]).toBe(`limit ${found} is above the maximum: 100 is used`);
    }
  });

  it("Q02, too: an offset below zero is refused, one past the end answers an empty page", async () => {
    for (const offset of ["-1", "1.5", "", "x", "1e2", "1000000000000000"]) {
      const { body } = await refused(`/api/markets?offset=${offset}`, codeOf("Q02"));
      expect(body.error).toBe(`offset must be an integer 0..999999999999999, found "${offset}"`);
    }
    const page = await api.get<MarketPage>("/api/markets?limit=101&offset=999999999999999");
    expect(page).toEqual({ data: [], limit: 100, offset: 999999999999999, total: 3, hasMore: false });
  });

  it.each([
    ["/api/markets?", 50, 100],
    ["/api/events?", 50, 100],
    ["/api/search?q=a&", 20, 100],
    ["/api/markets/{market}/trades?", 50, 500],
    ["/clob/orders?", 100, 500],
    ["/clob/trades?", 100, 500],
    ["/sim/accounts?", 50, 500],
    ["/sim/journal?", 100, 1_000],
  ])("of %s has a limit of %i, at most %i", async (path, byDefault, maximum) => {
    const trader = await deriveTrader(api, 1);
    const list = (query: string) => trader.ask("GET", path.replace("{market}", market.id) + query);
    expect(await list("")).toMatchObject({ limit: byDefault, offset: 0 });
    expect(await list(`limit=${maximum + 1}`)).toMatchObject({ limit: maximum });
    expect(await list("limit=1&offset=1")).toMatchObject({ limit: 1, offset: 1 });
  });

  it.each(["VOLUME", "__proto__", "constructor", "", "volume,liquidity", "Volume", "-volume"])(
    `${titleOf("Q03")}: sort "%s"`,
    async (sort) => {
      const { body } = await refused(`/api/markets?sort=${sort}`, codeOf("Q03"));
      for (const name of ["volume", "liquidity", "createdAt", "endDate"]) expect(body.error).toContain(name);
    },
  );

  it.each(["1", "TRUE", "yes", "", "0", "True", "null"])(`${titleOf("Q03")}: active "%s"`, async (active) => {
    await refused(`/api/markets?active=${active}`, codeOf("Q03"));
    await refused(`/api/events?active=${active}`, codeOf("Q03"));
    await refused(`/api/markets/${market.id}/trades?all=${active}`, codeOf("Q03"));
  });

  it(titleOf("Q06"), async () => {
    const history = `/api/markets/${market.id}/prices-history`;
    for (const query of [
      ...["0", "-1", "1e9", "1000000000", "10001", "1.5", ""].map((fidelity) => `fidelity=${fidelity}`),
      ...["abc", "-1", "1.5", "", "2026-01-01"].flatMap((time) => [`startTs=${time}`, `endTs=${time}`]),
      "startTs=2&endTs=1",
    ]) {
      await refused(`${history}?${query}`, codeOf("Q06"));
    }
    const { data: all } = await api.get<{ data: unknown[] }>(history);
    expect(all.length).toBeGreaterThan(8);
    for (const fidelity of [1, 2, 3, 7, all.length - 1]) {
      const { data } = await api.get<{ data: unknown[] }>(`${history}?fidelity=${fidelity}`);
      expect(data.length).toBe(fidelity);
    }
  });

  it("that gives a parameter twice is refused by every endpoint, whether it takes the parameter or not", async () => {
    const trader = await deriveTrader(api, 1);
    for (const path of [
      ...["/api/markets?limit", "/api/events?tag", "/api/search?q=a&offset", "/sim/accounts?limit"],
      ...[`/api/markets/${market.id}/trades?all`, "/clob/orders?side", "/clob/time?zebra", "/healthz?zebra"],
    ]) {
      const name = /\w+$/.exec(path)?.[0] ?? "";
      const { body } = await trader.refused(`GET ${path}=1&${name}=1`, "INVALID_PARAMETER");
      expect(body.error).toBe(`duplicate parameter "${name}" in the query`);
    }
  });
});

it("the record of a request with an unknown parameter given twice is incomplete", async () => {
  const trader = await deriveTrader(api, 1);
  await trader.refused("DELETE /clob/orders/all?zebra=1&zebra=2", "INVALID_PARAMETER");
  const { text } = await api.send("GET /sim/report");
  const records = text.split("\n").filter((line) => line.includes('"k":"refused"'));
  expect(JSON.parse(records.at(-1) as string)).toMatchObject({
    d: { code: "INVALID_PARAMETER", field: "zebra", asked: { query: {}, isCut: true } },
  });
});

describe("an unknown parameter", () => {
  const warningOf = async (query: string): Promise<string | undefined> =>
    (await api.send(`GET /api/markets?${query}`)).headers["x-sim-warning"];

  it("is ignored with a warning that names the nearest known one", async () => {
    expect(await warningOf("limt=5")).toBe('unknown field "limt", did you mean "limit"?');
    expect(await warningOf("limit=5")).toBeUndefined();
    expect(await warningOf("zebra=1")).toBe('unknown field "zebra"');
    expect(await warningOf("Sort=volume&TAG=x")).toBe(
      'unknown field "Sort", did you mean "sort"?; unknown field "TAG", did you mean "tag"?',
    );
  });

  it("may have the name of a property of Object.prototype", async () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(await warningOf(`${name}=1`)).toContain(`unknown field "${name}"`);
    }
  });

  it("is named once if it is given twice, which is refused", async () => {
    const { headers } = await refused("/api/markets?zebra=1&zebra=2", "INVALID_PARAMETER");
    expect(headers["x-sim-warning"]).toBe('unknown field "zebra"');
  });

  it("is escaped and cut in the header of the warning", async () => {
    const names = ["a\r\nx-evil: 1", "\u001b[2J", "größe", "数量", "👍", "\u0000", '"', "a".repeat(4000)];
    for (const name of names) {
      const bytes = requestBytes(`GET /api/markets?${encodeURIComponent(name)}=1`);
      const { status, headers } = await replyTo(api.port, bytes);
      expect(status).toBe(200);
      expect([...headers.keys()]).not.toContain("x-evil");
      expect(headers.get("x-sim-warning")).toEqual([expect.stringMatching(/^unknown field "[ -~]{1,140}"$/)]);
    }
  });

  it("is counted and not listed when there are many", async () => {
    const many = Array.from({ length: 400 }, (_, index) => `zz${index}=1`).join("&");
    expect((await warningOf(many))?.length).toBeLessThan(200);
    expect(await warningOf(many)).toContain("and 395 more");
  });

  it("is named in the warning of an error too", async () => {
    const { headers } = await refused("/clob/book?tokenid=1&zebra=2", "TOKEN_ID_REQUIRED");
    expect(headers["x-sim-warning"]).toContain('did you mean "token_id"?');
  });
});

describe("an invalid percent-encoding", () => {
  it.each(["%", "%z", "%zz", "%ff", "%c3%28", "%ed%a0%80", "a%2"])(
    "is refused in a path: %s",
    async (part) => {
      for (const path of [`/api/markets/${part}`, `/api/events/${part}`, `/sim/orders/${part}`])
        await refused(path, "INVALID_PARAMETER");
    },
  );

  it("is plain text in a query", async () => {
    for (const q of ["%", "%zz", "%ff"]) await api.get(`/api/search?q=${q}`);
  });
});

describe("an unusual name in a path", () => {
  it.each([
    ...["a%2Fb", "..%2f..%2fetc%2fpasswd", "a%00b", "__proto__", "constructor", "%F0%9F%91%8D"],
    ...["a".repeat(8000)],
  ])("finds no market, event, account or order: %s", async (name) => {
    await refused(`/api/markets/${name}`, "MARKET_NOT_FOUND");
    await refused(`/api/markets/${name}/trades`, "MARKET_NOT_FOUND");
    await refused(`/api/events/${name}`, "EVENT_NOT_FOUND");
    await refused(`/sim/orders/${name}`, "ORDER_NOT_FOUND");
    const { text } = await refused(`/sim/accounts/${name}`, "INVALID_PARAMETER");
    expect(text.length).toBeLessThan(1000);
  });
});
