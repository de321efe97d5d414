import {
  BLOCK_INTERVAL_MS,
  type Building,
  type Chain,
  confirmationsOf,
  headOf,
  QUIET_BASE_FEE,
} from "../../chain/chain.ts";
import type { BlockOpened, BlockSealed, BlocksAsked, BlocksMined } from "../../chain/chain-events.ts";
import type { Transaction } from "../../chain/transaction.ts";
import type { ExchangeConfig, State } from "../../state.ts";
import { type Millis, millis } from "../../units.ts";
import { includeOwn } from "./apply-inclusion.ts";
import { settleTouched } from "./pending.ts";

/** Somebody asks for blocks at once. */
export function askBlocks({ chain }: State, { count }: BlocksAsked): void {
  chain.asked += count;
}

/** Mines a run of transactions in one block, and what empty ones follow. */
export function mineBlocks(state: State, { height, lastTransaction, empty }: BlocksMined, at: Millis): void {
  const { chain, config } = state;
  settleTouched(state);
  const building = beginBlock(chain, height, QUIET_BASE_FEE, at);
  for (let number = chain.fresh; number <= lastTransaction; number += 1) {
    const transaction = chain.transactions.get(number);
    if (transaction.status === "PENDING") includeOwn(state, building, transaction);
  }
  chain.fresh = lastTransaction + 1;
  seal(chain, building);
  for (let count = 1; count <= empty; count += 1) {
    seal(chain, beginBlock(chain, height + count, QUIET_BASE_FEE, at));
  }
  schedule(chain, config, at);
}

/** Begins a block that is put together transaction by transaction. */
export function openBlock({ chain }: State, { height, baseFee }: BlockOpened, at: Millis): void {
  chain.building = beginBlock(chain, height, baseFee, at);
}

/** Ends it. */
export function sealBlock({ chain, config }: State, { height }: BlockSealed, at: Millis): void {
  const { building } = chain;
  if (building?.height !== height) throw new Error(`block ${height} is not the one being put together`);
  chain.building = null;
  chain.held = chain.held.filter((number) => chain.transactions.get(number).status === "PENDING");
  seal(chain, building);
  schedule(chain, config, at);
}

/** A block of which nothing is known yet but where it stands. */
export const beginBlock = (chain: Chain, height: number, baseFee: number, at: Millis): Building => ({
  height,
  at,
  baseFee,
  cursor: 0,
  first: chain.mined.size,
  logs: 0,
  gas: 0,
  isFilled: false,
});

/** Adds a block to the chain. */
function seal(chain: Chain, building: Building): void {
  const { height } = building;
  const serial = addBlock(chain, building, chain.heights.get(chain.heights.size));
  if (chain.heights.add(serial) !== height + 1) throw new Error(`block ${height} is out of turn`);
  if (building.isFilled) chain.lastFilled = height;
  if (chain.asked > 0) chain.asked -= 1;
  if (chain.touched.length > 0) chain.touched = [];
}

/** Notes a block on top of another, and answers its serial. */
export function addBlock(chain: Chain, building: Building, parent: number): number {
  const { height, at, baseFee, first, logs, gas } = building;
  const { digest } = chain;
  digest.mix(height);
  digest.mixWide(at);
  digest.mix(baseFee);
  digest.spread();
  const serial = chain.blocks.next;
  const count = chain.mined.size - first;
  return chain.blocks.add({
    serial,
    height,
    parent,
    at,
    baseFee,
    first,
    count,
    logs,
    gas,
    digestA: digest.a,
    digestB: digest.b,
    digestC: digest.c,
    digestD: digest.d,
  });
}

/** When the next block is due, after one has been mined: while something pends that another block can help. */
export function schedule(chain: Chain, config: ExchangeConfig, at: Millis): void {
  const isAwaited =
    config.settlement === "auto" &&
    ((chain.lastFilled !== null && headOf(chain) < chain.lastFilled + confirmationsOf(config.settlement)) ||
      chain.held.some((number) => isHelpedByTime(chain.transactions.get(number))));
  chain.nextBlockAt = isAwaited ? millis(at + BLOCK_INTERVAL_MS) : null;
}

const isHelpedByTime = ({ status, oddity }: Transaction): boolean => {
  if (status !== "PENDING") return false;
  const hold = oddity?.hold ?? null;
  return hold !== "UNDERPRICED" && hold !== "NONCE_GAP" && hold !== "NO_GAS_MONEY";
};
