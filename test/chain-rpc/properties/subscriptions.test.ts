import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChainNode, methodsOf } from "../../../src/chain-rpc/chain-node.ts";
import { quantity } from "../../../src/chain-rpc/encoding.ts";
import { Subscriptions } from "../../../src/chain-rpc/subscriptions.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import type { Snapshot } from "../../../src/engine/exchange.ts";
import { Slices } from "../../../src/engine/slices.ts";
import { anySettlement, histories, play } from "../../core/chain/chain-moves.ts";
import { runs } from "../../support/runs.ts";
import { call, openNode } from "./played.ts";

interface Head {
  readonly hash: string;
  readonly parentHash: string;
  readonly number: string;
}

interface ToldLog {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly logIndex: string;
  readonly removed: boolean;
}

/** A client that has room for so many notifications at a time, and what it makes of them. */
class Follower {
  room: number;
  /** Heads by height, and logs by block and index, as they stand after all that was told. */
  readonly heads = new Map<string, Head>();
  readonly logs = new Map<string, ToldLog>();
  readonly #node: ChainNode;
  readonly #each: number;
  readonly #subscriber;

  constructor(node: ChainNode, subscriptions: Subscriptions, each: number) {
    this.#node = node;
    this.#each = each;
    this.room = each;
    const follower = this;
    this.#subscriber = subscriptions.connect({
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
    const request = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
    await this.#node.answer(request, true, methodsOf(this.#subscriber));
  }

  /** Makes room until nothing more is told. */
  async catchUp(): Promise<void> {
    do {
      this.room = this.#each;
      this.#subscriber.tell();
      await turns();
    } while (this.room < this.#each);
  }

  close(): void {
    this.#subscriber.close();
  }

  #take(text: string): void {
    this.room -= 1;
    const { subscription, result } = JSON.parse(text).params;
    if (subscription === "0x1") {
      this.heads.set(result.number, result);
      return;
    }
    const key = `${result.blockHash} ${result.logIndex}`;
    if (result.removed) expect(this.logs.delete(key), `${key} is taken back and was not told`).toBe(true);
    else {
      expect(this.logs.has(key), `${key} is told twice`).toBe(false);
      this.logs.set(key, result);
    }
  }
}

/** So many turns of the event loop that whatever was woken is done, though it looks at one block a turn. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
}

describe("whatever happens, and however slowly it is taken", () => {
  it("heads and logs that are told are those that polling finds", async () => {
    const step = fc.tuple(histories(10), fc.constantFrom("go on", "wait", "read", "keep", "return"));
    await fc.assert(
      fc.asyncProperty(
        anySettlement,
        fc.array(step, { maxLength: 8 }),
        fc.constantFrom(1, 3, 1_000),
        async (config, steps, room) => {
          const node = openNode(config, new Slices(0));
          const follower = new Follower(node, new Subscriptions(node.exchange, node.slices), room);
          const first = headOf(node.state.chain);
          await follower.subscribe("newHeads");
          await follower.subscribe("logs", {});
          let kept: Snapshot | null = null;
          let isPutBack = false;
          for (const [moves, then] of steps) {
            play(node.exchange, moves);
            if (then === "wait") await turns();
            if (then === "read") await follower.catchUp();
            if (then === "keep") kept = node.exchange.snapshot();
            if (then === "return" && kept !== null) {
              await follower.catchUp();
              node.exchange.restore(kept);
              isPutBack = true;
            }
          }
          await follower.catchUp();
          follower.close();
          const head = headOf(node.state.chain);
          for (let height = first + 1; height <= head; height += 1) {
            const block = await call<Head>(node, "eth_getBlockByNumber", quantity(height), false);
            expect(block).toMatchObject(follower.heads.get(quantity(height)) ?? { hash: "was not told" });
          }
          const range = { fromBlock: quantity(first + 1), toBlock: quantity(head) };
          const polled = first < head ? await call<ToldLog[]>(node, "eth_getLogs", range) : [];
          // What was told of a history that was put back is not taken back; a client sees that its block is gone.
          const hashes = new Set(
            Array.from(follower.heads.values())
              .filter(({ number }) => Number(number) <= head)
              .map(({ hash }) => hash),
          );
          const told = Array.from(follower.logs.values()).filter(
            ({ blockHash }) => !isPutBack || hashes.has(blockHash),
          );
          const sorted = (logs: readonly ToldLog[]) =>
            [...logs].sort(
              (a, b) =>
                Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
            );
          expect(sorted(told)).toEqual(sorted(polled));
        },
      ),
      runs(150),
    );
  });
});
