import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failureOf, post, rpc } from "./rpc.ts";
import { openSocket, type RpcSocket, type Told } from "./rpc-socket.ts";
import { ONE, openChain, type ViemChain } from "./viem-clients.ts";

let chain: ViemChain;
let socket: RpcSocket;

beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain.close());
beforeEach(async () => {
  socket?.close();
  await chain.node.mine({ blocks: 3 });
  socket = await openSocket(chain.api);
});

const pay = (usdc: bigint) =>
  chain.alice.writeContract({
    ...{ ...chain.collateral, functionName: "transfer", args: [chain.bob.account.address, usdc * ONE] },
  });
const reorganize = (depth: number) => chain.api.post("/sim/chain/faults", { kind: "reorg", depth });
const head = () => chain.reader.getBlock();

interface Head {
  readonly hash: string;
  readonly number: string;
  readonly parentHash: string;
}

interface ToldLog {
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly removed: boolean;
}

/** What a subscription was told, once it is so much. */
async function toldTo<Result>(id: string, count: number): Promise<readonly Result[]> {
  const of = (told: readonly Told[]) => told.filter(({ subscription }) => subscription === id);
  return of(await socket.told.until((told) => of(told).length >= count)).map(
    ({ result }) => result as Result,
  );
}

const marks = (logs: readonly ToldLog[]) =>
  logs.map(({ transactionHash, blockHash, removed }) => [transactionHash, blockHash, removed]);

describe("newHeads", () => {
  it("tells the header of each new block, those mined at once included, as getBlock does", async () => {
    const id = await socket.subscribe("newHeads");
    await chain.node.mine({ blocks: 3 });
    const heads = await toldTo<Head>(id, 3);
    for (const told of heads) {
      const block = await socket.result<object>("eth_getBlockByHash", told.hash, false);
      expect(block).toMatchObject(told);
    }
    expect(heads[2]?.hash).toBe((await head()).hash);
    expect(heads[0]).not.toHaveProperty("transactions");
  });

  it("tells the blocks that a reorganization puts in the place of others, once each", async () => {
    const id = await socket.subscribe("newHeads");
    await chain.node.mine({ blocks: 2 });
    await toldTo(id, 2);
    await reorganize(2);
    await chain.node.mine({ blocks: 1 });
    const [first, second, ...after] = await toldTo<Head>(id, 5);
    expect(after.map(({ number }) => number)).toEqual([first?.number, second?.number, expect.anything()]);
    expect(after[0]?.parentHash).toBe(first?.parentHash);
    expect(after[2]?.hash).toBe((await head()).hash);
  });

  it("goes on from where evm_revert went back to, and tells nothing that was told before", async () => {
    const id = await socket.subscribe("newHeads");
    const snapshot = await socket.result("evm_snapshot");
    await chain.node.mine({ blocks: 2 });
    const [before] = await toldTo<Head>(id, 2);
    await socket.result("evm_revert", snapshot);
    await pay(1n);
    await chain.node.mine({ blocks: 1 });
    const heads = await toldTo<Head>(id, 3);
    expect(heads[2]?.number).toBe(before?.number);
    expect(heads[2]?.hash).not.toBe(before?.hash);
  });

  it("goes on after a reset", async () => {
    const own = await openChain();
    const client = await openSocket(own.api);
    await client.subscribe("newHeads");
    await own.api.post("/sim/reset");
    await own.node.mine({ blocks: 1 });
    const told = await client.told.until((all) => all.length > 0);
    const { hash } = await own.reader.getBlock();
    expect(told.at(-1)?.result).toMatchObject({ hash });
    await own.close();
  });
});

describe("where what is told must be on the disk first", () => {
  it("each head is told once, in order, and after the answer to what mined it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "clobsim-told-"));
    const own = await openChain({ data: join(folder, "data"), durability: "power" });
    const client = await openSocket(own.api);
    await client.subscribe("newHeads");
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.call("evm_mine")));
    expect(answers.map(({ result }) => result)).toEqual(Array(20).fill("0x0"));
    const numbers = (await client.told.count(20)).map(({ result }) => Number((result as Head).number));
    const last = Number((await own.reader.getBlock()).number);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => last - 19 + index));
    await own.close();
    rmSync(folder, { recursive: true });
  });
});

describe("logs", () => {
  it("are told one by one as eth_getLogs answers them", async () => {
    const address = chain.collateral.address;
    const id = await socket.subscribe("logs", { address });
    for (const usdc of [1n, 2n]) await pay(usdc);
    await chain.node.mine({ blocks: 1 });
    const told = await toldTo(id, 2);
    expect(told).toEqual(await socket.result("eth_getLogs", { address }));
  });

  it("that a reorganization takes away are told again, removed, and then of their new block", async () => {
    const id = await socket.subscribe("logs", { address: chain.collateral.address });
    const hash = await pay(1n);
    const { blockHash } = await chain.mined(hash);
    await toldTo(id, 1);
    await reorganize(1);
    await toldTo(id, 2);
    await chain.node.mine({ blocks: 1 });
    const after = await chain.reader.getTransactionReceipt({ hash });
    expect(marks(await toldTo<ToldLog>(id, 3))).toEqual([
      [hash, blockHash, false],
      [hash, blockHash, true],
      [hash, after.blockHash, false],
    ]);
  });

  it("of a history that was put back are not taken back", async () => {
    const id = await socket.subscribe("logs", { address: chain.collateral.address });
    const snapshot = await socket.result("evm_snapshot");
    await chain.mined(await pay(1n));
    await toldTo(id, 1);
    await socket.result("evm_revert", snapshot);
    const hash = await pay(2n);
    const { blockHash } = await chain.mined(hash);
    expect(marks(await toldTo<ToldLog>(id, 2)).at(1)).toEqual([hash, blockHash, false]);
  });
});

describe("newPendingTransactions", () => {
  it("tells hashes, or whole transactions where those are asked for, before they are mined", async () => {
    const hashes = await socket.subscribe("newPendingTransactions");
    const whole = await socket.subscribe("newPendingTransactions", true);
    const hash = await pay(1n);
    expect(await toldTo(hashes, 1)).toEqual([hash]);
    expect(await toldTo(whole, 1)).toEqual([await socket.result("eth_getTransactionByHash", hash)]);
  });

  it("tells what comes after evm_revert took others away", async () => {
    const id = await socket.subscribe("newPendingTransactions");
    const snapshot = await socket.result("evm_snapshot");
    for (const usdc of [1n, 2n]) await pay(usdc);
    await toldTo(id, 2);
    await socket.result("evm_revert", snapshot);
    const hash = await pay(3n);
    expect((await toldTo(id, 3)).at(2)).toBe(hash);
  });
});

describe("a subscription", () => {
  it("is answered before it is told anything, and tells nothing after it has ended", async () => {
    const id = await socket.subscribe("newHeads");
    expect(await socket.result("eth_unsubscribe", id)).toBe(true);
    await chain.node.mine({ blocks: 1 });
    const other = await socket.subscribe("newHeads");
    await chain.node.mine({ blocks: 1 });
    await toldTo(other, 1);
    expect((await socket.told.count(1)).map(({ subscription }) => subscription)).toEqual([other]);
    expect((await socket.call("eth_unsubscribe", id)).error).toEqual({
      code: -32000,
      message: "subscription not found",
    });
  });

  it.each([
    ["of a kind that nodes do not have", ["syncing"], -32601, 'no "syncing" subscription in eth namespace'],
    ["without a kind", [], -32602, "eth_subscribe takes 1 to 2 parameters, found 0"],
    ["to heads of something", ["newHeads", {}], -32602, "a subscription to newHeads has no options"],
    [
      "to logs of what is no address",
      ["logs", { address: "0x1" }],
      -32602,
      expect.stringContaining("address"),
    ],
    ["to pending transactions of a number", ["newPendingTransactions", 1], -32602, expect.anything()],
  ])("%s is refused", async (_what, params, code, message) => {
    expect((await socket.call("eth_subscribe", ...params)).error).toEqual({ code, message });
  });

  it("is one of at most 1,000 of its connection", async () => {
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
