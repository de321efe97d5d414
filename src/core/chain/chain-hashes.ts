import { sha256Hex } from "../hash.ts";
import { idOf } from "../ids.ts";
import type { State } from "../state.ts";
import type { Block } from "./chain.ts";
import { blockAt } from "./chain.ts";
import { tradesOf } from "./moves.ts";
import { type Transaction, TransactionContent } from "./transaction.ts";

// A hash of 32 bytes is 26 bytes of SHA-256 over what it names, and its number under a mask that these 26 decide: it
// looks like any other, and leads back to what it names without a table. It is worked out when somebody asks.

const HASHED_DIGITS = 52;
const NUMBER_DIGITS = 12;
const LOW_BITS = 4_294_967_296;
const HASH = /^0x[0-9a-f]{64}$/;

/** The hash of a transaction: of its signed bytes, if it came with such, else of the seed and of what it does. */
export function transactionHash(state: State, transaction: Transaction): string {
  const { content, number } = transaction;
  if (content?.kind === "call" && content.hash !== null) return content.hash;
  return withNumber(
    `clobsim transaction\n${state.config.seed}\n${number}\n${contentText(state, transaction)}`,
    number,
  );
}

/** The transaction of a hash, or undefined when no chain of this history has one. */
export function transactionOfHash(state: State, hash: string): Transaction | undefined {
  if (!HASH.test(hash)) return undefined;
  const { transactions, signed } = state.chain;
  const transaction = transactions.find(signed.get(hash) ?? numberIn(hash));
  return transaction !== undefined && transactionHash(state, transaction) === hash ? transaction : undefined;
}

/** The hash of a block: of the seed, and of all that the chain held when it was mined. */
export function blockHash({ config }: State, { height, digestA, digestB, digestC, digestD }: Block): string {
  const words = [digestA, digestB, digestC, digestD]
    .map((word) => (word >>> 0).toString(16).padStart(8, "0"))
    .join("");
  return withNumber(`clobsim block\n${config.seed}\n${height}\n${words}`, height);
}

/** The block of a hash, or undefined when the chain has none, or has it no longer. */
export function blockOfHash(state: State, hash: string): Block | undefined {
  if (!HASH.test(hash)) return undefined;
  const block = blockAt(state.chain, numberIn(hash));
  return block !== undefined && blockHash(state, block) === hash ? block : undefined;
}

/** What the exchange's contract calls an order: 16 bytes of a hash, and the order's own id. */
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

/** A number of 48 bits with the bits turned over that the text says; the same again turns them back. */
function masked(head: string, number: number): number {
  let mask = 0;
  for (let at = 0; at < head.length; at += 4)
    mask = Math.imul(mask ^ Number.parseInt(head.slice(at, at + 4), 16), 0x9e3779b1);
  const high = Math.floor(number / LOW_BITS) ^ (mask & 0xffff);
  const low = ((number % LOW_BITS) ^ Math.imul(mask, 0x85ebca6b)) >>> 0;
  return high * LOW_BITS + low;
}
