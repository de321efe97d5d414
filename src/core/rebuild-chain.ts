import { hasPending } from "./account.ts";
import { type Block, blockAt, type Chain, digestFields, headBlock, headOf } from "./chain/chain.ts";
import { USDC } from "./chain/settlement.ts";
import {
  awaitsBlock,
  type CallEffect,
  LOGS_OF_MATCH,
  logCountOf,
  ownGas,
  type Transaction,
} from "./chain/transaction.ts";
import { check, DocumentError, type DocumentPath } from "./document-error.ts";
import { Digest } from "./hash.ts";
import { tokenOf } from "./market.ts";
import { isRestricted } from "./rules/contract-calls.ts";
import type { State } from "./state.ts";
import type { Contents, Run } from "./state-document.ts";

/** @throws DocumentError if a value differs from the one that other records determine. */
export function expectSame(found: unknown, expected: unknown, ...path: DocumentPath): void {
  if (found === expected) return;
  const [text, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  if (text !== wanted) throw new DocumentError(wanted, found, ...path);
}

/** Adds all blocks, the chain by height, and all mined transactions, those of orphaned blocks included. */
export function addBlocks({ blocks, unfinished, transactions, trades }: Contents, { chain }: State) {
  const last = Math.max(transactions.at(-1)?.number ?? 0, trades.at(-1)?.transaction ?? 0);
  const size = Math.min(last, transactions.length + trades.length) + 1;
  /** By transaction number: serial of its block in the chain, and index in that block. */
  const found = { blocks: new Int32Array(size), places: new Int32Array(size) };
  /** Serials by height, of the chain at the time a block was mined. */
  const serials: number[] = [];
  let first = 0;
  let latest = 0;
  for (const { serial, height, at, baseFee, mined, logs, gas, digest } of blocks) {
    const path = ["blocks", serial - 1] as const;
    const isNext = height === serials.length || (height > 0 && height < serials.length);
    check(isNext, `a height from 1 to ${serials.length}`, height, ...path, "height");
    check(at >= latest, `a moment from ${latest}`, at, ...path, "at");
    latest = at;
    const count = countOf(mined);
    const parent = height === 0 ? 0 : (serials[height - 1] as number);
    const digests = digestFields({ words: digest });
    chain.blocks.add({ serial, height, parent, at, baseFee, first, count, logs, gas, ...digests });
    serials[height] = serial;
    first += count;
  }
  for (const serial of serials) chain.heights.add(serial);
  const addRuns = (mined: readonly Run[], serial: number, ...path: DocumentPath): void => {
    let place = 0;
    for (const [index, [from, to]] of mined.entries()) {
      check(to < size, `transactions up to ${size - 1}`, [from, to], ...path, "mined", index);
      for (let number = from; number <= to; number += 1) {
        chain.mined.add(number);
        if (serial === 0) continue;
        const isElsewhere = found.blocks[number] !== 0;
        const expected = "transactions that no other block of the chain has";
        check(!isElsewhere, expected, [from, to], ...path, "mined", index);
        found.blocks[number] = serial;
        found.places[number] = place;
        place += 1;
      }
    }
  };
  for (const { serial, height, mined } of blocks)
    addRuns(mined, serials[height] === serial ? serial : 0, "blocks", serial - 1);
  if (unfinished.building !== null)
    addRuns(unfinished.building.mined, blocks.length + 1, "unfinished", "building");
  return found;
}

const countOf = (mined: readonly Run[]): number =>
  mined.reduce((count, [first, last]) => count + last - first + 1, 0);

/** @throws DocumentError if a reference of a transaction does not exist, or if it has a result that it cannot have. */
export function checkContent({ accounts, markets, chain }: State, transaction: Transaction): void {
  const { content, status, exception } = transaction;
  const effect = exception?.effect ?? null;
  check(content !== null, "an object, as no trade refers to it", content, "content");
  if (content.kind === "call") {
    const isEffectDue = effect === null && status === "MINED";
    check(!isEffectDue, "the effect of the call", effect, "oddity", "effect");
  }
  const mayHaveEffect = content.kind === "call" && status !== "REVERTED";
  check(effect === null || mayHaveEffect, "null", effect, "oddity", "effect");
  for (const [index, { account, token }] of effect?.moves.entries() ?? []) {
    const path = ["oddity", "effect", "moves", index] as const;
    check(account <= accounts.size, "the number of an account", account, ...path, "account");
    check(token !== 1 && token < 2 * markets.size + 2, "a token, or 0", token, ...path, "token");
  }
  const changed = effect?.supply?.market ?? 0;
  check(changed <= markets.size, "the number of a market", changed, "oddity", "effect", "supply", "market");
  const conserves = effect === null || isConserving(effect);
  check(conserves, "the change that its moves make", effect?.supply, "oddity", "effect", "supply");
  if (content.kind === "call") return;
  const { market } = content;
  const isMarket = market <= markets.size && (market > 0 || content.kind === "deposit");
  check(isMarket, "the number of a market", market, "content", "market");
  if (content.kind === "report") {
    const isOwn = markets.get(market).report === chain.transactions.next;
    check(isOwn, "a market with this report", market, "content", "market");
  }
  if (content.kind !== "deposit") return;
  const isMoney = market === 0;
  const parties = { account: isMoney, yes: !isMoney, no: !isMoney };
  for (const [name, isParty] of Object.entries(parties)) {
    const number = content[name as keyof typeof parties];
    const isValid = isParty === number > 0 && number <= accounts.size;
    check(isValid, isParty ? "the number of an account" : "0", number, "content", name);
  }
  check(isMoney || content.collateral === 0, "0", content.collateral, "content", "collateral");
  check(!isMoney || content.size === 0, "0", content.size, "content", "size");
}

/** Whether the moves of an effect, without the change of a market's supply, sum to zero in every asset. */
function isConserving({ moves, supply }: CallEffect): boolean {
  const totals = new Map<number, number>();
  const add = (token: number, amount: number) => totals.set(token, (totals.get(token) ?? 0) + amount);
  for (const { token, amount } of moves) add(token, amount);
  if (supply !== null) {
    add(USDC, supply.collateral);
    add(tokenOf(supply.market, "YES"), -supply.yes);
    add(tokenOf(supply.market, "NO"), -supply.no);
  }
  return [...totals.values()].every((total) => total === 0);
}

/** Adds what transactions say about their place in blocks, and the pending part of the chain. */
export function rebuildChain({ chain: head, unfinished, waiting, wallets }: Contents, state: State): void {
  const { chain } = state;
  for (let height = 0; height <= headOf(chain); height += 1) {
    const { serial, first, count, logs, gas } = blockAt(chain, height) as Block;
    const sums = placeIn(chain, first, count);
    const path = ["blocks", serial - 1] as const;
    check(logs === sums.logs, `${sums.logs}, the sum of its transactions`, logs, ...path, "logs");
    check(gas === sums.gas, `${sums.gas}, the sum of its transactions`, gas, ...path, "gas");
  }
  const latest = headBlock(chain);
  rebuildBuilding(unfinished, chain);
  expectSame(head.head, headOf(chain), "chain", "head");
  expectSame(head.at, latest.at, "chain", "at");
  expectSame(head.blocks, chain.blocks.size, "chain", "blocks");
  const digest = new Digest(head.digest);
  if (chain.building === null) {
    const { digestA, digestB, digestC, digestD } = latest;
    expectSame(head.digest, [digestA, digestB, digestC, digestD], "chain", "digest");
  }
  const { reorganizations } = head;
  const { mining = null, nextBaseFee = null, blockTerms = [] } = waiting;
  Object.assign(chain, waiting, { mining, nextBaseFee, blockTerms, digest, reorganizations });
  countTransactions(chain);
  checkWaiting(waiting, chain);
  rebuildWallets(wallets, chain);
  rebuildPendingBalances(state);
}

/** Sets the logs and gas before each transaction of a block; returns the totals of the block. */
function placeIn(chain: Chain, first: number, count: number): { logs: number; gas: number } {
  let logs = 0;
  let gas = 0;
  for (let index = first + 1; index <= first + count; index += 1) {
    const transaction = chain.transactions.get(chain.mined.get(index));
    transaction.logsBefore = logs;
    transaction.gasBefore = gas;
    const { status, content, exception } = transaction;
    const own = status === "MINED" ? logCountOf(transaction) : 0;
    logs += own;
    gas +=
      content?.kind === "call" ? (exception?.gasUsed ?? 0) : ownGas(status === "MINED" ? own : LOGS_OF_MATCH);
  }
  return { logs, gas };
}

function rebuildBuilding({ asked, building }: Contents["unfinished"], chain: Chain): void {
  chain.asked = asked;
  if (building === null) return;
  const { mined, ...rest } = building;
  const first = chain.mined.size - countOf(mined);
  const { logs, gas } = placeIn(chain, first, countOf(mined));
  const path = ["unfinished", "building"] as const;
  expectSame(building.height, headOf(chain) + 1, ...path, "height");
  expectSame(building.logs, logs, ...path, "logs");
  expectSame(building.gas, gas, ...path, "gas");
  const since = headBlock(chain).at;
  check(building.at >= since, `a moment from ${since}`, building.at, ...path, "at");
  const isNumber = building.cursor <= chain.transactions.size;
  check(isNumber, "the number of a transaction, or 0", building.cursor, ...path, "cursor");
  chain.building = { ...rest, first };
}

function countTransactions(chain: Chain): void {
  const { transactions, signed, firstUnprocessed } = chain;
  const deferred = new Set(chain.deferred);
  const lost = new Set(chain.lost);
  let index = -1;
  for (const transaction of transactions) {
    const { number, status, content, exception } = transaction;
    if (content !== null || exception !== null) index += 1;
    const isPending = status === "PENDING";
    if (isPending && awaitsBlock(transaction)) chain.pending += 1;
    if (isPending && number < firstUnprocessed && !deferred.has(number))
      throw unlisted(number, chain.deferred, "held");
    if (status === "LOST" && !lost.delete(number)) throw unlisted(number, chain.lost, "lost");
    if (content?.kind !== "call") continue;
    if (isPending) chain.pendingCalls += 1;
    if (content.hash === null || status === "DROPPED" || status === "REPLACED") continue;
    const isNew = !signed.has(content.hash);
    check(isNew, "a unique hash", content.hash, "transactions", index, "content", "hash");
    signed.set(content.hash, number);
  }
  const isExact = lost.size === 0 && new Set(chain.lost).size === chain.lost.length;
  check(isExact, "each transaction with status LOST, once", chain.lost, "waiting", "lost");
}

const unlisted = (number: number, list: readonly number[], name: string): Error =>
  new DocumentError(`a list with transaction ${number} in it`, list, "waiting", name);

function checkWaiting(
  { firstUnprocessed, deferred, lastFilled, faults, faultsSet }: Contents["waiting"],
  chain: Chain,
): void {
  const { size } = chain.transactions;
  check(firstUnprocessed <= size + 1, `a number up to ${size + 1}`, firstUnprocessed, "waiting", "fresh");
  const isAscending = deferred.every(
    (number, index) => number > (deferred[index - 1] ?? 0) && number < firstUnprocessed,
  );
  check(isAscending, `transactions before ${firstUnprocessed}, ascending`, deferred, "waiting", "held");
  const isHeight = (lastFilled ?? 0) <= headOf(chain);
  check(isHeight, `a height up to ${headOf(chain)}`, lastFilled, "waiting", "lastFilled");
  for (const [index, { number, times, struck }] of faults.entries()) {
    const path = ["waiting", "faults", index] as const;
    const isNext = number > (faults[index - 1]?.number ?? 0) && number <= faultsSet;
    check(isNext, `an ascending number up to ${faultsSet}`, number, ...path, "number");
    check(times === null || struck < times, `less than ${times}`, struck, ...path, "struck");
  }
}

function rebuildWallets(wallets: Contents["wallets"], chain: Chain): void {
  let pending = 0;
  let previous = "";
  for (const [index, wallet] of wallets.entries()) {
    const { address } = wallet;
    const isAscending = address > previous;
    check(isAscending, `an address after ${JSON.stringify(previous)}`, address, "wallets", index, "address");
    previous = address;
    for (const [at, [nonce, number]] of [...wallet.pending].entries()) {
      const { status, content } = chain.transactions.find(number) ?? {};
      const isCall = status === "PENDING" && content?.kind === "call";
      const isOwn = isCall && content.from === address && content.nonce === nonce;
      const expected = "a nonce, and the pending transaction that has it";
      check(isOwn, expected, [nonce, number], "wallets", index, "pending", at);
    }
    pending += wallet.pending.size;
    if (isRestricted(wallet)) chain.restricted += 1;
    chain.wallets.set(address, wallet);
  }
  const expected = `the ${chain.pendingCalls} pending transactions of wallets`;
  check(pending === chain.pendingCalls, expected, pending, "wallets");
}

function rebuildPendingBalances({ accounts, chain }: State): void {
  for (const { number, collateral, holdings } of accounts) {
    if (hasPending(collateral)) chain.pendingBalances.push(number, 0);
    for (const { market, yes, no } of holdings.values())
      if (hasPending(yes) || hasPending(no)) chain.pendingBalances.push(number, market);
  }
}
