import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { type Answer, failureOf, post, rpc } from "./rpc.ts";
import { type Notification, openSocket, type RpcSocket } from "./rpc-socket.ts";
import { openChain, useChain } from "./viem-clients.ts";

const folder = temporaryFolder();
const chain = await useChain();
let socket: RpcSocket;

beforeEach(async () => {
  socket?.close();
  await chain.node.mine({ blocks: 3 });
  socket = await openSocket(chain.api);
});

const head = () => chain.reader.getBlock();

type Head = Readonly<Record<"hash" | "number" | "parentHash", string>>;

/** Waits for a number of notifications of a subscription and returns their results. */
async function resultsOf<Result>(id: string, count: number): Promise<readonly Result[]> {
  const own = (all: readonly Notification[]) => all.filter(({ subscription }) => subscription === id);
  return own(await socket.notifications.until((all) => own(all).length >= count)).map(
    ({ result }) => result as Result,
  );
}

describe("newHeads", () => {
  it("reports a block before the next request of the connection, which may replace it", async () => {
    const id = await socket.subscribe("newHeads");
    const { number } = await head();
    const requests = [["evm_mine"], ["anvil_reorg", "0x1", []], ["evm_snapshot"], ["evm_mine"]] as const;
    await Promise.all(requests.map(([method, ...params]) => socket.result(method, ...params)));
    const heads = await resultsOf<Head>(id, 3);
    expect(heads.map((head) => BigInt(head.number) - number)).toEqual([1n, 1n, 2n]);
    expect(heads[1]?.parentHash).toBe(heads[0]?.parentHash);
    expect(heads[2]?.hash).toBe((await head()).hash);
  });

  it("continues after a reset", async () => {
    const own = await openChain();
    const client = await openSocket(own.api);
    await client.subscribe("newHeads");
    await own.api.post("/sim/reset");
    await own.node.mine({ blocks: 1 });
    const received = await client.notifications.until((all) => all.length > 0);
    const { hash } = await own.reader.getBlock();
    expect(received.at(-1)?.result).toMatchObject({ hash });
    await own.close();
  });
});

it("with durability power each head is reported once, in order, and after the answer to the call that mined it", async () => {
  const own = await openChain({ data: join(folder, "data"), durability: "power" });
  const client = await openSocket(own.api);
  await client.subscribe("newHeads");
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call("evm_mine")));
  expect(answers.map(({ result }) => result)).toEqual(Array(20).fill("0x0"));
  const numbers = (await client.notifications.count(20)).map(({ result }) => Number((result as Head).number));
  const last = Number((await own.reader.getBlock()).number);
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => last - 19 + index));
  await own.close();
});

it("logs of a reverted history are not reported as removed", async () => {
  const id = await socket.subscribe("logs", { address: chain.collateral.address });
  const snapshot = await socket.result("evm_snapshot");
  await chain.mined(await chain.pay(1n));
  await resultsOf(id, 1);
  await socket.result("evm_revert", snapshot);
  const hash = await chain.pay(2n);
  const { blockHash } = await chain.mined(hash);
  const [, second] = await resultsOf(id, 2);
  expect(second).toMatchObject({ transactionHash: hash, blockHash, removed: false });
});

describe("newPendingTransactions", () => {
  it("reports hashes, or on request whole transactions, before they are mined", async () => {
    const hashes = await socket.subscribe("newPendingTransactions");
    const whole = await socket.subscribe("newPendingTransactions", true);
    const hash = await chain.pay(1n);
    expect(await resultsOf(hashes, 1)).toEqual([hash]);
    expect(await resultsOf(whole, 1)).toEqual([await socket.result("eth_getTransactionByHash", hash)]);
  });

  it("reports transactions that follow after evm_revert has removed others", async () => {
    const id = await socket.subscribe("newPendingTransactions");
    const snapshot = await socket.result("evm_snapshot");
    for (const usdc of [1n, 2n]) await chain.pay(usdc);
    await resultsOf(id, 2);
    await socket.result("evm_revert", snapshot);
    const hash = await chain.pay(3n);
    expect((await resultsOf(id, 3)).at(2)).toBe(hash);
  });

  it("reports a transaction that takes the number of a reverted one in the same batch", async () => {
    const [dev] = await socket.result<string[]>("eth_accounts");
    const sending = rpc("eth_sendTransaction", [{ from: dev, to: dev }]);
    const id = await socket.subscribe("newPendingTransactions");
    const snapshot = await socket.result("evm_snapshot");
    await post(chain.api, sending);
    await resultsOf(id, 1);
    const { body } = await post<Answer[]>(chain.api, [rpc("evm_revert", [snapshot]), sending]);
    expect((await resultsOf(id, 2)).at(1)).toBe(body[1]?.result);
  });

  it("reports a transaction as it was while pending, although it is mined in the same batch", async () => {
    const [dev] = await socket.result<string[]>("eth_accounts");
    const fees = { maxFeePerGas: "0x12a05f200", maxPriorityFeePerGas: "0x3b9aca00" };
    const id = await socket.subscribe("newPendingTransactions", true);
    const sending = rpc("eth_sendTransaction", [{ from: dev, to: dev, ...fees }]);
    const { body } = await post<Answer[]>(chain.api, [sending, rpc("evm_mine", [])]);
    const position = { blockHash: null, blockNumber: null, transactionIndex: null };
    const pending = { hash: body[0]?.result, ...fees, gasPrice: fees.maxFeePerGas, ...position };
    expect(await resultsOf(id, 1)).toEqual([expect.objectContaining(pending)]);
    const mined = await socket.result("eth_getTransactionByHash", body[0]?.result);
    expect(mined).toMatchObject({ gasPrice: "0x77359400", blockNumber: expect.any(String) });
  });
});

describe("a subscription", () => {
  const ADDRESS = "address: expected an address of 20 bytes";

  it("is answered before its first notification, and has none after its end", async () => {
    const id = await socket.subscribe("newHeads");
    expect(await socket.result("eth_unsubscribe", id)).toBe(true);
    await chain.node.mine({ blocks: 1 });
    const other = await socket.subscribe("newHeads");
    await chain.node.mine({ blocks: 1 });
    await resultsOf(other, 1);
    expect((await socket.notifications.count(1)).map(({ subscription }) => subscription)).toEqual([other]);
    expect((await socket.call("eth_unsubscribe", id)).error).toEqual({
      code: -32000,
      message: "subscription not found",
    });
  });

  it.each([
    ["of an unknown kind", ["syncing"], -32601, 'no "syncing" subscription in eth namespace'],
    ["without a kind", [], -32602, "eth_subscribe takes 1 to 2 parameters (subscription, options?), found 0"],
    ["to heads with options", ["newHeads", {}], -32602, "a subscription to newHeads has no options"],
    ["to logs of no address", ["logs", { address: "0x1" }], -32602, `${ADDRESS}, found the string "0x1"`],
    ["to pending transactions with a number", ["newPendingTransactions", 1], -32602, expect.anything()],
  ])("%s is refused", async (_case, params, code, message) => {
    expect((await socket.call("eth_subscribe", ...params)).error).toEqual({ code, message });
  });

  it("cannot be the 1,001st of its connection", async () => {
    const batch = Array.from({ length: 1_000 }, (_, id) => rpc("eth_subscribe", ["newHeads"], id));
    await socket.send(JSON.stringify(batch));
    expect((await socket.call("eth_subscribe", "newHeads")).error?.code).toBe(-32005);
    expect(await socket.result("eth_unsubscribe", "0x1")).toBe(true);
    expect((await socket.call("eth_subscribe", "newHeads")).result).toBe("0x3e9");
  });

  it.each(["eth_subscribe", "eth_unsubscribe"])(
    "needs a connection: %s over HTTP is refused",
    async (method) => {
      expect(await failureOf(chain.api, method, "newHeads")).toEqual({
        code: -32601,
        message: "notifications not supported: subscribe over WebSocket",
      });
      const { body } = await post<object>(chain.api, [rpc(method, ["logs"]), rpc("eth_chainId", [], 2)]);
      expect(body).toMatchObject([{ error: { code: -32601 } }, { result: "0x7a69" }]);
    },
  );
});
