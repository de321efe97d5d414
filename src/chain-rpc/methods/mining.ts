import { headBlock } from "../../core/chain/chain.ts";
import { MAX_MILLIS, type Millis, millis } from "../../core/units.ts";
import type { ChainNode } from "../chain-node.ts";
import { quantity } from "../hex.ts";
import { optional, readAddressParam, readCount, readObject, readQuantity } from "../params.ts";
import { secondsOf } from "../protocol.ts";
import { RpcError } from "../rpc-error.ts";
import { control, type Methods } from "./method.ts";

const SECOND_MS = 1_000;
const LAST_SECOND = Math.floor(MAX_MILLIS / SECOND_MS);
/** How many blocks are mined at once. */
const MOST_BLOCKS = 100_000;

const mine = control(0, 2, async (node, [blocks, interval]) => {
  const count = optional(blocks, "blocks", readBlocks) ?? 1;
  const seconds = optional(interval, "interval", readSeconds) ?? 0;
  if (seconds === 0) mineBlocks(node, count);
  else await node.clock.change(node.slices, () => mineApart(node, count, seconds));
  return null;
});

/** Mines blocks with so many seconds before each. */
function* mineApart(node: ChainNode, count: number, seconds: number): Generator<undefined, void> {
  const { clock } = node;
  for (let block = 0; block < count; block += 1) {
    if (!(yield* clock.moveInSteps(clock.setting, later(node, seconds)))) return;
    mineBlocks(node, 1);
    yield;
  }
}
const setBalance = control(2, 2, ({ exchange }, [address, wei]) => {
  exchange.submit({
    kind: "setNativeBalance",
    address: readAddressParam(address, "address"),
    wei: String(readQuantity(wei, "balance")),
  });
  return null;
});

/** Blocks and time at will. There is one clock: what is due on its way happens. */
export const miningMethods: Methods = {
  evm_mine: control(0, 1, async (node, [options]) => {
    const { blocks, timestamp } = readMining(options);
    if (timestamp !== undefined) await moveClock(node, () => atSecond(node, timestamp));
    mineBlocks(node, blocks ?? 1);
    return "0x0";
  }),
  anvil_mine: mine,
  hardhat_mine: mine,
  evm_increaseTime: control(1, 1, async (node, [seconds]) => {
    const moved = readSeconds(seconds, "seconds");
    await moveClock(node, () => later(node, moved));
    node.snapshots.secondsAdded += moved;
    return node.snapshots.secondsAdded;
  }),
  evm_setNextBlockTimestamp: control(1, 1, async (node, [timestamp]) => {
    const second = readSeconds(timestamp, "timestamp");
    await moveClock(node, () => atSecond(node, second));
    return null;
  }),
  evm_snapshot: control(0, 0, ({ snapshots }) => quantity(snapshots.take())),
  evm_revert: control(1, 1, ({ snapshots }, [number]) => snapshots.revert(readQuantity(number, "snapshot"))),
  anvil_setBalance: setBalance,
  hardhat_setBalance: setBalance,
};

const readBlocks = (value: unknown, name: string): number => readCount(value, name, MOST_BLOCKS);
const readSeconds = (value: unknown, name: string): number => readCount(value, name, LAST_SECOND);

/** `evm_mine` takes nothing, a timestamp, or both of what it can be told as an object. */
function readMining(options: unknown): {
  readonly blocks: number | undefined;
  readonly timestamp: number | undefined;
} {
  if (typeof options !== "object" || options === null) {
    return { blocks: undefined, timestamp: optional(options, "timestamp", readSeconds) };
  }
  const { blocks, timestamp } = readObject(options, "options");
  return {
    blocks: optional(blocks, "options.blocks", readBlocks),
    timestamp: optional(timestamp, "options.timestamp", readSeconds),
  };
}

function mineBlocks({ exchange }: ChainNode, count: number): void {
  if (count > 0) exchange.submit({ kind: "mineBlocks", count });
}

const moveClock = ({ clock, slices }: ChainNode, to: () => Millis): Promise<boolean> =>
  clock.change(slices, () => clock.moveInSteps(clock.setting, to()));

function later({ exchange }: ChainNode, seconds: number): Millis {
  const at = exchange.now + seconds * SECOND_MS;
  if (at <= MAX_MILLIS) return millis(at);
  throw new RpcError("INVALID_PARAMS", `Timestamp error: the clock ends at ${LAST_SECOND}`);
}

/** The first moment of a second, or this one if it is in it already. @throws RpcError when it is over. */
function atSecond({ exchange, state }: ChainNode, second: number): Millis {
  const now = secondsOf(exchange.now);
  if (second === now) return exchange.now;
  if (second > now) return millis(second * SECOND_MS);
  const isBehindHead = second < secondsOf(headBlock(state.chain).at);
  throw new RpcError(
    "INVALID_PARAMS",
    `Timestamp error: ${second} is lower than ${isBehindHead ? "previous block's timestamp" : `the clock's ${now}, which never runs backwards`}`,
  );
}
