import { Buffer } from "node:buffer";
import {
  checkCommandData,
  isCommandKind,
  ORDER_TERMS,
  readCommand,
} from "../core/document/command-record.ts";
import { readConfig } from "../core/document/config-record.ts";
import { DocumentError, type Where } from "../core/document/document-error.ts";
import {
  anyBoolean,
  anyObject,
  anyText,
  type FieldReader,
  faultIn,
  integer,
  moment,
  numberIn,
  objectOf,
  oneOf,
  onlyFields,
  placeOf,
  type Shape,
  shaped,
  shapedAtLeast,
  textLike,
} from "../core/document/shape.ts";
import type { ExchangeConfig } from "../core/state.ts";
import type { Durability } from "./journal-end.ts";
import {
  type Base,
  type CancelData,
  FORMAT,
  type Line,
  type NoteKind,
  type Notes,
  type OrderData,
} from "./journal-line.ts";
import { REFUSED } from "./refused-shape.ts";

const MOST_RATE = 1_000_000;
/** Bytes of a path, and of each of its parts. */
const MOST_PATH = 3_000;
const MOST_PART = 255;
const FORMAT_NAME = FORMAT.slice(0, FORMAT.indexOf("/") + 1);
const CONFIG_FIELDS: readonly (keyof ExchangeConfig)[] = [
  "seed",
  "faucet",
  "credentials",
  "settlement",
  "balances",
];

/** Of a program, as its package names it. */
export const engineVersion = textLike(/^[\w.+-]{1,64}$/, "a version such as 1.2.3");
/** Of earlier versions without `v2:`, where it is a content hash. */
const HASH = "v2: and 64 hex digits";
const hash = textLike(/^(?:v2:)?[0-9a-f]{64}$/, HASH);
const hashOrNone = textLike(/^(?:(?:v2:)?[0-9a-f]{64})?$/, `${HASH}, or nothing in quotes`);

/** How a clock runs. */
export const CLOCK_SETTING = {
  mode: oneOf("real", "frozen", "scaled"),
  rate: numberIn(0, MOST_RATE),
} as const;
/** What the wall clock showed, Unix ms. */
export const wallTime = numberIn(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const durability = oneOf<Durability>("process", "power");

const config: FieldReader<ExchangeConfig> = (fields, key) =>
  readConfig(onlyFields(fields.value(key), CONFIG_FIELDS), placeOf(fields, key));

const failedCommand: FieldReader<Notes["defect"]["command"]> = (fields, key) =>
  fields.isNull(key) ? null : readCommand(fields.value(key), placeOf(fields, key));

const texts: FieldReader<Notes["scenario"]["texts"]> = (fields, key) => {
  const found = anyObject(fields, key) as Record<string, unknown>;
  const names = new Set(Object.keys(found));
  for (const name of names) {
    if (typeof found[name] !== "string") throw fields.wrong(key, "texts by the paths of their files");
    if (isPathAmong(names, name)) continue;
    throw new DocumentError(placeOf(fields, key), "", "paths of files in the scenario's folder", name);
  }
  return found as Notes["scenario"]["texts"];
};

/** Whether a file can lie there, in a folder of its own, beside the others: none of them is where it needs a folder. */
function isPathAmong(names: ReadonlySet<string>, path: string): boolean {
  const parts = path.split("/");
  const isPlain = parts.every(
    (part) => !["", ".", ".."].includes(part) && !part.includes("\0") && Buffer.byteLength(part) <= MOST_PART,
  );
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  return isPlain && Buffer.byteLength(path) <= MOST_PATH && !folders.some((folder) => names.has(folder));
}

const scenarioFile: FieldReader<string> = (fields, key) => {
  const file = fields.text(key);
  const files = fields.value("texts");
  const isThere = typeof files === "object" && files !== null && Object.hasOwn(files, file);
  fields.demand(isThere, key, "the path of one of the texts");
  return file;
};

const ORDER: Shape<Omit<OrderData, "expiration">> = {
  account: integer(1),
  token: integer(2),
  ...ORDER_TERMS,
};
const GTD_ORDER: Shape<OrderData> = { ...ORDER, expiration: moment };
const CANCEL: Shape<CancelData> = { order: integer(1) };

/** What is in the lines that are no commands. A later version may say more there. */
const NOTES: { readonly [Kind in NoteKind]: Shape<Notes[Kind]> } = {
  opening: {
    format: oneOf(FORMAT),
    engine: engineVersion,
    config,
    start: moment,
    clock: objectOf({ ...CLOCK_SETTING, followsWall: anyBoolean }),
    base: objectOf<Base>({ kind: oneOf("world", "state"), content: anyObject }),
    sequence: integer(),
    hash,
  },
  start: { engine: engineVersion, durability, wall: wallTime, ...CLOCK_SETTING },
  clock: { wall: wallTime, ...CLOCK_SETTING },
  restore: { line: integer(1) },
  reset: {},
  close: { hash, wall: wallTime },
  defect: { command: failedCommand, message: anyText },
  scenario: { file: scenarioFile, texts },
  refused: REFUSED,
  refusedFull: { noted: integer() },
  report: { hash: hashOrNone, reason: anyText, engine: engineVersion, node: anyText, replay: anyText },
};

/**
 * What is wrong with the content of a line whose checks are right, as one sentence: whoever can write a file can make
 * them right. Null when every field holds what its kind of line has there.
 */
export const shapeFault = (line: LineText): string | null => faultIn(() => checkLine(line));

/** A line as its text has it, without its own check. */
export type LineText = Omit<Line, "p" | "r" | "c"> & { readonly [Key in "p" | "r"]: unknown };

const LINE: Where = { section: "", index: null, line: null };
const DATA: Where = { ...LINE, section: "d" };
const hex = textLike(/^[0-9a-f]{8}$/, "8 hex digits");
const HEAD = { n: integer(1), p: hex, s: integer(), t: moment, k: anyText, r: hex };

function checkLine({ n, p, s, t, k, d, r }: LineText): void {
  shaped(HEAD, { n, p, s, t, k, r }, LINE);
  if ((k === "opening") !== (n === 1)) throw wrong("k", n === 1 ? "opening" : "no other opening", k);
  if (k === "opening" && isOfOtherFormat(d)) return;
  if (k === "order") shaped(isGtd(d) ? GTD_ORDER : ORDER, d, DATA);
  else if (k === "cancel") shaped(CANCEL, d, DATA);
  else if (isCommandKind(k)) checkCommandData(k, d, DATA);
  else if (Object.hasOwn(NOTES, k)) shapedAtLeast<object>(NOTES[k as NoteKind], d, DATA);
  else throw wrong("k", "the kind of a command or of a note", k);
  if (k !== "restore") return;
  const { line } = d as Notes["restore"];
  if (line >= n) throw wrong("d.line", "an earlier line", line);
}

const wrong = (path: string, expected: string, found: unknown): DocumentError =>
  new DocumentError({ ...LINE, section: path }, "", expected, found);

/** A journal of another format, which other versions read, says no more here than which. */
const isOfOtherFormat = (opening: unknown): boolean => {
  const format = valueIn(opening, "format");
  return typeof format === "string" && format.startsWith(FORMAT_NAME) && format !== FORMAT;
};

const isGtd = (order: unknown): boolean => valueIn(order, "orderType") === "GTD";

const valueIn = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
