import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Api, startApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import type { Account, Book, CancelResult, OrderPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

let api: Api;
let trader: Trader;
let other: Trader;
let tokenId: string;
let order: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
  other = await deriveTrader(api, 2);
});
afterAll(() => api.close());

beforeEach(async () => {
  tokenId = (await api.createMarket()).tokens[0]?.tokenId ?? "";
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

const bookOf = (token: string): Promise<Book> => api.get(`/clob/book?token_id=${token}`);

describe("the state that an order meets", () => {
  it(titleOf("O18"), async () => {
    const account = await api.get<Account>(`/sim/accounts/${trader.address}`);
    const { balance, available, reserved } = account.collateral;
    const size = Math.ceil(available / 0.5) + 1;
    const { body } = await trader.refused({ ...order, size }, ...refusalOf("O18"));
    expect(body.details).toEqual({ asset: "USDC", required: size * 0.5, available, balance, reserved });
    await trader.place({ ...order, side: "SELL", price: 0.9, size: 100 });
    const sale = await trader.refused({ ...order, side: "SELL", size: 9901 }, ...refusalOf("O18"));
    expect(sale.body.details).toMatchObject({
      required: 9901,
      available: 9900,
      balance: 10_000,
      reserved: 100,
    });
  });

  it(titleOf("O19"), async () => {
    await other.place({ ...order, side: "SELL", size: 99 });
    const { sequence, hash } = await bookOf(tokenId);
    const placed = await trader.place({ ...order, size: 100, orderType: "FOK" });
    expect(placed).toMatchObject({ status: "CANCELED", cancelReason: "FOK_UNFILLED", trades: [] });
    expect(await bookOf(tokenId)).toMatchObject({ sequence, hash });
  });

  it(titleOf("O20"), async () => {
    await other.place({ ...order, side: "SELL", size: 40 });
    const placed = await trader.place({ ...order, size: 100, orderType: "FAK" });
    expect(placed).toMatchObject({
      status: "MATCHED",
      sizeMatched: 40,
      sizeRemaining: 60,
      cancelReason: "FAK_REMAINDER",
    });
    expect(await bookOf(tokenId)).toMatchObject({ bids: [], asks: [] });
  });

  it(titleOf("O21"), async () => {
    const { id } = await other.place(order);
    const unknown = id.replace(/\d{12}$/, "000000999999");
    const refusal = async (orderId: string): Promise<string> => {
      const reply = await api.refused(
        trader.signed("DELETE", "/clob/order", { orderId }),
        ...refusalOf("O21"),
      );
      return reply.text.replace(orderId, "ID").replace(reply.body.requestId, "REQUEST");
    };
    expect(await refusal(id)).toBe(await refusal(unknown));
    for (const odd of ["nothing", "__proto__", `${id}0`, id.toUpperCase().replace(/^/, " ")])
      await refusal(odd);
  });

  it(titleOf("O22"), async () => {
    const free = (await api.get<Account>(`/sim/accounts/${trader.address}`)).collateral;
    for (let round = 0; round < 100; round += 1) {
      const { id } = await trader.place(order);
      const request = trader.signed("DELETE", "/clob/order", { orderId: id });
      const replies = await Promise.all([api.send<CancelResult>(request), api.send<CancelResult>(request)]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(replies.flatMap(({ body }) => body.canceled)).toEqual([id]);
      const reasons = replies.flatMap(({ body }) => Object.entries(body.notCanceled));
      expect(reasons).toEqual([[id, "already canceled"]]);
    }
    expect((await api.get<Account>(`/sim/accounts/${trader.address}`)).collateral).toEqual(free);
  });

  it("O22, too: a DELETE racing the fill that completes the order", async () => {
    const { reserved } = (await api.get<Account>(`/sim/accounts/${trader.address}`)).collateral;
    for (let round = 0; round < 20; round += 1) {
      const { id } = await trader.place(order);
      const [cancel, fill] = await Promise.all([
        api.send<CancelResult>(trader.signed("DELETE", "/clob/order", { orderId: id })),
        api.send<PlacedOrder>(
          other.signed("POST", "/clob/order", { ...order, side: "SELL", orderType: "FOK" }),
        ),
      ]);
      const isCanceled = cancel.body.canceled.includes(id);
      expect(fill.body.status).toBe(isCanceled ? "CANCELED" : "MATCHED");
      if (!isCanceled) expect(cancel.body.notCanceled).toEqual({ [id]: "already matched" });
    }
    expect((await api.get<Account>(`/sim/accounts/${trader.address}`)).collateral.reserved).toBe(reserved);
    expect((await trader.ask<OrderPage>("GET", `/clob/orders?token_id=${tokenId}`)).total).toBe(0);
  });
});
