import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type CommandResult, runLine } from "./tools.ts";

/** Does what a word of a page says with the words after it, and returns what it prints. */
type Verb = (...words: string[]) => string | undefined | Promise<string | undefined>;

/** Runs a command line of clobsim in a folder. */
type RunLine = typeof runLine;

/** A folder of files. */
interface Folder {
  readonly path: string;
  read(name: string): string;
}

/** Runs the lines of a page in a folder: command lines of clobsim as the program does, and verbs of a test. */
export class Shell {
  readonly #folder: Folder;
  readonly #verbs: Readonly<Record<string, Verb>>;
  readonly #runLine: RunLine;
  /** Names on the page of texts that differ between runs, such as URLs. */
  readonly names = new Map<string, string>();

  /** By default, command lines are run in this process. */
  constructor(folder: Folder, verbs: Readonly<Record<string, Verb>> = {}, run: RunLine = runLine) {
    this.#folder = folder;
    this.#runLine = run;
    this.#verbs = { cat: (name = "") => folder.read(name).replaceAll("\r", "\\r"), ...verbs };
    this.names.set("HERE", folder.path);
  }

  /** Runs the lines of a page, and compares what they print with the lines after `> `. Returns all that they print. */
  async expectPage(path: string): Promise<string> {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => !line.startsWith("> "));
    const start = lines.findIndex((line) => line.startsWith("### "));
    const printed = new Map<number, readonly string[]>();
    for (const [index, line] of lines.entries())
      if (index > start && /^[^#]/.test(line)) printed.set(index, await this.run(line));
    const page = lines.flatMap((line, index) => [
      line,
      ...(printed.get(index) ?? []).map((each) => `> ${each}`),
    ]);
    await expect(page.join("\n")).toMatchFileSnapshot(path);
    return [...printed.values()].flat().join("\n");
  }

  /**
   * Runs a line such as `run x.yaml --grep 'a b'`, `NAME=text serve`, `journal data | grep BUY` or `inspect data --json | json accounts.0`.
   * `<a|b|c>` stands for several lines, one with each text, of which `a*200` is that many times a. What several of them in turn
   * print is returned once, followed by their number, with `<>` in place of each one's text; if a line has two of these, with `<1>`
   * and `<2>`. Returns stdout, and stderr after `!! `, or `!2 ` if the exit code is 2.
   */
  async run(line: string): Promise<string[]> {
    const groups: { pattern: string; outputs: Output[] }[] = [];
    for (const { line: each, choices } of expanded(line)) {
      const output: Output = { choices, text: (await this.#runOne(each)).join("\n") };
      const last = groups.at(-1);
      const outputs = [...(last?.outputs ?? []), output];
      const patterns = [last?.pattern ?? output.text, ...outputs.slice(-2).map(patternOf)];
      const pattern = patterns.find((each) => outputs.every((output) => isOutputOf(each, output)));
      if (last === undefined || pattern === undefined)
        groups.push({ pattern: output.text, outputs: [output] });
      else Object.assign(last, { pattern, outputs });
    }
    return groups.flatMap(({ pattern, outputs: { length } }) =>
      linesOf(pattern === "" || length === 1 ? pattern : `${pattern} (${length} times)`),
    );
  }

  async #runOne(line: string): Promise<string[]> {
    const [command = "", ...filters] = this.#named(line).split(" | ");
    const all = [...command.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ""));
    const first = all.findIndex((word) => !/^(?:[A-Z_]+=|clobsim$)/.test(word));
    const args = first < 0 ? [] : all.slice(first);
    const own = this.#verbs[args[0] ?? ""];
    const environment = Object.fromEntries(all.slice(0, first).map((word) => word.split("=")));
    const { code, stdout, stderr }: CommandResult =
      own === undefined
        ? await this.#runLine(args, this.#folder.path, environment)
        : { code: 0, stdout: (await own(...args.slice(1))) ?? "", stderr: "" };
    const printed = linesOf(
      this.#shown(filters.reduce((text, filter) => this.#filtered(text, filter), stdout)),
    );
    const errors = linesOf(this.#shown(stderr)).map((each) => `!${code === 0 ? "!" : code} ${each}`);
    return [...printed, ...errors, ...(code === 0 || errors.length > 0 ? [] : [`exit ${code}`])];
  }

  #filtered(text: string, filter: string): string {
    const [name = "", pattern = ""] = filter.split(/ (.*)/);
    if (name === "same") return text === this.#folder.read(pattern) ? "the same" : "another text";
    return FILTERS[name]?.(text, pattern) ?? `no filter ${name}`;
  }

  #named(line: string): string {
    const longestFirst = [...this.names].sort(([one], [other]) => other.length - one.length);
    return longestFirst.reduce((text, [name, value]) => text.replaceAll(name, value), line);
  }

  #shown(text: string): string {
    const longestFirst = [...this.names].sort(([, one], [, other]) => other.length - one.length);
    const named = longestFirst.reduce((shown, [name, value]) => shown.replaceAll(value, name), text);
    return MASKS.reduce((shown, [pattern, word]) => shown.replace(pattern, word), named);
  }
}

/** What a line prints that has a text in the place of each `<a|b>`. */
interface Output {
  readonly choices: readonly string[];
  readonly text: string;
}

/** Returns the lines for which a line with `<a|b>` stands, each with the texts in these places. */
function expanded(
  line: string,
  chosen: readonly string[] = [],
): { readonly line: string; readonly choices: readonly string[] }[] {
  const [, before = "", choices, after = ""] = /^(.*?)<([^<>]*(?:\||\*\d)[^<>]*)>(.*)$/.exec(line) ?? [];
  if (choices === undefined) return [{ line, choices: chosen }];
  return choices
    .split("|")
    .map((choice) => choice.replace(/^(.+)\*(\d+)$/, (_, text, count) => text.repeat(Number(count))))
    .flatMap((choice) => expanded(before + choice + after, [...chosen, choice]));
}

const placeOf = (index: number, { length }: readonly string[]): string =>
  length === 1 ? "<>" : `<${index + 1}>`;

/** Returns an output with `<>` in place of the chosen texts where they are whole words. */
const patternOf = ({ choices, text }: Output): string =>
  choices.reduce((pattern, choice, index) => {
    const literal = choice.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const [start, end] = [/^\w/.test(choice) ? "(?<![\\w.])" : "", /\w$/.test(choice) ? "(?![\\w.])" : ""];
    return choice === ""
      ? pattern
      : pattern.replace(new RegExp(start + literal + end, "g"), placeOf(index, choices));
  }, text);

const isOutputOf = (pattern: string, { choices, text }: Output): boolean =>
  choices.reduce((all, choice, index) => all.replaceAll(placeOf(index, choices), () => choice), pattern) ===
  text;

/** Texts that differ from run to run, and the words for them on a page. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b\d[\d.]* m?s\b/g, "TIME"],
  [/[\d,]+ times a second/g, "N times a second"],
  [/[\d,]+ seeds and [\d,]+ commands a minute/g, "N seeds and N commands a minute"],
  [/(?<=byte )\d{4,}|[\d,]{4,}(?= bytes)/g, "N"],
  [/\S*\/clobsim-shrink-\w+/g, "TEMPORARY-FOLDER"],
];

/** Filters of a printed text, as in `journal data | grep BUY`. */
const FILTERS: Readonly<Record<string, (text: string, pattern: string) => string>> = {
  /** Returns the lines that match. */
  grep: (text, pattern) =>
    text
      .split("\n")
      .filter((line) => new RegExp(pattern).test(line))
      .join("\n"),
  /** Returns what matches, a line each. */
  only: (text, pattern) => (text.match(new RegExp(pattern, "g")) ?? []).join("\n"),
  /** Returns the part of a JSON text at a path such as `accounts.0`, `accounts.*.usdc` or `accounts.*.name,usdc`. */
  json: (text, path) => JSON.stringify(partOf(JSON.parse(text), path.split("."))),
  /** The same for each line that is an object; other lines stay. */
  pick: (text, path) =>
    text.replace(/^\{.*$/gm, (line) => JSON.stringify(partOf(JSON.parse(line), path.split(".")))),
};

function partOf(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (key === "*") return (value as readonly unknown[]).map((item) => partOf(item, rest));
  const fields = value as Readonly<Record<string, unknown>> | undefined;
  const names = key.split(",");
  if (names.length > 1) return Object.fromEntries(names.map((name) => [name, fields?.[name]]));
  return partOf(fields?.[key], rest);
}

/** Returns the lines of a text, of which the last may be empty. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
