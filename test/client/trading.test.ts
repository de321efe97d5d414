import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import type { Book, PlacedOrder } from "../../src/client/messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { wallet } from "../server/wallet.ts";
import { type Api, startApi, T0 } from "../support/http.ts";
import { atT0, checked, errorOf, openTrader } from "./opened.ts";

let api: Api;
let alice: ExchangeClient;
let bob: ExchangeClient;
let yes = "";
let no = "";
let marketId = "";

beforeAll(async () => {
  api = await startApi();
  [alice, bob] = await Promise.all([openTrader(api, 11), openTrader(api, 12)]);
});
afterAll(() => api.close());
beforeEach(async () => {
  const market = orThrow(await alice.control.createMarket({ question: "Will it rain?" }));
  marketId = market.id;
  [yes = "", no = ""] = market.tokens.map(({ tokenId }) => tokenId);
});

describe("placing", () => {
  it("answers the order, typed as the contract has it", async () => {
    const placed = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.55, size: 100 }));
    expect(placed).toMatchObject({ status: "LIVE", marketId, tokenId: yes, orderType: "GTC", trades: [] });
    expectTypeOf(placed).toEqualTypeOf<PlacedOrder>();
    expectTypeOf(placed.status).toEqualTypeOf<"LIVE" | "MATCHED" | "CANCELED" | "EXPIRED">();
    expectTypeOf(placed.avgPrice).toEqualTypeOf<number | null>();
  });

  it("answers the fills of an order that crosses", async () => {
    await alice.place({ tokenId: yes, side: "BUY", price: 0.55, size: 100 });
    const order = { tokenId: yes, side: "SELL", price: 0.5, size: 40, orderType: "FAK" } as const;
    const placed = orThrow(await bob.place(order));
    expect(placed.trades).toMatchObject([{ price: 0.55, size: 40, role: "TAKER" }]);
  });

  it("keeps an order until the moment given as Unix seconds", async () => {
    const order = { tokenId: yes, side: "BUY", price: 0.5, size: 1, orderType: "GTD" } as const;
    const placed = orThrow(await alice.place({ ...order, expiration: T0 + 3600 }));
    expect(placed.expiration).toBe("2026-01-01T01:00:00.000Z");
  });

  it("answers a refusal as a value, with the server's words", async () => {
    const order = { tokenId: yes, side: "BUY", price: 0.555, size: 1 } as const;
    expect(errorOf(await alice.place(order))).toEqual({
      code: "INVALID_TICK_SIZE",
      message: "price 0.555 is not a multiple of the tick size 0.01",
      status: 400,
      hint: "nearest valid prices: 0.55, 0.56",
      details: { price: 0.555, tickSize: 0.01 },
      requestId: expect.stringMatching(/^req-\d+$/),
      retryAfter: null,
    });
  });
});

describe("orders and fills", () => {
  it("are listed by what the filter asks for", async () => {
    const bid = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 }));
    const ask = orThrow(await alice.place({ tokenId: no, side: "SELL", price: 0.7, size: 10 }));
    const idsOf = async (filter: object): Promise<string[]> =>
      orThrow(await alice.openOrders({ market: marketId, ...filter })).data.map(({ id }) => id);
    expect(await idsOf({})).toEqual([bid.id, ask.id]);
    expect(await idsOf({ side: "SELL" })).toEqual([ask.id]);
    expect(await idsOf({ tokenId: yes })).toEqual([bid.id]);
  });

  it("are told from the client's own side", async () => {
    const bid = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 }));
    orThrow(await bob.place({ tokenId: yes, side: "SELL", price: 0.4, size: 10 }));
    expect(orThrow(await alice.trades({ order: bid.id })).data).toMatchObject([
      { role: "MAKER", side: "BUY" },
    ]);
    expect(orThrow(await bob.trades({ tokenId: yes })).data).toMatchObject([{ role: "TAKER", side: "SELL" }]);
  });
});

describe("canceling", () => {
  it("answers what is canceled and what is no longer live", async () => {
    const { id } = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 }));
    expect(orThrow(await alice.cancel(id))).toEqual({ canceled: [id], notCanceled: {} });
    expect(orThrow(await alice.cancel(id))).toEqual({
      canceled: [],
      notCanceled: { [id]: "already canceled" },
    });
  });

  it("does not reach another's order", async () => {
    const { id } = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 }));
    expect(errorOf(await bob.cancel(id))).toMatchObject({ code: "ORDER_NOT_FOUND", status: 404 });
  });

  it("of all ends every open order, oldest first", async () => {
    orThrow(await alice.cancelAll());
    const first = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 }));
    const second = orThrow(await alice.place({ tokenId: no, side: "BUY", price: 0.3, size: 10 }));
    expect(orThrow(await alice.cancelAll()).canceled).toEqual([first.id, second.id]);
    expect(orThrow(await alice.openOrders()).total).toBe(0);
  });
});

describe("credentials", () => {
  it("are derived anew each time, and earlier ones stay valid", async () => {
    const client = await openTrader(api, 13);
    const first = client.credentials;
    const second = orThrow(await client.derive(1));
    expect(second).toMatchObject({ address: wallet(13).address });
    expect(second.apiKey).not.toBe(first?.apiKey);
    expect(client.credentials).toEqual(second);
    const earlier = new ExchangeClient(api.server.url, { credentials: first as typeof second, time: atT0 });
    expect(orThrow(await earlier.openOrders()).total).toBe(0);
    earlier.close();
  });

  it("can be given instead of derived, and need no wallet then", async () => {
    const { credentials } = await openTrader(api, 14);
    const client = new ExchangeClient(api.server.url, {
      credentials: credentials as NonNullable<typeof credentials>,
      time: atT0,
      transport: checked(api),
    });
    const order = { tokenId: yes, side: "BUY", price: 0.3, size: 10 } as const;
    expect(orThrow(await client.place(order)).status).toBe("LIVE");
  });

  it.each([137, 80002, 31337])("are signed for chain %i when the client is told so", async (chainId) => {
    const client = await openTrader(api, 15, { chainId });
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("are derived from the bare sentence too", async () => {
    const client = new ExchangeClient(api.server.url, { account: wallet(16), transport: checked(api) });
    expect(orThrow(await client.derive(0, "personal-sign")).apiKey).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("are not derived for another chain than the service's", async () => {
    const account = wallet(17);
    const client = new ExchangeClient(api.server.url, { account, time: atT0, chainId: 1 });
    expect(errorOf(await client.derive())).toMatchObject({ code: "INVALID_WALLET_SIGNATURE", status: 401 });
    expect(client.credentials).toBeNull();
    client.close();
  });

  it("are unknown after a reset, and the error says what to do", async () => {
    const own = await startApi();
    const client = await openTrader(own, 1);
    orThrow(await client.control.reset());
    expect(errorOf(await client.cancelAll())).toMatchObject({ code: "UNKNOWN_API_KEY", status: 401 });
    orThrow(await client.derive());
    expect(orThrow(await client.cancelAll()).canceled).toEqual([]);
    await own.close();
  });
});

it("a book's types are those of the contract", () => {
  expectTypeOf<Book["bids"][number]>().toEqualTypeOf<{ price: number; size: number; orders: number }>();
});
