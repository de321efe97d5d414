import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock, OrderPage, StateHash } from "../server/replies.ts";
import { deriveTrader, type Trader } from "../server/trader.ts";
import { type Api, startApi } from "../support/http.ts";
import { failureOf, resultOf } from "./rpc.ts";

let api: Api;
let trader: Trader;
let tokenId: string;

beforeEach(async () => {
  api = await startApi({ settlement: "manual" });
  trader = await deriveTrader(api, 1);
  tokenId = await api.newToken();
});
afterEach(() => api.close());

const call = <Result>(method: string, ...params: unknown[]) => resultOf<Result>(api, method, ...params);
const state = (): Promise<StateHash> => api.get("/sim/state/hash");
const place = () => trader.place({ tokenId, side: "BUY", price: 0.5, size: 5, orderType: "GTC" });

describe("evm_revert", () => {
  it("restores the whole exchange: orders, markets, blocks and the clock", async () => {
    const read = async () => ({
      state: await state(),
      orders: (await trader.ask<OrderPage>("GET", "/clob/orders")).total,
      height: await call("eth_blockNumber"),
      time: (await api.get<Clock>("/sim/clock")).unixTime,
    });
    const before = await read();
    const snapshot = await call("evm_snapshot");
    await place();
    const { id } = await api.createMarket();
    await call("anvil_mine", "0x5");
    await call("evm_increaseTime", 3_600);
    const after = await read();
    expect([after.orders, after.time]).toEqual([1, before.time + 3_600]);
    expect(await call("evm_revert", snapshot)).toBe(true);
    expect(await read()).toEqual(before);
    expect((await api.send(`GET /api/markets/${id}`)).status).toBe(404);
  });

  it("restores a filter of pending transactions, although the head is the same", async () => {
    const [dev] = await call<string[]>("eth_accounts");
    const send = () => call<string>("eth_sendTransaction", { from: dev, to: dev });
    const filter = await call("eth_newPendingTransactionFilter");
    const snapshot = await call("evm_snapshot");
    const first = await send();
    expect(await call("eth_getFilterChanges", filter)).toEqual([first]);
    await call("evm_revert", snapshot);
    const second = await send();
    expect(await call("eth_getFilterChanges", filter)).toEqual([second]);
  });

  it("no longer counts seconds added since", async () => {
    await call("evm_increaseTime", 100);
    const snapshot = await call("evm_snapshot");
    expect(await call("evm_increaseTime", 50)).toBe(150);
    await call("evm_revert", snapshot);
    expect(await call("evm_increaseTime", 1)).toBe(101);
  });

  it("deletes snapshots, which anvil_metadata lists with their latest block", async () => {
    const [first, second] = [await call("evm_snapshot"), await call("evm_snapshot")];
    const { number, hash } = (await call("eth_getBlockByNumber", "latest", false)) as Record<string, string>;
    const listed = async () => ((await call("anvil_metadata")) as { snapshots: object }).snapshots;
    const latest = [Number(number), hash];
    expect(await listed()).toMatchObject({ [String(first)]: latest, [String(second)]: latest });
    await call("evm_revert", second);
    expect(Object.keys(await listed())).not.toContain(second);
  });

  it("returns false for a snapshot that was used, is later than one used, was reset, or never existed", async () => {
    const [first, second] = [await call("evm_snapshot"), await call("evm_snapshot")];
    const reverted = [await call("evm_revert", first), await call("evm_revert", first)];
    expect([...reverted, await call("evm_revert", second)]).toEqual([true, false, false]);
    const third = await call("evm_snapshot");
    await place();
    const before = await state();
    expect(await call("evm_revert", "0x63")).toBe(false);
    expect((await failureOf(api, "evm_revert", "first")).code).toBe(-32602);
    expect(await state()).toEqual(before);
    await api.post("/sim/reset", {});
    expect(await call("evm_revert", third)).toBe(false);
  });
});

it("a reset deletes filters and impersonations", async () => {
  const address = trader.address.toLowerCase();
  const filter = await call("eth_newBlockFilter");
  await call("anvil_impersonateAccount", address);
  expect(await call("eth_accounts")).toContain(address);
  await api.post("/sim/reset", {});
  expect((await failureOf(api, "eth_getFilterChanges", filter)).message).toBe("filter not found");
  expect(await call("eth_accounts")).not.toContain(address);
});
