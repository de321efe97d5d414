import type { Account } from "../account.ts";
import type { ByteCursor } from "../bytes/byte-cursor.ts";
import type { EventRecord, Market } from "../market.ts";
import type { Order } from "../order.ts";
import type { ExchangeConfig } from "../state.ts";
import { MAX_ISSUANCE, type Money } from "../units.ts";
import { readAccount } from "./account-record.ts";
import {
  type BlockRecord,
  blockAt,
  type HeadRecord,
  readBlock,
  readHead,
  readUnfinished,
  readWaiting,
  readWallet,
  type UnfinishedRecord,
  type WaitingRecord,
  type WalletRecord,
} from "./chain-record.ts";
import { readConfig, readUnits } from "./config-record.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { type Identified, readEvent, readMarket } from "./market-record.ts";
import { type LooseTrade, orderAt, readOrder, readTrade, tradeAt } from "./order-record.ts";
import type { PartReader } from "./parts.ts";
import { readTransaction, type TransactionRecord } from "./transaction-record.ts";

const LISTS = [
  "accounts",
  "events",
  "markets",
  "orders",
  "trades",
  "wallets",
  "transactions",
  "blocks",
] as const;
const SINGLES = ["units", "config", "chain", "waiting", "issued", "unfinished"] as const;
type ListName = (typeof LISTS)[number];
type SingleName = (typeof SINGLES)[number];

/** What a document holds, record by record, each checked by itself; what they say of one another is not. */
export class Records implements PartReader {
  readonly accounts: Account[] = [];
  readonly events: Identified<EventRecord>[] = [];
  readonly markets: Identified<Market>[] = [];
  readonly orders: Order[] = [];
  readonly trades: LooseTrade[] = [];
  readonly wallets: WalletRecord[] = [];
  readonly transactions: TransactionRecord[] = [];
  readonly blocks: BlockRecord[] = [];
  /** Fields that are none of the document's own. */
  readonly others = new Map<string, unknown>();
  readonly #singles = new Map<SingleName, unknown>();
  /** Of each field, the line where it begins; of a list whose records have a line each, that of the first. */
  readonly #lines = new Map<string, { first: number; isRegular: boolean }>();
  readonly #seen = new Set<string>();

  field(name: string, value: unknown, line: number | null): void {
    const where = { section: name, index: null, line };
    this.#begin(name, where);
    if (isIn(LISTS, name)) throw new DocumentError(where, "", "a list", value);
    if (isIn(SINGLES, name)) this.#singles.set(name, readSingle(name, value, where));
    else this.others.set(name, value);
  }

  list(name: string, line: number | null): void {
    const where = { section: name, index: null, line };
    this.#begin(name, where);
    if (isIn(SINGLES, name)) {
      throw new DocumentError(where, "", name === "issued" ? "an integer" : "an object", []);
    }
    if (!isIn(LISTS, name)) this.others.set(name, []);
  }

  quick(name: string, index: number, at: ByteCursor, line: number): boolean {
    if (!this.#readAt(name, index + 1, at)) return false;
    this.#noteLine(name, index, line);
    return true;
  }

  item(name: string, index: number, value: unknown, line: number | null): void {
    if (!isIn(LISTS, name)) {
      (this.others.get(name) as unknown[]).push(value);
      return;
    }
    this.#noteLine(name, index, line);
    this.#add(name, { section: name, index, line }, value, index + 1);
  }

  /** @throws DocumentError when a field is missing. */
  end(): void {
    const missing = [...SINGLES, ...LISTS].find((name) => !this.#seen.has(name));
    if (missing === undefined) return;
    throw new DocumentError({ section: missing, index: null, line: null }, "", "a value", undefined);
  }

  get config(): ExchangeConfig {
    return this.#singles.get("config") as ExchangeConfig;
  }

  get head(): HeadRecord {
    return this.#singles.get("chain") as HeadRecord;
  }

  get waiting(): WaitingRecord {
    return this.#singles.get("waiting") as WaitingRecord;
  }

  get unfinished(): UnfinishedRecord {
    return this.#singles.get("unfinished") as UnfinishedRecord;
  }

  get issued(): Money {
    return this.#singles.get("issued") as Money;
  }

  /** What a place must hold and does not; `index` counts the records of a list from 0. */
  wrong(
    section: ListName | SingleName,
    index: number | null,
    path: string,
    expected: string,
    found: unknown,
  ): DocumentError {
    const lines = this.#lines.get(section);
    const line = lines?.isRegular ? lines.first + (index ?? 0) : null;
    return new DocumentError({ section, index, line }, path, expected, found);
  }

  #begin(name: string, where: Where): void {
    if (this.#seen.has(name)) throw new DocumentError(where, "", "this field once", name);
    this.#seen.add(name);
    if (where.line !== null && isIn(SINGLES, name)) {
      this.#lines.set(name, { first: where.line, isRegular: true });
    }
  }

  #noteLine(name: string, index: number, line: number | null): void {
    if (line === null) return;
    const lines = this.#lines.get(name);
    if (lines === undefined) this.#lines.set(name, { first: line, isRegular: true });
    else if (lines.first + index !== line) lines.isRegular = false;
  }

  /** Of these there are millions. */
  #readAt(name: string, number: number, cursor: ByteCursor): boolean {
    switch (name) {
      case "orders":
        return isKept(this.orders, orderAt(cursor, number));
      case "trades":
        return isKept(this.trades, tradeAt(cursor, number));
      case "blocks":
        return isKept(this.blocks, blockAt(cursor, number));
      default:
        return false;
    }
  }

  #add(name: ListName, where: Where, value: unknown, number: number): void {
    switch (name) {
      case "orders":
        this.orders.push(readOrder(value, where, number));
        break;
      case "trades":
        this.trades.push(readTrade(value, where, number));
        break;
      case "blocks":
        this.blocks.push(readBlock(value, where, number));
        break;
      case "transactions":
        this.transactions.push(readTransaction(value, where));
        break;
      case "accounts":
        this.accounts.push(readAccount(value, where, number));
        break;
      case "events":
        this.events.push(readEvent(value, where, number));
        break;
      case "markets":
        this.markets.push(readMarket(value, where, number));
        break;
      case "wallets":
        this.wallets.push(readWallet(value, where));
        break;
    }
  }
}

function isKept<Kept>(list: Kept[], item: Kept | null): boolean {
  if (item === null) return false;
  list.push(item);
  return true;
}

const isIn = <Name extends string>(names: readonly Name[], name: string): name is Name =>
  (names as readonly string[]).includes(name);

function readSingle(name: SingleName, value: unknown, where: Where): unknown {
  switch (name) {
    case "units":
      return readUnits(value, where);
    case "config":
      return readConfig(value, where);
    case "chain":
      return readHead(value, where);
    case "waiting":
      return readWaiting(value, where);
    case "unfinished":
      return readUnfinished(value, where);
    case "issued":
      if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_ISSUANCE)
        return value;
      throw new DocumentError(where, "", `an integer from 0 to ${MAX_ISSUANCE}`, value);
  }
}
