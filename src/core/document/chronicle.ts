import type { Transaction, TransactionContent, TransactionStatus } from "../chain/transaction.ts";
import { LOGS_OF_MATCH } from "../chain/transaction.ts";
import type { State } from "../state.ts";
import type { Run } from "./chain-record.ts";
import type { Records } from "./records.ts";
import type { Tallies } from "./tallies.ts";
import type { TransactionRecord } from "./transaction-record.ts";

/**
 * The transactions of a chain, made in order from their records and from trades. A match that no record tells of was
 * mined if a block of the chain has it, else it is pending.
 */
export class Chronicle {
  readonly #records: Records;
  readonly #state: State;
  readonly #tallies: Tallies;
  /** By transaction: the serial of its block in the chain, and how many transactions that has before it. */
  readonly #blocks: Int32Array;
  readonly #places: Int32Array;
  /** How many of the records have been used. */
  #used = 0;

  constructor(records: Records, state: State, tallies: Tallies) {
    this.#records = records;
    this.#state = state;
    this.#tallies = tallies;
    const { transactions, trades } = records;
    const last = Math.max(transactions.at(-1)?.number ?? 0, trades.at(-1)?.transaction ?? 0);
    const size = Math.min(last, transactions.length + trades.length);
    this.#blocks = new Int32Array(size + 1);
    this.#places = new Int32Array(size + 1);
    this.#listBlocks();
  }

  /** Makes all transactions up to the one of a trade, the first of its match, and answers that. */
  matchOf(trade: number, number: number): Transaction {
    const { transactions } = this.#state.chain;
    while (transactions.size < number - 1 && this.#hasNext()) this.#makeNext();
    const record = this.#records.transactions[this.#used];
    if (transactions.next !== number) {
      if (record !== undefined && record.number < number)
        throw this.#wrong(".number", `${transactions.next}`, record.number);
      const expected = `${transactions.next}, for there is no such transaction yet`;
      throw this.#records.wrong("trades", trade - 1, ".transaction", expected, number);
    }
    if (record?.number !== number) {
      const status = this.#blocks[number] === 0 ? "PENDING" : "MINED";
      return this.#add(number, trade, null, status, null);
    }
    if (record.content !== null)
      throw this.#records.wrong("trades", trade - 1, ".transaction", "one that is a match", number);
    return this.#makeOf(record, trade);
  }

  /** Makes the transactions behind the last match. */
  end(): void {
    while (this.#used < this.#records.transactions.length) this.#makeNext();
  }

  /** Whether the next record is of the next transaction. */
  #hasNext(): boolean {
    return this.#records.transactions[this.#used]?.number === this.#state.chain.transactions.next;
  }

  #makeNext(): void {
    const record = this.#records.transactions[this.#used] as TransactionRecord;
    const { next } = this.#state.chain.transactions;
    if (record.number !== next) throw this.#wrong(".number", `${next}`, record.number);
    if (record.content === null) throw this.#wrong(".content", "trades that it settles, or a content", null);
    this.#checkContent(record.content);
    const transaction = this.#makeOf(record, 0);
    this.#checkEffect(transaction);
    this.#tallies.take(this.#state, transaction);
  }

  #makeOf(record: TransactionRecord, firstTrade: number): Transaction {
    const { number, status, block, place, content, oddity } = record;
    if (block !== this.#blocks[number]) throw this.#wrong(".block", `${this.#blocks[number]}`, block);
    if (place !== this.#places[number]) throw this.#wrong(".place", `${this.#places[number]}`, place);
    this.#used += 1;
    return this.#add(number, firstTrade, content, status, oddity);
  }

  #add(
    number: number,
    firstTrade: number,
    content: TransactionContent | null,
    status: TransactionStatus,
    oddity: Transaction["oddity"],
  ): Transaction {
    const transaction: Transaction = {
      number,
      firstTrade,
      trades: 0,
      logs: content === null ? LOGS_OF_MATCH : 0,
      fillsA: 0,
      fillsB: 0,
      content,
      status,
      block: this.#blocks[number] as number,
      place: this.#places[number] as number,
      logsBefore: 0,
      gasBefore: 0,
      oddity,
    };
    this.#state.chain.transactions.add(transaction);
    return transaction;
  }

  #wrong(path: string, expected: string, found: unknown): Error {
    return this.#records.wrong("transactions", this.#used, path, expected, found);
  }

  /** Notes which block of the chain has which transactions, and all that blocks ever had. */
  #listBlocks(): void {
    const { blocks, unfinished } = this.#records;
    const serials: number[] = [];
    for (const [index, { height }] of blocks.entries()) {
      const isNext = height === serials.length || (height > 0 && height < serials.length);
      if (!isNext) {
        const expected = `a height from 1 to ${serials.length}`;
        throw this.#records.wrong("blocks", index, ".height", expected, height);
      }
      serials[height] = index + 1;
    }
    for (const serial of serials) this.#state.chain.heights.add(serial);
    for (const [index, { height, mined }] of blocks.entries()) {
      const isInChain = serials[height] === index + 1;
      this.#listBlock(mined, isInChain ? index + 1 : 0, (...what) =>
        this.#records.wrong("blocks", index, ...what),
      );
    }
    if (unfinished.building === null) return;
    this.#listBlock(unfinished.building.mined, blocks.length + 1, (path, ...what) =>
      this.#records.wrong("unfinished", null, `.building${path}`, ...what),
    );
  }

  #listBlock(
    runs: readonly Run[],
    serial: number,
    wrong: (path: string, expected: string, found: unknown) => Error,
  ): void {
    const { mined } = this.#state.chain;
    let place = 0;
    for (const [index, [first, last]] of runs.entries()) {
      const path = `.mined[${index}]`;
      if (last >= this.#blocks.length)
        throw wrong(path, `transactions up to ${this.#blocks.length - 1}`, [first, last]);
      for (let number = first; number <= last; number += 1) {
        mined.add(number);
        if (serial === 0) continue;
        if (this.#blocks[number] !== 0)
          throw wrong(path, "transactions that no other block of the chain has", [first, last]);
        this.#blocks[number] = serial;
        this.#places[number] = place;
        place += 1;
      }
    }
  }

  /** Whether a content speaks of accounts and markets that there are. */
  #checkContent(content: TransactionContent): void {
    const { accounts, markets } = this.#state;
    const demand = (isTrue: boolean, path: string, expected: string, found: unknown): void => {
      if (!isTrue) throw this.#wrong(`.content.${path}`, expected, found);
    };
    if (content.kind === "call") return;
    const { kind, market } = content;
    const least = kind === "deposit" ? 0 : 1;
    demand(market >= least && market <= markets.size, "market", "the number of a market", market);
    if (kind === "report") {
      const { report } = markets.get(market);
      demand(
        report === this.#state.chain.transactions.next,
        "market",
        "a market that names this report",
        market,
      );
    }
    if (kind !== "deposit") return;
    const { account, yes, no, collateral, size } = content;
    const isMoney = market === 0;
    demand(
      isMoney === account > 0 && account <= accounts.size,
      "account",
      isMoney ? "the number of an account" : "0",
      account,
    );
    demand(
      isMoney === (yes === 0) && yes <= accounts.size,
      "yes",
      isMoney ? "0" : "the number of an account",
      yes,
    );
    demand(
      isMoney === (no === 0) && no <= accounts.size,
      "no",
      isMoney ? "0" : "the number of an account",
      no,
    );
    demand(isMoney || collateral === 0, "collateral", "0", collateral);
    demand(!isMoney || size === 0, "size", "0", size);
  }

  /** Whether a call that was carried out says what came of it, of accounts and markets that there are. */
  #checkEffect({ content, status, oddity }: Transaction): void {
    const { accounts, markets } = this.#state;
    const wrong = (path: string, expected: string, found: unknown): Error =>
      this.#records.wrong("transactions", this.#used - 1, `.oddity${path}`, expected, found);
    const effect = oddity?.effect ?? null;
    const isCall = content?.kind === "call";
    if (isCall && status === "MINED" && effect === null)
      throw wrong(".effect", "what came of the call", effect);
    if (effect === null) return;
    if (!isCall || status === "REVERTED") throw wrong(".effect", "null", effect);
    for (const [index, { account, token }] of effect.moves.entries()) {
      if (account > accounts.size)
        throw wrong(`.effect.moves[${index}].account`, "the number of an account", account);
      if (token === 1 || token >= 2 * markets.size + 2)
        throw wrong(`.effect.moves[${index}].token`, "a token, or 0", token);
    }
    const market = effect.supply?.market ?? 1;
    if (effect.supply !== null && market > markets.size)
      throw wrong(".effect.supply.market", "the number of a market", market);
  }
}
