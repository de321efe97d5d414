import { unitsOf } from "../api/decimals.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf } from "../core/format.ts";
import type { OrderType, Outcome, Side } from "../core/terms.ts";
import { parseDuration, parseIso } from "../core/time.ts";
import {
  FULL_PRICE,
  MAX_ISSUANCE,
  MAX_MILLIS,
  MAX_SIZE,
  type Millis,
  money,
  type Price,
  price,
  type Size,
  size,
} from "../core/units.ts";
import {
  type Column,
  type FlowRow,
  type FundCollateralRow,
  type FundSharesRow,
  isAccountName,
  isMarketName,
  isOrderName,
  MAX_NAME_LENGTH,
  type PlaceRow,
} from "./flow.ts";
import { didYouMean, shown } from "./flow-error.ts";

/** V8 lets a part of at least this length point into the text that it was cut from. */
const SHORTEST_SLICE = 13;
const MAX_KEPT = 1000;

/**
 * The same text in memory of its own: whoever keeps a name that was cut from a file keeps no more of the file than
 * that. For ASCII only.
 */
const ownText = (text: string): string =>
  text.length < SHORTEST_SLICE ? text : Buffer.from(text, "latin1").toString("latin1");

/** Makes names that come again and again their own once. */
class OwnTexts {
  readonly #kept = new Map<string, string>();

  /** As `ownText`. */
  of(text: string): string {
    if (text.length < SHORTEST_SLICE) return text;
    const kept = this.#kept.get(text);
    if (kept !== undefined) return kept;
    if (this.#kept.size === MAX_KEPT) this.#kept.clear();
    const own = ownText(text);
    this.#kept.set(own, own);
    return own;
  }
}

/** A cell of a row says something else than what is expected there. */
export class CellError extends Error {
  override readonly name = "CellError";
  readonly cell: Column;

  constructor(cell: Column, message: string) {
    super(message);
    this.cell = cell;
  }
}

/** The cell holds another word than those that are known. */
function notOneOf(cell: Column, found: string, words: readonly string[]): CellError {
  const expected = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  return new CellError(cell, `${cell} expects ${expected}, found ${shown(found)}${didYouMean(found, words)}`);
}

const NAMES = {
  account: "a name such as trader-1: a letter, then letters, digits, _ and -",
  market: "a name such as rain: a letter or digit, then letters, digits, _ and -",
  ref: "the name of an order such as o1: a letter or digit, then letters, digits, _, -, . and :",
} as const;

/** The cell holds nothing that could be such a name. */
function notAName(cell: keyof typeof NAMES, found: string): CellError {
  const limit = found.length > MAX_NAME_LENGTH ? `, ${MAX_NAME_LENGTH} at most` : "";
  return new CellError(cell, `${cell} expects ${NAMES[cell]}${limit}, found ${shown(found)}`);
}

/** The cell holds no amount above 0 in plain digits, or one that is too large or too fine. */
function notAnAmount(cell: "price" | "size", what: string, places: number, found: string): CellError {
  const message = `${cell} expects ${what} in plain digits with at most ${places} decimal places, found ${shown(found)}`;
  return new CellError(cell, message);
}

/** Where each column stands in a header or a line, from 0; -1 for one that is left out. */
export type ColumnPlaces = Record<Column, number>;

/** The places before any column is found. */
export const noPlaces = (): ColumnPlaces => ({
  at: -1,
  account: -1,
  op: -1,
  ref: -1,
  side: -1,
  outcome: -1,
  price: -1,
  size: -1,
  type: -1,
  market: -1,
});

/** The cells of one row as they were written; empty where the row has none. */
export type RowCells = Record<Column, string>;

/** The cells of a row before any is filled; one record can serve every row of a file in turn. */
export const emptyCells = (): RowCells => ({
  at: "",
  account: "",
  op: "",
  ref: "",
  side: "",
  outcome: "",
  price: "",
  size: "",
  type: "",
  market: "",
});

const OPS = ["place", "cancel", "cancel-all", "fund"] as const;
const SIDES: readonly Side[] = ["BUY", "SELL"];
const OUTCOMES: readonly Outcome[] = ["YES", "NO"];
const ASSETS = ["USDC", ...OUTCOMES] as const;
const TYPES: readonly OrderType[] = ["GTC", "GTD", "FOK", "FAK"];
/** As many full sets as all the USDC of an exchange can back. */
const MAX_SHARES = size(MAX_ISSUANCE / FULL_PRICE);

const ZERO = 48;

/** What a row that does not place an order leaves empty. */
const CANCEL_LEAVES: readonly Column[] = ["side", "outcome", "price", "size", "type"];
const CANCEL_ALL_LEAVES: readonly Column[] = ["ref", ...CANCEL_LEAVES];
const FUND_LEAVES: readonly Column[] = ["ref", "side", "price", "type"];

/** Turns the cells of rows, in the order of the flow, into rows in the core's units. */
export class RowReader {
  readonly #start: Millis | null;
  readonly #names = new OwnTexts();
  #last = 0;

  /** `start`: when the flow starts; null when that is not known, and then no row can name a moment. */
  constructor(start: Millis | null) {
    this.#start = start;
  }

  /** The row of these cells. @throws CellError at the first cell that is wrong. */
  row(cells: RowCells): FlowRow {
    const at = this.#at(cells.at);
    if (!isAccountName(cells.account)) throw notAName("account", cells.account);
    if (cells.market !== "" && !isMarketName(cells.market)) throw notAName("market", cells.market);
    const account = this.#names.of(cells.account);
    const market = cells.market === "" ? null : this.#names.of(cells.market);
    switch (cells.op) {
      case "":
      case "place":
        return this.#place(at, account, market, cells);
      case "cancel":
        if (!isOrderName(cells.ref)) throw notAName("ref", cells.ref);
        leaveEmpty(cells, CANCEL_LEAVES);
        return { op: "cancel", at, account, market, ref: ownText(cells.ref) };
      case "cancel-all":
        leaveEmpty(cells, CANCEL_ALL_LEAVES);
        return { op: "cancel-all", at, account, market };
      case "fund":
        leaveEmpty(cells, FUND_LEAVES);
        return { op: "fund", at, account, market, ...fundingOf(cells) };
      default:
        throw notOneOf("op", cells.op, OPS);
    }
  }

  #place(at: number, account: string, market: string | null, cells: RowCells): PlaceRow {
    const { ref } = cells;
    if (ref !== "" && !isOrderName(ref)) throw notAName("ref", ref);
    const side = sideOf(cells.side);
    const outcome = outcomeOf(cells.outcome);
    const type = typeOf(cells.type);
    return {
      op: "place",
      at,
      account,
      market,
      ref: ownText(ref),
      side,
      outcome,
      price: priceOf(cells.price),
      size: sizeOf(cells.size),
      type,
      expiresIn: type === "GTD" ? this.#expiresIn(at, cells.type) : null,
    };
  }

  /** Milliseconds since the start of the flow. */
  #at(text: string): number {
    const at = wholeOf(text) ?? parseDuration(text) ?? this.#sinceStart("at", text);
    if (at === null || (this.#start ?? 0) + at > MAX_MILLIS) {
      const expected = "milliseconds since the start, a duration such as 1m30s or a moment such as";
      throw new CellError("at", `at expects ${expected} 2026-01-01T00:00:00Z, found ${shown(text)}`);
    }
    if (at < 0) throw new CellError("at", `at expects no moment before the start, found ${shown(text)}`);
    if (at < this.#last) {
      const before = `the row before, which comes ${this.#last} ms after the start`;
      throw new CellError("at", `at expects no moment before that of ${before}, found ${shown(text)}`);
    }
    this.#last = at;
    return at;
  }

  /** How long after its own moment an order of type `GTD +60s` or `GTD 2026-01-01T00:00:00Z` expires. */
  #expiresIn(at: number, type: string): number {
    const end = type.slice("GTD ".length);
    const moment = end.startsWith("+") ? null : this.#sinceStart("type", end);
    const length = moment === null ? parseDuration(end.slice(1)) : moment - at;
    if (length === null || (moment === null && !end.startsWith("+"))) {
      const expected = "its end after one space, such as GTD +60s or GTD 2026-01-01T00:00:00Z";
      throw new CellError("type", `GTD expects ${expected}, found ${shown(type)}`);
    }
    if (length < 1 || (this.#start ?? 0) + at + length > MAX_MILLIS) {
      const expected = "an end later than the order itself and not after the year 9999";
      throw new CellError("type", `GTD expects ${expected}, found ${shown(type)}`);
    }
    return length;
  }

  /** Milliseconds from the start of the flow to a moment, or null when the text names none. */
  #sinceStart(cell: Column, text: string): number | null {
    const moment = parseIso(text);
    if (moment === null) return null;
    if (this.#start !== null) return moment - this.#start;
    const expected = "a time since the start, for the moment of the start is not known";
    throw new CellError(cell, `${cell} expects ${expected}, found ${shown(text)}`);
  }
}

/** A whole number of at most 15 digits; null when the text is none. */
function wholeOf(text: string): number | null {
  const { length } = text;
  if (length === 0 || length > 15) return null;
  let whole = 0;
  for (let index = 0; index < length; index += 1) {
    const digit = text.charCodeAt(index) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return null;
    whole = whole * 10 + digit;
  }
  return whole;
}

// Words are answered as constants: whoever keeps a row must not keep its cells.

function sideOf(text: string): Side {
  if (text === "BUY") return "BUY";
  if (text === "SELL") return "SELL";
  throw notOneOf("side", text, SIDES);
}

function outcomeOf(text: string): Outcome {
  if (text === "YES") return "YES";
  if (text === "NO") return "NO";
  throw notOneOf("outcome", text, OUTCOMES);
}

function typeOf(text: string): OrderType {
  if (text === "" || text === "GTC") return "GTC";
  if (text === "FAK") return "FAK";
  if (text === "FOK") return "FOK";
  if (text === "GTD" || text.startsWith("GTD ")) return "GTD";
  throw notOneOf("type", text, TYPES);
}

function priceOf(text: string): Price {
  const units = unitsOf(text, PRICE_PLACES);
  if (units !== null && units > 0 && units < FULL_PRICE) return price(units);
  throw notAnAmount("price", "USDC above 0 and below 1", PRICE_PLACES, text);
}

function sizeOf(text: string): Size {
  const units = unitsOf(text, SIZE_PLACES);
  if (units !== null && units > 0 && units <= MAX_SIZE) return size(units);
  const most = textOf(MAX_SIZE, SIZE_PLACES);
  throw notAnAmount("size", `shares above 0 and up to ${most}`, SIZE_PLACES, text);
}

/** What a `fund` row gives: its outcome column holds the asset, its size column the amount. */
function fundingOf({
  outcome: word,
  size: text,
}: RowCells): Pick<FundCollateralRow, "asset" | "amount"> | Pick<FundSharesRow, "asset" | "amount"> {
  if (word === "USDC") {
    const units = unitsOf(text, MONEY_PLACES);
    if (units !== null && units > 0 && units <= MAX_ISSUANCE) return { asset: "USDC", amount: money(units) };
    const most = textOf(MAX_ISSUANCE, MONEY_PLACES);
    throw notAnAmount("size", `USDC above 0 and up to ${most}`, MONEY_PLACES, text);
  }
  if (word !== "YES" && word !== "NO") throw notOneOf("outcome", word, ASSETS);
  const asset = outcomeOf(word);
  const units = unitsOf(text, SIZE_PLACES);
  if (units !== null && units > 0 && units <= MAX_SHARES) return { asset, amount: size(units) };
  const most = textOf(MAX_SHARES, SIZE_PLACES);
  throw notAnAmount("size", `shares above 0 and up to ${most}`, SIZE_PLACES, text);
}

/** @throws CellError at a cell in which a row of this kind has nothing to say. */
function leaveEmpty(cells: RowCells, columns: readonly Column[]): void {
  for (const column of columns) {
    if (cells[column] === "") continue;
    throw new CellError(column, `${cells.op} expects no ${column}, found ${shown(cells[column])}`);
  }
}
