import { anyOf } from "../../core/terms.ts";
import type { WrongFile } from "../language/page.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";

/** The default first. */
export const REPORTER_NAMES = ["spec", "json", "junit", "tap", "github"] as const;
export type ReporterName = (typeof REPORTER_NAMES)[number];

/** A reporter, and the file that it writes; null for standard output. */
export interface ReporterOutput {
  readonly name: ReporterName;
  readonly file: string | null;
}

/** Accepts `junit` or `junit=out.xml`. */
export const REPORTER = {
  expected: `${anyOf(REPORTER_NAMES)}, or with a file such as junit=out.xml`,
  offers: REPORTER_NAMES,
  read: (text: string): ReporterOutput | null => {
    const [, given, file = null] = /^([^=]*)(?:=(.+))?$/s.exec(text) ?? [];
    const name = REPORTER_NAMES.find((each) => each === given);
    return name === undefined ? null : { name, file };
  },
};

export interface SuitePlan {
  readonly scenarios: number;
  readonly files: number;
  /** Runs of each scenario; by default 1. */
  readonly times?: number;
}

/** Receives the results of a suite; its output depends on nothing else. */
export interface Reporter {
  readonly started?: (plan: SuitePlan) => void;
  readonly finished?: (result: ScenarioResult) => void;
  readonly ended: (suite: SuiteResult) => void;
  /** Called instead of all others if files are invalid and nothing is run. */
  readonly wrong: (files: readonly WrongFile[]) => void;
}

export type MakeReporter = (options: ReporterOptions) => Reporter;

export interface ReporterOptions {
  readonly write: (text: string) => void;
  /** Seed of the whole suite; null if each scenario has its own. */
  readonly seed: string | null;
  readonly repeat: string;
  readonly paint: Paint;
  /** For `spec`: maximum columns of the lines about single scenarios. */
  readonly width: number;
  /** For `spec`: whether each scenario has a line in any suite. For `json`: whether it has its transcript. */
  readonly verbose: boolean;
  /** For `github`: returns the path of a file from the root of the repository. */
  readonly pathInRepository: (file: string) => string;
}

/** Maximum width of a report, in columns. */
export const WIDTH = 100;

const ASCII = /^[\x20-\x7e]*$/;
const ZERO_WIDTH = /^[\p{Mark}\p{Cf}]$/u;
/** East Asian Width W and F (Unicode annex 11), and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}])$/u;

function columnsOfCharacter(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - columnsOf(text)));

/** Aligns cells in columns, some of them to the right. Leaves out empty columns. */
export function aligned(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string[][] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, columnsOf(cell));
  }
  return rows.map((row) =>
    widths.flatMap((width, column) => {
      const cell = row[column] ?? "";
      if (width === 0) return [];
      return [isRight(column) ? cell.padStart(width) : padded(cell, width)];
    }),
  );
}

/** Returns a text, or an ellipsis and its end if it is too long. */
export function endOf(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  const kept: string[] = [];
  let columns = 1;
  for (const character of [...text].reverse()) {
    columns += columnsOfCharacter(character);
    if (columns > width) break;
    kept.push(character);
  }
  return `…${kept.reverse().join("")}`;
}

/** Breaks a visible text into lines of at most `width` columns, at spaces, or within a longer word. */
export function wrapped(text: string, width: number): string[] {
  if (columnsOf(text) <= width) return [text.trimEnd()];
  const lines: string[] = [];
  let line = "";
  const endLine = (): void => {
    lines.push(line.trimEnd());
    line = "";
  };
  for (const word of text.split(/(?<= )(?! )/)) {
    if (columnsOf(line + word.trimEnd()) > width && line.trim() !== "") endLine();
    const isLong = columnsOf(line + word.trimEnd()) > width;
    for (const piece of isLong ? word : [word]) {
      if (isLong && columnsOf(line + piece) > width) endLine();
      line += piece;
    }
  }
  if (line.trim() !== "") endLine();
  return lines;
}

/** Wraps a visible text after a label, with further lines indented by the width of the label. */
export function hung(label: string, text: string, width: number): string[] {
  const indent = columnsOf(label);
  return wrapped(text, width - indent).map((line, index) =>
    `${index === 0 ? label : " ".repeat(indent)}${line}`.trimEnd(),
  );
}

export const indented = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === "" ? "" : `${" ".repeat(columns)}${line}`));

const REPLACEMENT = "\ufffd";

/** Characters not in the production Char of XML 1.0 (section 2.2). */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Control characters, and those that change the direction of text. */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces lone surrogates by U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, REPLACEMENT);

/** Replaces characters that XML 1.0 forbids, including lone surrogates, by U+FFFD. */
export const printable = (text: string): string => text.replace(FORBIDDEN, REPLACEMENT);

/** Returns one line that is safe for a terminal: line breaks and tabs become spaces, invalid characters U+FFFD. */
export const visible = (text: string): string =>
  printable(text.replace(LINE_BREAK, " ").replaceAll("\t", " ")).replace(UNSEEN, REPLACEMENT);

export const oneLine = (text: string): string => visible(text).trim();

/** Returns the title of a scenario, which is never empty. */
export const title = (name: string): string => oneLine(name) || "(without a name)";

const MINUTE_SECONDS = 60;

/** `20,000`. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** `1 order`, `2 orders`. */
export const count = (number: number, noun: string): string =>
  `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Writes milliseconds as `0.8 ms`, `12 ms`, `1.2 s` or `2 min 5 s`. */
export function durationText(ms: number): string {
  if (Math.round(ms * 10) < 100) return `${ms.toFixed(1)} ms`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 10 * MINUTE_SECONDS) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${grouped(Math.floor(seconds / MINUTE_SECONDS))} min ${seconds % MINUTE_SECONDS} s`;
}

/** Writes a number with at most `places` decimals, without trailing zeros or an exponent. */
export const roundedText = (number: number, places: number): string => {
  const text = number.toFixed(places);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
};

/** Functions that colour text. */
export type Paint = Readonly<Record<"red" | "green" | "yellow" | "dim" | "bold", (text: string) => string>>;

const plain = (text: string): string => text;

export const plainPaint: Paint = { red: plain, green: plain, yellow: plain, dim: plain, bold: plain };
