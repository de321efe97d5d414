import { Account } from "./account.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { BlockTerms, type Chain, ChainWallet, headBlock, Mining, SettlementFault } from "./chain/chain.ts";
import { Transaction } from "./chain/transaction.ts";
import { check, DocumentError, within } from "./document-error.ts";
import { EventRecord, Market } from "./market.ts";
import { Order, Trade } from "./order.ts";
import {
  array,
  boolean,
  fieldsOf,
  type Infer,
  id,
  integer,
  list,
  moment,
  onDisk,
  oneOf,
  optional,
  orNull,
  record,
  refined,
  type Type,
  tuple,
} from "./schema.ts";
import { ExchangeConfig, type State } from "./state.ts";
import { MAX_ISSUANCE, type Money } from "./units.ts";

// A state as one JSON document with a line per record. Derived data (books and their queues, lists, price histories,
// settlements that are simply mined or pending) is not in it; `rebuildState` makes it.

/** Units of the integers in a document. */
const UNITS = { price: "0.0001 USDC", size: "0.01 share", money: "0.000001 USDC", at: "Unix ms" } as const;
const Units = record({
  price: oneOf(UNITS.price),
  size: oneOf(UNITS.size),
  money: oneOf(UNITS.money),
  at: oneOf(UNITS.at),
});

const word = integer(-2_147_483_648, 2_147_483_647);
const Digest = tuple<[number, number, number, number]>("4 integers", word, word, word, word);

/** First and last number of consecutive transactions in a block. */
const Run = refined(
  tuple<[first: number, last: number]>("the first and the last of a run of transactions", id(), id()),
  (run) => check(run[0] <= run[1], "the first and the last of a run of transactions", run),
);

const Head = record({
  head: integer(),
  at: moment(),
  digest: Digest,
  blocks: id(),
  reorganizations: integer(),
});

const Waiting = record({
  firstUnprocessed: onDisk("fresh", id()),
  deferred: onDisk("held", array(id())),
  lost: array(id()),
  nextBlockAt: orNull(moment()),
  lastFilled: orNull(integer()),
  faults: list(SettlementFault),
  faultsSet: integer(),
  mining: optional(Mining),
  nextBaseFee: optional(integer()),
  blockTerms: optional(list(BlockTerms)),
});

// Fields of a block, mined or being assembled.
const HEADER = { height: integer(), at: moment(), baseFee: integer() };
const TRANSACTIONS = { mined: list(Run), logs: integer(), gas: integer() };

/** Block; its parent follows from the heights. */
const BlockRecord = record({ serial: id(), ...HEADER, ...TRANSACTIONS, digest: Digest });

/** Requested blocks and the block being assembled; empty between two submitted commands. */
const Unfinished = record({
  asked: integer(),
  building: orNull(record({ ...HEADER, cursor: integer(), ...TRANSACTIONS, isFilled: boolean() })),
});

export type Run = Infer<typeof Run>;

/** Field of the document that is not a list. */
const one = <Value>(type: Type<Value>, of: (state: State) => Value) => ({ isList: false as const, type, of });

/** Field with a list of records, one per line; `key` is the field with the position of a record in the list, if it has one. */
const each = <Value>(
  type: Type<Value>,
  of: (state: State) => Iterable<Value>,
  key?: "number" | "serial",
) => ({ isList: true as const, type, of, key });

type Single<Value> = ReturnType<typeof one<Value>>;
type Records<Value> = ReturnType<typeof each<Value>>;

/** Fields of the document, in order. */
const SECTIONS = {
  units: one(Units, () => UNITS),
  config: one(ExchangeConfig, ({ config }) => config),
  accounts: each(Account, ({ accounts }) => accounts, "number"),
  events: each(EventRecord, ({ events }) => events, "number"),
  markets: each(Market, ({ markets }) => markets, "number"),
  orders: each(Order, ({ orders }) => orders, "number"),
  trades: each(Trade, ({ trades }) => trades, "number"),
  chain: one(Head, ({ chain }) => ({
    head: headBlock(chain).height,
    at: headBlock(chain).at,
    digest: chain.digest.words,
    blocks: chain.blocks.size,
    reorganizations: chain.reorganizations,
  })),
  waiting: one(Waiting, ({ chain: { mining, nextBaseFee, blockTerms, ...chain } }) => ({
    ...chain,
    ...(mining === null ? {} : { mining }),
    ...(nextBaseFee === null ? {} : { nextBaseFee }),
    ...(blockTerms.length === 0 ? {} : { blockTerms }),
  })),
  wallets: each(ChainWallet, ({ chain }) =>
    [...chain.wallets.values()].sort((a, b) => (a.address < b.address ? -1 : 1)),
  ),
  transactions: each(Transaction, recordedTransactions),
  issued: one(integer<Money>(0, MAX_ISSUANCE), ({ issued }) => issued),
  // The state hash covers all fields above; the chain's digest covers the blocks below.
  unfinished: one(Unfinished, ({ chain, chain: { asked, building, mined } }) => ({
    asked,
    building: building && { ...building, mined: runsOf(chain, building.first, mined.size - building.first) },
  })),
  blocks: each(BlockRecord, blockRecords, "serial"),
} as const;

type Name = keyof typeof SECTIONS;
type Section = Single<unknown> | Records<unknown>;
const NAMES = Object.keys(SECTIONS) as Name[];
const HASHED = NAMES.slice(0, NAMES.indexOf("unfinished"));

/** Contents of a document. Each record is checked by itself, references between records are not. */
export type Contents = {
  readonly [Of in Name]: (typeof SECTIONS)[Of] extends Records<infer Value>
    ? Value[]
    : (typeof SECTIONS)[Of] extends Single<infer Value>
      ? Value
      : never;
};

/** Yields the transactions that their trades do not define completely. */
function* recordedTransactions({ chain }: State): Generator<Transaction> {
  for (const transaction of chain.transactions) {
    if (transaction.content !== null || transaction.exception !== null) yield transaction;
  }
}

function* blockRecords({ chain }: State): Generator<Infer<typeof BlockRecord>> {
  for (const { serial, height, at, baseFee, first, count, logs, gas, ...block } of chain.blocks) {
    const digest = [block.digestA, block.digestB, block.digestC, block.digestD] as const;
    yield { serial, height, at, baseFee, mined: runsOf(chain, first, count), logs, gas, digest: [...digest] };
  }
}

function runsOf({ mined }: Chain, first: number, count: number): Run[] {
  const runs: [number, number][] = [];
  for (let index = first + 1; index <= first + count; index += 1) {
    const number = mined.get(index);
    const run = runs.at(-1);
    if (run !== undefined && number === run[1] + 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

function* linesOf(state: State, names: readonly Name[]): Generator<string> {
  for (const name of names) {
    const section: Section = SECTIONS[name];
    const comma = name === names.at(-1) ? "" : ",";
    if (!section.isList) {
      yield `"${name}":${section.type.write(section.of(state))}${comma}`;
      continue;
    }
    yield `"${name}":[`;
    const { write } = section.type;
    let previous: string | null = null;
    for (const item of section.of(state)) {
      if (previous !== null) yield `${previous},`;
      previous = write(item);
    }
    if (previous !== null) yield previous;
    yield `]${comma}`;
  }
}

/** Yields the lines of the document that the state hash covers; equal histories give equal bytes. */
export function* canonicalLines(state: State): Generator<string> {
  yield "{";
  yield* linesOf(state, HASHED);
  yield "}";
}

/** Yields the lines of all fields of the document, without the braces of the JSON object; the last has no comma. */
export const documentLines = (state: State): Generator<string> => linesOf(state, NAMES);

export interface ParsedContents {
  readonly contents: Contents;
  /** Fields that do not belong to the document, added by a wrapper. */
  readonly others: ReadonlyMap<string, unknown>;
  /** Line on which each field begins, from 1; empty if unknown. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Returns the records of a parsed JSON document. @throws DocumentError */
export function readContents(document: unknown): ParsedContents {
  const reader = new DocumentReader();
  for (const [name, value] of Object.entries(fieldsOf(document))) reader.field(name, value);
  return reader.end();
}

/**
 * Reads the lines of `documentLines`, with or without braces; other fields may occur between, one per line. Bytes are not
 * copied.
 * @param pieces each ends with a line feed; the last may end without.
 * @param decode returns bytes as text.
 * @throws DocumentError that names the line and the path.
 */
export function parseContents(
  pieces: Iterable<Uint8Array>,
  decode: (bytes: Uint8Array) => string,
): ParsedContents {
  const reader = new DocumentReader();
  let line = 0;
  for (const piece of pieces) {
    const cursor = new ByteCursor(piece);
    for (let start = 0; start < piece.length; ) {
      const feed = piece.indexOf(LINE_FEED, start);
      const end = feed < 0 ? piece.length : feed;
      line += 1;
      try {
        if (!reader.takeBytes(cursor, start, end)) reader.take(decode(piece.subarray(start, end)), line);
      } catch (error) {
        throw error instanceof DocumentError ? error.onLine(line) : error;
      }
      start = end + 1;
    }
  }
  return reader.end();
}

const LINE_FEED = 10;
const COMMA = 44;
const FIELD = /^"(\w+)":(.+)$/s;

/** What may follow in an object or a list: "more" after a comma, "end" without one, "anything" at the start. */
type Next = "anything" | "more" | "end";

/** Reads the fields of a document, and the records of fields that are lists. */
class DocumentReader {
  readonly #contents: Record<string, unknown> = {};
  readonly #others = new Map<string, unknown>();
  readonly #lines = new Map<string, number>();
  /** Name of the list whose records follow, one per line. */
  #name = "";
  #section: Records<unknown> | null = null;
  #items: unknown[] = [];
  #nextField: Next = "anything";
  #nextItem: Next = "anything";
  #isOpen = false;

  field(name: string, value: unknown): void {
    const section = this.#sectionOf(name);
    if (section === null) this.#others.set(name, value);
    else if (!section.isList) this.#contents[name] = within(name, () => section.type.parse(value));
    else if (!Array.isArray(value)) throw new DocumentError("a list", value, name);
    else {
      this.#begin(name, section);
      for (const item of value) this.#item(() => item);
      this.#section = null;
    }
  }

  /** Reads the next line if it is a record in canonical form; else returns false without effect. */
  takeBytes(cursor: ByteCursor, start: number, end: number): boolean {
    const section = this.#section;
    if (section === null || this.#nextItem === "end") return false;
    const hasComma = cursor.bytes[end - 1] === COMMA;
    cursor.begin(start, hasComma ? end - 1 : end);
    const item = section.type.read(cursor);
    if (cursor.hasFailed || !cursor.isAtEnd) return false;
    this.#add(section, item);
    this.#nextItem = hasComma ? "more" : "end";
    return true;
  }

  take(line: string, number: number): void {
    const next: Next = line.endsWith(",") ? "more" : "end";
    const content = next === "more" ? line.slice(0, -1) : line;
    if (this.#section !== null) this.#takeItem(content, next);
    else if (line === "{" && number === 1) this.#isOpen = true;
    else if (line === "}" && this.#isOpen && this.#nextField !== "more") {
      this.#isOpen = false;
      this.#nextField = "end";
    } else if (line !== "" || this.#nextField !== "end") this.#takeField(content, number, next);
  }

  #takeItem(content: string, next: Next): void {
    if (content === "]" && this.#nextItem !== "more") {
      this.#section = null;
      this.#nextField = next;
      return;
    }
    const isDue = this.#nextItem !== "end";
    this.#item(() => jsonOf(isDue ? content : `no comma before ${content}`));
    this.#nextItem = next;
  }

  #takeField(content: string, number: number, next: Next): void {
    const [, name, value] = FIELD.exec(content) ?? [];
    if (name === undefined || value === undefined || this.#nextField === "end")
      throw new DocumentError('a field, `"name":value`, after a comma', content);
    this.#lines.set(name, number);
    if (value !== "[") {
      const parsed = within(name, () => jsonOf(value));
      this.field(name, parsed);
      this.#nextField = next;
      return;
    }
    const section = this.#sectionOf(name);
    if (section?.isList !== true) throw new DocumentError("a value", "[", name);
    this.#begin(name, section);
  }

  /** Returns the contents. @throws DocumentError if a field is missing. */
  end(): ParsedContents {
    const missing = NAMES.find((name) => !Object.hasOwn(this.#contents, name));
    const unended = this.#section === null ? missing : this.#name;
    if (unended !== undefined) throw new DocumentError("a value", undefined, unended);
    if (this.#nextField === "more") throw new DocumentError("another field", undefined);
    if (this.#isOpen) throw new DocumentError("}", undefined);
    return { contents: this.#contents as unknown as Contents, others: this.#others, lines: this.#lines };
  }

  /** Returns the section of a field; null if it does not belong to the document. */
  #sectionOf(name: string): Section | null {
    if (this.#others.has(name) || Object.hasOwn(this.#contents, name))
      throw new DocumentError("this field once", name, name);
    return Object.hasOwn(SECTIONS, name) ? (SECTIONS[name as Name] as Section) : null;
  }

  #begin(name: string, section: Records<unknown>): void {
    this.#name = name;
    this.#section = section;
    this.#items = [];
    this.#nextItem = "anything";
    this.#contents[name] = this.#items;
  }

  #item(read: () => unknown): void {
    const section = this.#section as Records<unknown>;
    const parse = (): unknown => section.type.parse(read());
    const item = within(this.#name, () => within(this.#items.length, parse));
    this.#add(section, item);
  }

  #add({ key }: Records<unknown>, item: unknown): void {
    const number = this.#items.push(item);
    const found = key === undefined ? number : (item as Record<string, unknown>)[key];
    if (found !== number) throw new DocumentError(`${number}`, found, this.#name, number - 1, `${key}`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError("JSON", text);
  }
}
