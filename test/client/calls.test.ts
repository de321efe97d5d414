import { beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import type { PlacedOrder } from "../../src/client/api-messages.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { wallet } from "../server/wallet.ts";
import { useApi, yesOf } from "../support/http.ts";
import { atT0, checked, errorOf, openTrader } from "./open.ts";

const api = useApi();
let alice: ExchangeClient;
let bob: ExchangeClient;
let yes = "";
let marketId = "";

beforeAll(async () => {
  [alice, bob] = await Promise.all([openTrader(api, 11), openTrader(api, 12)]);
});
beforeEach(async () => {
  orThrow(await alice.control.clearFaults());
  const market = orThrow(await alice.control.createMarket({ question: "Will it rain?", feeRateBps: 20 }));
  marketId = market.id;
  yes = yesOf(market);
});

describe("placing an order", () => {
  it("returns the order with the types of the contract", async () => {
    const placed = orThrow(await alice.place({ tokenId: yes, side: "BUY", price: 0.55, size: 100 }));
    expect(placed).toMatchObject({ status: "LIVE", marketId, tokenId: yes, orderType: "GTC", trades: [] });
    expectTypeOf(placed).toEqualTypeOf<PlacedOrder>();
  });

  it("returns a refusal as a value, with the message of the server", async () => {
    const order = { tokenId: yes, side: "BUY", price: 0.555, size: 1 } as const;
    expect(errorOf(await alice.place(order))).toEqual({
      ...{ code: "INVALID_TICK_SIZE", message: "price 0.555 is not a multiple of the tick size 0.01" },
      ...{ status: 400, hint: "nearest valid prices: 0.55, 0.56", details: { price: 0.555, tickSize: 0.01 } },
      ...{ requestId: expect.stringMatching(/^req-\d+$/), retryAfter: null },
    });
  });
});

describe("credentials", () => {
  it("are new after each derivation, and earlier ones stay valid", async () => {
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

  it.each([137, 80002, 31337])("are signed for chain %i with the option chainId", async (chainId) => {
    const client = await openTrader(api, 15, { chainId });
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("can be derived by personal_sign", async () => {
    const client = new ExchangeClient(api.server.url, { account: wallet(16), transport: checked(api) });
    expect(orThrow(await client.derive(0, "personal-sign")).apiKey).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("are refused for another chain", async () => {
    const account = wallet(17);
    const client = new ExchangeClient(api.server.url, { account, time: atT0, chainId: 1 });
    expect(errorOf(await client.derive())).toMatchObject({ code: "INVALID_WALLET_SIGNATURE", status: 401 });
    expect(client.credentials).toBeNull();
    client.close();
  });
});

describe("quotes", () => {
  it("have best bid, best ask, mid, spread and last trade of a token", async () => {
    const tokenId = yes;
    orThrow(await alice.place({ tokenId, side: "BUY", price: 0.4, size: 100 }));
    orThrow(await alice.place({ tokenId, side: "SELL", price: 0.5, size: 100 }));
    orThrow(await bob.place({ tokenId, side: "SELL", price: 0.4, size: 30 }));
    expect(orThrow(await alice.quotes(tokenId))).toEqual({
      ...{ tokenId, bestBid: 0.4, bestAsk: 0.5, mid: 0.45, spread: 0.1 },
      ...{ lastTradePrice: 0.4, side: "SELL", tradedAt: "2026-01-01T00:00:00.000Z" },
    });
    expect(orThrow(await alice.book(tokenId)).bids).toEqual([{ price: 0.4, size: 70, orders: 1 }]);
    expect(orThrow(await alice.tickSize(tokenId)).tickSize).toBe(0.01);
    expect(orThrow(await alice.feeRate(tokenId)).feeRateBps).toBe(20);
  });

  it.each(["price", "midpoint", "spread", "last-trade-price"])("are an error if %s is one", async (part) => {
    const reader = new ExchangeClient("http://127.0.0.1:1", {
      transport: async ({ path }) =>
        path.startsWith(`/clob/${part}?`)
          ? { status: 404, headers: {}, text: '{"error":"none","code":"TOKEN_NOT_FOUND"}' }
          : { status: 200, headers: {}, text: "{}" },
    });
    expect(errorOf(await reader.quotes("1")).code).toBe("TOKEN_NOT_FOUND");
  });
});

describe("an injected fault", () => {
  const place = () => alice.place({ tokenId: yes, side: "BUY", price: 0.5, size: 10 });

  it("is an error with its code, its hint and the seconds of Retry-After", async () => {
    orThrow(await alice.control.addFault({ route: "POST /order", status: 429, retryAfter: 12, times: 1 }));
    const hint = expect.stringMatching(/fault-\d+/);
    const limited = { code: "RATE_LIMITED", status: 429, hint, retryAfter: 12 };
    expect(errorOf(await place())).toMatchObject(limited);
    orThrow(await alice.control.addFault({ route: "POST /order", status: 500, times: 1 }));
    expect(errorOf(await place())).toMatchObject({ code: "INTERNAL_ERROR", retryAfter: null });
  });

  it("drops the reply of an order that was placed, and the client does not send it again", async () => {
    const { total } = orThrow(await alice.openOrders());
    orThrow(await alice.control.addFault({ route: "POST /order", drop: "reply", times: 1 }));
    expect(errorOf(await place()).code).toBe("CONNECTION_LOST");
    expect(orThrow(await alice.openOrders()).total).toBe(total + 1);
  });
});

it("simToken is sent only to the control plane", async () => {
  const sent: string[] = [];
  const client = new ExchangeClient("http://127.0.0.1:1", {
    simToken: "open-sesame",
    transport: async ({ path, headers }) => {
      sent.push(`${path} ${headers.some(([name]) => name === "x-sim-token")}`);
      return { status: 200, headers: {}, text: "{}" };
    },
  });
  await client.serverTime();
  await client.control.info();
  expect(sent).toEqual(["/clob/time false", "/sim true"]);
});
