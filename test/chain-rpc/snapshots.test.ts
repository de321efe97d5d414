import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock, Market, OrderPage, StateHash } from "../server/replies.ts";
import { deriveTrader, type Trader } from "../server/trader.ts";
import { type Api, startApi } from "../support/http.ts";
import { failureOf, resultOf } from "./rpc.ts";

let api: Api;
let trader: Trader;
let market: Market;

beforeEach(async () => {
  api = await startApi({ settlement: "manual" });
  trader = await deriveTrader(api, 1);
  market = await api.createMarket();
});
afterEach(() => api.close());

const state = (): Promise<StateHash> => api.get("/sim/state/hash");
const place = () =>
  trader.place({ tokenId: market.tokens[0]?.tokenId, side: "BUY", price: 0.5, size: 5, orderType: "GTC" });
const openOrders = async (): Promise<number> => (await trader.ask<OrderPage>("GET", "/clob/orders")).total;

describe("evm_revert restores the whole exchange:", () => {
  it("an order placed since is gone, and the state is the same as before", async () => {
    const before = await state();
    const snapshot = await resultOf(api, "evm_snapshot");
    await place();
    expect(await openOrders()).toBe(1);
    expect(await resultOf(api, "evm_revert", snapshot)).toBe(true);
    expect(await openOrders()).toBe(0);
    expect(await state()).toEqual(before);
  });

  it("a filter of pending transactions reports those that follow, although the head is the same", async () => {
    const [dev] = await resultOf<string[]>(api, "eth_accounts");
    const send = () => resultOf<string>(api, "eth_sendTransaction", { from: dev, to: dev });
    const filter = await resultOf(api, "eth_newPendingTransactionFilter");
    const snapshot = await resultOf(api, "evm_snapshot");
    const first = await send();
    expect(await resultOf(api, "eth_getFilterChanges", filter)).toEqual([first]);
    await resultOf(api, "evm_revert", snapshot);
    const second = await send();
    expect(await resultOf(api, "eth_getFilterChanges", filter)).toEqual([second]);
  });

  it("a market created since and blocks mined since are gone", async () => {
    const before = await state();
    const head = await resultOf(api, "eth_blockNumber");
    const snapshot = await resultOf(api, "evm_snapshot");
    const { id } = await api.createMarket();
    await resultOf(api, "anvil_mine", "0x5");
    await resultOf(api, "evm_revert", snapshot);
    expect(await resultOf(api, "eth_blockNumber")).toBe(head);
    expect((await api.send(`GET /api/markets/${id}`)).status).toBe(404);
    expect(await state()).toEqual(before);
  });

  it("the clock is restored", async () => {
    const { unixTime } = await api.get<Clock>("/sim/clock");
    const snapshot = await resultOf(api, "evm_snapshot");
    await resultOf(api, "evm_increaseTime", 3_600);
    expect((await api.get<Clock>("/sim/clock")).unixTime).not.toBe(unixTime);
    await resultOf(api, "evm_revert", snapshot);
    expect((await api.get<Clock>("/sim/clock")).unixTime).toBe(unixTime);
  });

  it("seconds added since are no longer counted", async () => {
    await resultOf(api, "evm_increaseTime", 100);
    const snapshot = await resultOf(api, "evm_snapshot");
    expect(await resultOf(api, "evm_increaseTime", 50)).toBe(150);
    await resultOf(api, "evm_revert", snapshot);
    expect(await resultOf(api, "evm_increaseTime", 1)).toBe(101);
  });

  it("the same requests afterwards have the same results", async () => {
    const snapshot = await resultOf(api, "evm_snapshot");
    const first = await place();
    await resultOf(api, "evm_mine");
    const after = await state();
    await resultOf(api, "evm_revert", snapshot);
    expect(await place()).toEqual(first);
    await resultOf(api, "evm_mine");
    expect(await state()).toEqual(after);
  });
});

it("a reset deletes filters and impersonations", async () => {
  const filter = await resultOf(api, "eth_newBlockFilter");
  await resultOf(api, "anvil_impersonateAccount", trader.address);
  expect(await resultOf(api, "eth_accounts")).toContain(trader.address.toLowerCase());
  await api.post("/sim/reset", {});
  expect((await failureOf(api, "eth_getFilterChanges", filter)).message).toBe("filter not found");
  expect(await resultOf(api, "eth_accounts")).not.toContain(trader.address.toLowerCase());
});

describe("a snapshot of evm_snapshot", () => {
  it("can be used once", async () => {
    const snapshot = await resultOf(api, "evm_snapshot");
    expect(await resultOf(api, "evm_revert", snapshot)).toBe(true);
    expect(await resultOf(api, "evm_revert", snapshot)).toBe(false);
  });

  it("is deleted by reverting to an earlier one", async () => {
    const [first, second] = [await resultOf(api, "evm_snapshot"), await resultOf(api, "evm_snapshot")];
    expect(await resultOf(api, "evm_revert", first)).toBe(true);
    expect(await resultOf(api, "evm_revert", second)).toBe(false);
  });

  it("that does not exist changes nothing", async () => {
    await place();
    const before = await state();
    expect(await resultOf(api, "evm_revert", "0x63")).toBe(false);
    expect((await failureOf(api, "evm_revert", "first")).code).toBe(-32602);
    expect(await state()).toEqual(before);
  });

  it("is deleted when the exchange is reset", async () => {
    const snapshot = await resultOf(api, "evm_snapshot");
    await api.post("/sim/reset", {});
    expect(await resultOf(api, "evm_revert", snapshot)).toBe(false);
  });
});
