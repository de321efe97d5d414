import { beforeAll, describe, expect, it } from "vitest";
import type { Page, PageWindow } from "../../src/client/api-messages.ts";
import type { ExchangeClient } from "../../src/client/client.ts";
import { collect, orThrow, pages, type Result, success } from "../../src/client/result.ts";
import { useApi } from "../support/http.ts";
import { openTrader } from "./open.ts";

const COUNT = 23;

const api = useApi();
let client: ExchangeClient;
const placed: string[] = [];

beforeAll(async () => {
  client = await openTrader(api, 41);
  const tokenId = await api.newToken();
  for (let size = 1; size <= COUNT; size += 1) {
    placed.push(orThrow(await client.place({ tokenId, side: "BUY", price: 0.1, size })).id);
  }
});

describe("pages", () => {
  it("follow one another until the last", async () => {
    const offsets: number[] = [];
    const ids: string[] = [];
    for await (const page of pages((window) => client.openOrders(window), { limit: 5 })) {
      const { data, offset } = orThrow(page);
      offsets.push(offset);
      ids.push(...data.map(({ id }) => id));
    }
    expect(offsets).toEqual([0, 5, 10, 15, 20]);
    expect(ids).toEqual(placed);
  });

  it("start at the given offset, and keep the filter of the call", async () => {
    const rest = orThrow(await collect((window) => client.openOrders(window), { limit: 5, offset: 20 }));
    expect(rest.map(({ id }) => id)).toEqual(placed.slice(20));
    const none = await collect((window) => client.openOrders({ side: "SELL", ...window }), { limit: 5 });
    expect(orThrow(none)).toEqual([]);
  });

  it("continue without a gap if the server clamps the limit", async () => {
    const list = Array.from({ length: 12 }, (_, index) => index);
    const request = async ({ offset = 0 }: PageWindow): Promise<Result<Page<number>>> => {
      const data = list.slice(offset, offset + 5);
      return success({ data, limit: 5, offset, total: 12, hasMore: offset + data.length < 12 });
    };
    expect(orThrow(await collect(request, { limit: 1_000_000 }))).toEqual(list);
  });

  it("end with the first error", async () => {
    const seen: boolean[] = [];
    for await (const { ok } of pages((window) => client.openOrders({ market: "nowhere", ...window }))) {
      seen.push(ok);
    }
    expect(seen).toEqual([false]);
    const collected = await collect((window) => client.openOrders({ market: "nowhere", ...window }));
    expect(collected).toMatchObject({ ok: false, error: { code: "MARKET_NOT_FOUND" } });
  });

  it("are requested only if they are read", async () => {
    let requests = 0;
    const request = (window: object) => {
      requests += 1;
      return client.openOrders(window);
    };
    for await (const page of pages(request, { limit: 5 })) if (page.ok) break;
    expect(requests).toBe(1);
  });

  it("end at an empty page, even if hasMore is true", async () => {
    const empty: Page<never> = { data: [], limit: 5, offset: 0, total: 9, hasMore: true };
    const request = async (): Promise<Result<Page<never>>> => success(empty);
    expect(orThrow(await collect(request))).toEqual([]);
  });
});
