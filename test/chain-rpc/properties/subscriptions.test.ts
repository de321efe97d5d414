import fc from "fast-check";
import { expect, it } from "vitest";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { quantity } from "../../../src/chain-rpc/json-rpc.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import { Slices } from "../../../src/engine/clock.ts";
import type { Snapshot } from "../../../src/engine/exchange.ts";
import { anySettlement, histories, play } from "../../core/chain/chain-moves.ts";
import { forAllAsync, runs } from "../../support/runs.ts";
import { ask, call, openNode } from "./node.ts";

type Head = Readonly<Record<"hash" | "number", string>>;
type SubscribedLog = Readonly<Record<"blockHash" | "blockNumber" | "logIndex", string>>;

/** A client that accepts a limited number of notifications at a time, with the chain as it knows it from them. */
class Follower {
  room: number;
  /** Heads by height, and logs by block and index, after all notifications. */
  readonly heads = new Map<string, Head>();
  readonly logs = new Map<string, SubscribedLog>();
  readonly #each: number;
  readonly #client;

  constructor(node: ChainNode, each: number) {
    this.#each = each;
    this.room = each;
    const follower = this;
    this.#client = node.connect({
      get hasRoom() {
        return follower.room > 0;
      },
      send: (text) => this.#take(String(text)),
      fail: (defect) => {
        throw defect;
      },
    });
  }

  async subscribe(...params: readonly unknown[]): Promise<void> {
    await ask(this.#client, "eth_subscribe", ...params);
  }

  /** Makes room until no more notifications come. */
  async catchUp(): Promise<void> {
    do {
      this.room = this.#each;
      this.#client.sendPending();
      await turns();
    } while (this.room < this.#each);
  }

  close(): void {
    this.#client.close();
  }

  #take(text: string): void {
    expect(this.room, "notifications are sent without room for them").toBeGreaterThan(0);
    this.room -= 1;
    const { subscription, result } = JSON.parse(text).params;
    if (subscription === "0x1") {
      this.heads.set(result.number, result);
      return;
    }
    const key = `${result.blockHash} ${result.logIndex}`;
    if (result.removed)
      expect(this.logs.delete(key), `${key} is removed without having been reported`).toBe(true);
    else {
      expect(this.logs.has(key), `${key} is reported twice`).toBe(false);
      this.logs.set(key, result);
    }
  }
}

/** Waits until all notifications are sent, although each turn of the event loop handles only one block. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
}

it("after any history, and however slowly the client reads, the reported heads and logs are those that polling finds", async () => {
  const then = fc.constantFrom("continue", "wait", "read", "snapshot", "restore", "reorganize");
  const step = fc.tuple(histories(10), then);
  await forAllAsync(
    runs(75),
    [anySettlement, fc.array(step, { maxLength: 8 }), fc.constantFrom(1, 3, 1_000)],
    async (config, steps, room) => {
      const node = openNode(config, new Slices(0));
      const follower = new Follower(node, room);
      const first = headOf(node.state.chain);
      await follower.subscribe("newHeads");
      await follower.subscribe("logs", {});
      let snapshot: Snapshot | null = null;
      let isRestored = false;
      for (const [moves, then] of steps) {
        play(node.exchange, moves);
        node.exchange.submit({ kind: "mineBlocks", count: 1 });
        if (then === "wait") await turns();
        if (then === "read") await follower.catchUp();
        if (then === "reorganize") {
          // A client with little room has a part of the logs of the replaced block.
          await turns();
          node.exchange.submit({ kind: "reorganizeChain", depth: 1 });
        }
        if (then === "snapshot") snapshot = node.exchange.snapshot();
        if (then === "restore" && snapshot !== null) {
          await follower.catchUp();
          node.exchange.restore(snapshot);
          isRestored = true;
        }
      }
      await follower.catchUp();
      follower.close();
      const head = headOf(node.state.chain);
      for (let height = first + 1; height <= head; height += 1) {
        const block = await call<Head>(node, "eth_getBlockByNumber", quantity(height), false);
        const head = follower.heads.get(quantity(height)) ?? { hash: "not reported" };
        expect(block).toMatchObject(head);
        expect(head).not.toHaveProperty("transactions");
      }
      const range = { fromBlock: quantity(first + 1), toBlock: quantity(head) };
      const polled = first < head ? await call<SubscribedLog[]>(node, "eth_getLogs", range) : [];
      // After a restore, logs are not reported as removed; a client sees that their blocks are gone.
      const hashes = new Set(
        Array.from(follower.heads.values())
          .filter(({ number }) => Number(number) <= head)
          .map(({ hash }) => hash),
      );
      const reported = Array.from(follower.logs.values()).filter(
        ({ blockHash }) => !isRestored || hashes.has(blockHash),
      );
      const sorted = (logs: readonly SubscribedLog[]) =>
        [...logs].sort(
          (a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
        );
      expect(sorted(reported)).toEqual(sorted(polled));
    },
  );
});
