import { hex8, sha256Hex } from "../hash.ts";
import { idOf } from "../ids.ts";
import type { State } from "../state.ts";
import { isWord } from "../terms.ts";
import { type Block, blockAt } from "./chain.ts";
import { tradesOf } from "./settlement.ts";
import { type Transaction, TransactionContent } from "./transaction.ts";

// A hash of 32 bytes is 26 bytes of SHA-256 over the content, then the record's number XOR a mask derived from these 26.
// It looks like any other hash, and the number is recovered without a table. Hashes are computed on request.

const HASHED_DIGITS = 52;
const NUMBER_DIGITS = 12;
const LOW_BITS = 4_294_967_296;

/** Returns the hash of a transaction: of its signed bytes if it has any, else of the seed and its content. */
export function transactionHash(state: State, transaction: Transaction): string {
  const { content, number } = transaction;
  if (content?.kind === "call" && content.hash !== null) return content.hash;
  return withNumber(
    `clobsim transaction\n${state.config.seed}\n${number}\n${contentText(state, transaction)}`,
    number,
  );
}

/** Returns the transaction of a hash; undefined if there is none. */
export function transactionOfHash(state: State, hash: string): Transaction | undefined {
  if (!isWord(hash)) return undefined;
  const { transactions, signed } = state.chain;
  const transaction = transactions.find(signed.get(hash) ?? numberIn(hash));
  return transaction !== undefined && transactionHash(state, transaction) === hash ? transaction : undefined;
}

/** Returns the hash of a block: of the seed and of the whole chain up to it. */
export function blockHash({ config }: State, { height, digestA, digestB, digestC, digestD }: Block): string {
  const words = [digestA, digestB, digestC, digestD].map(hex8).join("");
  return withNumber(`clobsim block\n${config.seed}\n${height}\n${words}`, height);
}

/** Returns the block of a hash; undefined if the current chain does not have it. */
export function blockOfHash(state: State, hash: string): Block | undefined {
  if (!isWord(hash)) return undefined;
  const block = blockAt(state.chain, numberIn(hash));
  return block !== undefined && blockHash(state, block) === hash ? block : undefined;
}

/** Returns the order hash of the exchange contract: 16 bytes of a hash, then the order's id. */
export function orderHash(state: State, order: number): string {
  const id = idOf(state.idPrefixes.order, order).replaceAll("-", "");
  return `0x${sha256Hex(`clobsim order\n${id}\n${state.config.seed}`).slice(0, 32)}${id}`;
}

function contentText(state: State, transaction: Transaction): string {
  const { content } = transaction;
  if (content !== null) return TransactionContent.write(content);
  const { orders } = state;
  const fills = tradesOf(state, transaction).map(({ taker, maker, price, size, fee }) =>
    [taker, orders.get(taker).account, maker, orders.get(maker).account, price, size, fee].join(),
  );
  return fills.join(";");
}

function withNumber(text: string, number: number): string {
  const head = sha256Hex(text).slice(0, HASHED_DIGITS);
  return `0x${head}${masked(head, number).toString(16).padStart(NUMBER_DIGITS, "0")}`;
}

function numberIn(hash: string): number {
  const head = hash.slice(2, 2 + HASHED_DIGITS);
  return masked(head, Number.parseInt(hash.slice(2 + HASHED_DIGITS), 16));
}

/** XORs a 48-bit number with a mask derived from `head`; applying it twice restores the number. */
function masked(head: string, number: number): number {
  let mask = 0;
  for (let at = 0; at < head.length; at += 4)
    mask = Math.imul(mask ^ Number.parseInt(head.slice(at, at + 4), 16), 0x9e3779b1);
  const high = Math.floor(number / LOW_BITS) ^ (mask & 0xffff);
  const low = ((number % LOW_BITS) ^ Math.imul(mask, 0x85ebca6b)) >>> 0;
  return high * LOW_BITS + low;
}
