import { Buffer } from "node:buffer";
import { type Command, type CommandOf, commandData, isCommandKind, parseCommand } from "../core/commands.ts";
import { check, DocumentError, formatValue, within } from "../core/document-error.ts";
import { idOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import { ORDER_TERMS, requireExpiration } from "../core/order.ts";
import { RefusedRequest } from "../core/refusals.ts";
import {
  anyObject,
  boolean,
  custom,
  fieldsLike,
  fieldsOf,
  type Infer,
  id,
  integer,
  moment,
  numberIn,
  oneOf,
  openRecord,
  optional,
  orNull,
  type RecordType,
  record,
  refined,
  type Type,
  text,
  textLike,
} from "../core/schema.ts";
import { ExchangeConfig, type State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import type { Durability } from "../setting.ts";
import { VERSION } from "../version.ts";
import { DataFileError } from "./journal.ts";

/** The name of the format, in the first line of each journal. */
export const FORMAT = "clobsim-journal/1";
const FORMAT_NAME = FORMAT.slice(0, FORMAT.indexOf("/") + 1);

/** Durability of lines when they were written. */
export const durability = oneOf<Durability>("process", "power");

export interface JournalEnd {
  /** Number and check of the last line, 0 before the first. */
  readonly number: number;
  readonly check: number;
  /** The size of the file. */
  readonly offset: number;
  /** Number of refused requests recorded before it; absent where it does not matter. */
  readonly refused?: number;
}

export const BEGINNING: JournalEnd = { number: 0, check: 0, offset: 0 };

// Records to which later versions may add fields.

const MAX_RATE = 1_000_000;
/** Maximum bytes of a path, and of each of its segments. */
const MAX_PATH = 3_000;
const MAX_PART = 255;

/** Version of a program, as in its package.json. */
export const engineVersion = textLike(/^[\w.+-]{1,64}$/, "a version such as 1.2.3");
/** A state hash; without `v2:`, as earlier versions wrote it, a content hash. */
const HASH = "v2: and 64 hex digits";
const hash = textLike(/^(?:v2:)?[0-9a-f]{64}$/, HASH);
const hashOrNone = textLike(/^(?:(?:v2:)?[0-9a-f]{64})?$/, `${HASH}, or nothing in quotes`);

/** Fields of a clock setting. */
export const CLOCK_SETTING = {
  mode: oneOf("real", "frozen", "scaled"),
  /** Virtual seconds per wall second; used only in mode `scaled`. */
  rate: numberIn(0, MAX_RATE),
} as const;
/** Wall time, Unix ms. */
export const wallTime = numberIn(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const texts = refined(
  fieldsLike<string>((value) => typeof value === "string", "texts by file path"),
  (found) => {
    const names = new Set(Object.keys(found));
    const stray = [...names].find((name) => !isPathAmong(names, name));
    if (stray !== undefined) throw new DocumentError("paths of files in the scenario's folder", stray);
  },
);

/** Whether a path is relative, normalized and not too long, and none of its folders is itself one of the files. */
function isPathAmong(names: ReadonlySet<string>, path: string): boolean {
  const parts = path.split("/");
  const isPlain = parts.every(
    (part) => !["", ".", ".."].includes(part) && !part.includes("\0") && Buffer.byteLength(part) <= MAX_PART,
  );
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  return isPlain && Buffer.byteLength(path) <= MAX_PATH && !folders.some((folder) => names.has(folder));
}

/** The content of an exchange before its first command. */
const Base = openRecord({
  /** `world`: its history is played; `state`: it continues from the document of a state. */
  kind: oneOf("world", "state"),
  content: anyObject(),
});
export type Base = Infer<typeof Base>;

/** Types of the control records, by their `k`. */
const CONTROL_RECORDS = {
  opening: openRecord({
    format: oneOf<string>(FORMAT),
    /** Version of the program that wrote it. */
    engine: engineVersion,
    config: openRecord(ExchangeConfig.fields) as Type<unknown> as Type<ExchangeConfig>,
    start: moment(),
    /** The clock setting, and whether a reset sets the clock to wall time. */
    clock: openRecord({ ...CLOCK_SETTING, followsWall: boolean() }),
    base: Base,
    /** Sequence of the exchange after the base. */
    sequence: integer(),
    /** State hash after the base. */
    hash,
  }),
  /** A program started with the journal. */
  start: openRecord({ engine: engineVersion, durability, wall: wallTime, ...CLOCK_SETTING }),
  /** The clock was set; `wall` is the wall time. */
  clock: openRecord({ wall: wallTime, ...CLOCK_SETTING }),
  /** The exchange was restored to its state after a line. */
  restore: openRecord({ line: id() }),
  /** The exchange was restarted at the base of the opening. */
  reset: openRecord({}),
  close: openRecord({ hash, wall: wallTime }),
  /** A command that threw: a defect. The state does not include it. */
  defect: openRecord({ command: orNull(custom(parseCommand)), message: text() }),
  /** The scenario that failed, and its files, by relative path. */
  scenario: refined(openRecord({ file: text(), texts }), ({ file, texts: files }) =>
    check(Object.hasOwn(files, file), "the path of one of the texts", file, "file"),
  ),
  refused: RefusedRequest,
  /** Refused requests from here on are not recorded. */
  refusedFull: openRecord({ noted: integer() }),
  /** The end of a report: state hash, reason, program, and the command that replays it. */
  report: openRecord({
    hash: hashOrNone,
    reason: text(),
    engine: engineVersion,
    node: text(),
    replay: text(),
  }),
} as const;

export type ControlRecords = {
  [Kind in keyof typeof CONTROL_RECORDS]: Infer<(typeof CONTROL_RECORDS)[Kind]>;
};
export type ControlKind = keyof ControlRecords;
/** Data of the first line. */
export type OpeningData = ControlRecords["opening"];

export const isControlKind = (kind: string): kind is ControlKind => Object.hasOwn(CONTROL_RECORDS, kind);

// The most frequent lines name account, token and order by number, because the cost of a line depends on its length.

/** A command placeOrder. */
export const OrderLine = refined(
  record({ account: id(), token: integer(2), ...ORDER_TERMS, expiration: optional(moment()) }),
  requireExpiration,
);
const ALL_FIELDS = Object.keys((commandData("placeOrder") as RecordType<object>).fields);
const LINE_FIELDS = new Set(["address", "tokenId", ...Object.keys(OrderLine.fields)]);
/** Fields of a command that an `order` line does not have. */
const OMITTED_FIELDS = ALL_FIELDS.filter(
  (field) => !LINE_FIELDS.has(field),
) as (keyof CommandOf<"placeOrder">)[];
/** Whether an `order` line can represent a command; otherwise it is written in full, as `placeOrder`. */
export const fitsOrderLine = (command: CommandOf<"placeOrder">): boolean =>
  OMITTED_FIELDS.every((field) => command[field] === undefined);
/** A command cancelOrder by the order's owner. */
export const CancelLine = record({ order: id() });

/** One line of a journal. 32-bit values are written as 8 hex digits. */
export interface Line {
  /** Line number, from 1 without gaps. */
  readonly n: number;
  /** The `c` of the line before; 0 in the first. */
  readonly p: number;
  /** The latest line known to be durable when this one was written. */
  readonly s: number;
  /** Virtual time, Unix ms. */
  readonly t: Millis;
  /** The kind of the command or control record, and its data. */
  readonly k: string;
  readonly d: unknown;
  /** `eventHash` of the events of the command; 0 of a control record. */
  readonly r: number;
  /** CRC-32 of all bytes of the line before this field. */
  readonly c: number;
}

const hex = textLike(/^[0-9a-f]{8}$/, "8 hex digits");
const LineHead = record({ n: id(), p: hex, s: integer(), t: moment(), k: text(), r: hex });

export const isControl = <Kind extends ControlKind>(
  line: Line,
  kind: Kind,
): line is Line & { readonly k: Kind; readonly d: ControlRecords[Kind] } => line.k === kind;

/**
 * Checks the content of a line with a correct `c`: a valid checksum does not prove that clobsim wrote it. @throws
 * DocumentError
 */
export function checkedLine(value: unknown, c: number): Line {
  const { n, p, s, t, k, d, r } = fieldsOf(value);
  const head = LineHead.parse({ n, p, s, t, k, r });
  const isFirst = head.n === 1;
  check((head.k === "opening") === isFirst, isFirst ? "opening" : "no other opening", k, "k");
  const type = dataTypeOf(head.k);
  if (type === null) throw new DocumentError("the kind of a command or of a control record", k, "k");
  within("d", () => (isFirst && isOfOtherFormat(d) ? d : type.parse(d)));
  const { line } = d as Partial<ControlRecords["restore"]>;
  check(head.k !== "restore" || Number(line) < head.n, "an earlier line", line, "d", "line");
  return { ...head, d, p: Number.parseInt(head.p, 16), r: Number.parseInt(head.r, 16), c };
}

function dataTypeOf(kind: string): Type<unknown> | null {
  if (kind === "order") return OrderLine;
  if (kind === "cancel") return CancelLine;
  if (isCommandKind(kind)) return commandData(kind);
  return isControlKind(kind) ? CONTROL_RECORDS[kind] : null;
}

/** Only the format is read of a journal of another format version. */
function isOfOtherFormat(opening: unknown): boolean {
  const { format } = fieldsOf(opening);
  return typeof format === "string" && format.startsWith(FORMAT_NAME) && format !== FORMAT;
}

/** Returns the command of a line, with ids looked up in the state before it; null for a control record. */
export function commandOf({ k, d }: Line, state: State): Command | null {
  if (isControlKind(k)) return null;
  if (k === "order") return placing(d as Infer<typeof OrderLine>, state);
  if (k === "cancel") return canceling(d as Infer<typeof CancelLine>, state);
  return { kind: k, ...(d as object) } as Command;
}

// Unknown numbers become empty ids: the command is refused, and so differs from what was recorded.

function placing(data: Infer<typeof OrderLine>, { accounts, markets }: State): CommandOf<"placeOrder"> {
  const { account, token, side, price, size, orderType, expiration = null } = data;
  const market = markets.find(marketOfToken(token));
  const address = accounts.find(account)?.address ?? "";
  const tokenId = market === undefined ? "" : tokenIdIn(market, outcomeOf(token));
  return { kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration };
}

function canceling({ order: number }: Infer<typeof CancelLine>, state: State): CommandOf<"cancelOrder"> {
  const { accounts, orders, idPrefixes } = state;
  const order = orders.find(number);
  const address = order === undefined ? "" : accounts.get(order.account).address;
  return { kind: "cancelOrder", address, orderId: idOf(idPrefixes.order, number) };
}

/** An error in the content of a journal line: `path: expected X, found Y`. */
export const wrongLine = (path: string, line: number, what: string): DataFileError =>
  new DataFileError("corrupt", `${path}, line ${line}: ${what} (sed -n ${line}p ${path} prints it)`);

/** Whether a version, `1.2.3`, is newer than another. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [partsOf(version), partsOf(than)];
  const at = a.findIndex((part, index) => part !== (b[index] ?? 0));
  return (a[at] ?? 0) > (b[at] ?? 0);
}

const partsOf = (version: string): number[] =>
  version.split(".").map((part) => Number.parseInt(part, 10) || 0);

/** @throws DataFileError `newer` if a newer program wrote a line, or its format is unknown */
export function assertNotNewer(line: Line, path: string): void {
  if (isControl(line, "opening")) assertKnown(line.d, path);
  else if (isControl(line, "start")) assertEngine(line.d.engine, path);
}

/** Does the same for the first record. */
export function assertKnown({ format, engine }: OpeningData, path: string): void {
  const what = `has the format ${formatValue(format)}, this version reads ${FORMAT}`;
  if (format !== FORMAT) throw new DataFileError("newer", `${path} ${what}`);
  assertEngine(engine, path);
}

/** @throws DataFileError `newer` if the version is newer than this one */
export function assertEngine(engine: string, path: string): void {
  if (!isNewer(engine, VERSION)) return;
  const what = `was written by version ${engine}, this is ${VERSION}`;
  throw new DataFileError("newer", `${path} ${what}: use that version, or another directory`);
}
