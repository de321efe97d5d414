import type { Block } from "../chain/chain.ts";
import { blockAt, type Chain, headBlock, headOf } from "../chain/chain.ts";
import type { Transaction } from "../chain/transaction.ts";
import { LOGS_OF_MATCH, logCountOf, ownGas } from "../chain/transaction.ts";
import { Digest } from "../hash.ts";
import type { State } from "../state.ts";
import type { BlockRecord } from "./chain-record.ts";
import { rebuildPending } from "./rebuild-pending.ts";
import type { Records } from "./records.ts";

/** Lists the blocks, gives every transaction its place among the logs of its own, and notes where the chain stands. */
export function rebuildChain(records: Records, state: State): void {
  const { chain } = state;
  listBlocks(records, chain);
  const last = headOf(chain);
  for (let height = 0; height <= last; height += 1) {
    const block = blockAt(chain, height) as Block;
    const { logs, gas } = place(chain, block.first, block.count);
    demand(records, block.serial - 1, ".logs", logs, block.logs);
    demand(records, block.serial - 1, ".gas", gas, block.gas);
  }
  rebuildBuilding(records, chain);
  checkHead(records, chain);
  rebuildPending(records, state);
}

function demand(records: Records, index: number, path: string, expected: number, found: number): void {
  if (found !== expected) {
    throw records.wrong("blocks", index, path, `${expected}, what its transactions come to`, found);
  }
}

function listBlocks(records: Records, chain: Chain): void {
  /** The serials of the chain as it was when a block was mined. */
  const serials: number[] = [];
  let first = 0;
  let latest = 0;
  for (const record of records.blocks) {
    const { height, at, baseFee, logs, gas, digest } = record;
    if (at < latest) throw records.wrong("blocks", chain.blocks.size, ".at", `a moment from ${latest}`, at);
    latest = at;
    const count = countOf(record);
    const serial = chain.blocks.next;
    const parent = height === 0 ? 0 : (serials[height - 1] as number);
    const [digestA, digestB, digestC, digestD] = digest;
    // Written out, for there may be as many blocks as trades.
    const block: Block = {
      serial,
      height,
      parent,
      at,
      baseFee,
      first,
      count,
      logs,
      gas,
      digestA,
      digestB,
      digestC,
      digestD,
    };
    chain.blocks.add(block);
    serials[height] = serial;
    first += count;
  }
}

function countOf({ mined }: Pick<BlockRecord, "mined">): number {
  let count = 0;
  for (const [first, last] of mined) count += last - first + 1;
  return count;
}

/** Gives the transactions of a block their places among its logs and its gas, and answers what they sum up to. */
function place(chain: Chain, first: number, count: number): { logs: number; gas: number } {
  let logs = 0;
  let gas = 0;
  for (let index = first + 1; index <= first + count; index += 1) {
    const transaction = chain.transactions.get(chain.mined.get(index));
    transaction.logsBefore = logs;
    transaction.gasBefore = gas;
    const own = transaction.status === "MINED" ? logCountOf(transaction) : 0;
    logs += own;
    gas += gasOf(transaction, own);
  }
  return { logs, gas };
}

function gasOf({ status, content, oddity }: Transaction, logs: number): number {
  if (content?.kind === "call") return oddity?.gasUsed ?? 0;
  return ownGas(status === "MINED" ? logs : LOGS_OF_MATCH);
}

/** A block that was being put together goes on. */
function rebuildBuilding(records: Records, chain: Chain): void {
  const { asked, building } = records.unfinished;
  const wrong = (path: string, expected: unknown, found: unknown): Error =>
    records.wrong("unfinished", null, `.building.${path}`, `${expected}`, found);
  chain.asked = asked;
  if (building === null) return;
  const count = countOf(building);
  const first = chain.mined.size - count;
  const sums = place(chain, first, count);
  const { height, at, baseFee, cursor, logs, gas, isFilled } = building;
  if (height !== headOf(chain) + 1) throw wrong("height", headOf(chain) + 1, height);
  if (logs !== sums.logs) throw wrong("logs", sums.logs, logs);
  if (gas !== sums.gas) throw wrong("gas", sums.gas, gas);
  if (at < headBlock(chain).at) throw wrong("at", `a moment from ${headBlock(chain).at}`, at);
  if (cursor > chain.transactions.size) throw wrong("cursor", "the number of a transaction, or 0", cursor);
  chain.building = { height, at, baseFee, cursor, first, logs, gas, isFilled };
}

function checkHead(records: Records, chain: Chain): void {
  const { head, at, digest, blocks, reorganizations } = records.head;
  const block = headBlock(chain);
  const check = (path: string, expected: unknown, found: unknown): void => {
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    throw records.wrong("chain", null, path, JSON.stringify(expected), found);
  };
  check(".head", headOf(chain), head);
  check(".at", block.at, at);
  check(".blocks", chain.blocks.size, blocks);
  if (chain.building === null)
    check(".digest", [block.digestA, block.digestB, block.digestC, block.digestD], digest);
  Object.assign(chain, { digest: new Digest(digest), reorganizations });
}
