import { CACHE_VARIABLE } from "../cache-folder.ts";
import { anyOf } from "../core/terms.ts";
import { hung, wrapped } from "../scenario/report/text.ts";
import {
  defaultText,
  didYouMean,
  type Given,
  readText,
  truth,
  valuesOf,
  withFlagsNamed,
} from "../setting.ts";
import { VERSION } from "../version.ts";
import {
  ALWAYS,
  type CommandName,
  type Option,
  optionsOf,
  type Run,
  SUBCOMMANDS,
  type Subcommand,
} from "./commands.ts";
import { folded, isInteractive, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";
import type { Progress } from "./progress.ts";

/** Modules of the commands, loaded when called. */
const LOAD: { readonly [Name in CommandName]: () => Promise<{ readonly [Own in Name]: Run<Own> }> } = {
  serve: () => import("./serve.ts"),
  init: () => import("./init.ts"),
  run: () => import("./run.ts"),
  coverage: () => import("./run.ts"),
  record: () => import("./record.ts"),
  shrink: () => import("./shrink.ts"),
  flow: () => import("./generate.ts"),
  fuzz: () => import("./fuzz.ts"),
  world: () => import("./generate.ts"),
  journal: () => import("./journal.ts"),
  replay: () => import("./journal.ts"),
  inspect: () => import("./inspect.ts"),
  report: () => import("./report.ts"),
  repair: () => import("./data-dir.ts"),
  doctor: () => import("./data-dir.ts"),
  completion: () => import("./completion.ts"),
};

/** Used where no progress line is shown. */
const NO_PROGRESS: Progress = { update: () => {}, end: () => {} };

const NAMES = Object.keys(SUBCOMMANDS) as CommandName[];
const MAX_COLUMNS = 100;

/** Runs a command. @throws UsageError or ConfigError if the command line or a file that it names is invalid. */
export async function runCommand<Name extends CommandName>(
  name: Name,
  given: Given,
  words: readonly string[],
): Promise<ExitCode> {
  requireWords(name, words);
  const { [name]: run } = await LOAD[name]();
  const { settings, busy }: Subcommand = SUBCOMMANDS[name];
  const progress =
    busy !== undefined && isInteractive(given.environment)
      ? (await import("./progress.ts")).startProgress(busy)
      : NO_PROGRESS;
  try {
    return await run(valuesOf(settings, given) as Parameters<Run<Name>>[0], words, given, progress);
  } finally {
    progress.end();
  }
}

/** @throws UsageError if the number of words is not what the command takes. */
function requireWords(name: CommandName, words: readonly string[]): void {
  const { takes }: Subcommand = SUBCOMMANDS[name];
  if (takes === undefined) {
    if (words.length === 0) return;
    throw new UsageError(`${name} takes options only, found ${JSON.stringify(words[0])}`);
  }
  const { expected, min, max } = takes;
  if (words.length >= min && words.length <= max) return;
  throw new UsageError(
    `${name} expects ${expected}, found ${words.length || "none"} (see clobsim ${name} --help)`,
  );
}

/** Parses and runs a command line. @throws UsageError or ConfigError as `runCommand`. */
export async function runCommandLine(typed: readonly string[], environment: Given["environment"]) {
  const argv = typed[0] === "help" ? [...typed.slice(1), "--help"] : typed;
  const [first] = split(argv).words;
  const name = NAMES.find((known) => known === first);
  const { words, options } = split(argv, name && optionsOf(name));
  const asked = new Set(options.map(({ word }) => alwaysNamed(word)?.word));
  const endsInHelp = words.at(-1) === "help" && !argv.includes("--");
  if (asked.has("help") || endsInHelp) return printed(helpText(name));
  if (asked.has("version")) return printed(VERSION);
  if (name === undefined) throw new UsageError(expectedCommand(first, options[0], argv));
  const flags = flagsOf(name, options);
  warnOfUnknownVariables(environment);
  try {
    return await runCommand(name, { flags, environment }, words.slice(1));
  } catch (error) {
    // Names each option by its variable if it was given so.
    const byVariable = optionsOf(name).filter(({ flag, variable }) => !flags[flag] && environment[variable]);
    const nameOf = (named: string) => byVariable.find(({ word }) => word === named)?.variable;
    if (error instanceof Error) error.message = withFlagsNamed(error.message, nameOf);
    throw error;
  }
}

function printed(text: string): ExitCode {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

/** An option of a command line. */
interface TypedOption {
  /** With its dashes, without its value. */
  readonly typed: string;
  readonly word: string;
  /** Empty if there is none; `true` for a toggle without one. */
  readonly value: string;
}

/** The next argument of an option if it is its value: no option, or a negative number. */
const VALUE = /^(?:[^-]|$|-\d*\.?\d+$)/;
const VALUE_OF_TOGGLE = /^(?:true|false)$/;

const alwaysNamed = (name: string) => ALWAYS.find(({ word, letter }) => word === name || letter === name);

/** Splits a command line into words and options. An option takes a value unless it is known as a toggle. */
function split(argv: readonly string[], known: readonly Option[] = []) {
  const words: string[] = [];
  const options: TypedOption[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index] as string;
    if (argument === "--") return { words: [...words, ...argv.slice(index + 1)], options };
    const [, typed = "", word, assigned] = /^(--?([^=]+))(?:=(.*))?$/s.exec(argument) ?? [];
    if (word === undefined) {
      words.push(argument);
      continue;
    }
    const isToggle = alwaysNamed(word) ?? known.find((each) => each.word === word)?.toggle;
    const next = argv[index + 1];
    let value = isToggle ? "true" : "";
    // Shells of Windows leave quotes around a value.
    if (assigned !== undefined) value = assigned.replace(/^(["'])(.*)\1$/s, "$2");
    else if (next !== undefined && (isToggle ? VALUE_OF_TOGGLE : VALUE).test(next)) {
      value = next;
      index += 1;
    }
    options.push({ typed, word, value });
  }
  return { words, options };
}

/** Explains that a command line begins with no command, or an unknown one. */
function expectedCommand(
  first: string | undefined,
  option: TypedOption | undefined,
  argv: readonly string[],
) {
  if (first !== undefined)
    return `unknown command ${first}${didYouMean(first, NAMES) || `, expected ${anyOf(NAMES)}`}`;
  if (option === undefined) return `expected a command, ${anyOf(NAMES)}, found none (see clobsim --help)`;
  const taker = NAMES.find((name) => optionsOf(name).some(({ word }) => word === option.word));
  const command =
    taker === undefined
      ? `${anyOf(NAMES)} (see clobsim --help)`
      : `such as clobsim ${[taker, ...argv].join(" ")}`;
  return `expected a command before ${option.typed}, ${command}`;
}

/** Returns the texts of each flag. @throws UsageError for an unknown option; ConfigError for the value of a toggle */
function flagsOf(name: CommandName, given: readonly TypedOption[]): Given["flags"] {
  const known = optionsOf(name);
  const flags: Record<string, string[]> = {};
  for (const [index, option] of given.entries()) {
    const { word, value } = option;
    const setting = known.find((each) => each.word === word);
    if (setting === undefined) throw unknownOption(name, option, given[index - 1]);
    const { flag, toggle } = setting;
    if (toggle === undefined) flags[flag] = [...(flags[flag] ?? []), value];
    // Of toggles, the last counts.
    else flags[flag] = [String(readText(`--${word}`, value, truth) === (toggle === "on"))];
  }
  return flags;
}

/** Returns the error for an unknown option, which may be meant as the value of the one before it. @throws ConfigError */
function unknownOption(name: CommandName, { typed }: TypedOption, before?: TypedOption): UsageError {
  const known = optionsOf(name);
  const taker = known.find(({ word, toggle }) => word === before?.word && toggle === undefined);
  if (taker !== undefined && before?.value === "" && !typed.startsWith("--")) {
    readText(before.typed, typed, taker);
    return new UsageError(
      `${before.typed} is followed by the option ${typed}: write ${before.typed}=${typed} if it is its value`,
    );
  }
  const nearest = didYouMean(
    typed,
    known.map(({ word }) => `--${word}`),
  );
  return new UsageError(`unknown option ${typed}${nearest || ` (see clobsim ${name} --help)`}`);
}

/** Warns about unknown CLOBSIM_ variables. They are not refused because other programs may use them. */
function warnOfUnknownVariables(environment: Given["environment"]): void {
  const known = [...NAMES.flatMap(optionsOf).map(({ variable }) => variable), CACHE_VARIABLE];
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith("CLOBSIM_") || known.includes(variable)) continue;
    warn(`variable ${variable} is ignored${didYouMean(variable, known)}`);
  }
}

/** A row of the help; those with the same title are together. */
type Row = readonly [title: string, label: string, text: string];

/** Returns the help of a command, or of the program. */
function helpText(name: CommandName | undefined): string {
  const columns = Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS);
  const { summary, takes, examples }: Pick<Subcommand, "summary" | "takes" | "examples"> =
    name === undefined ? PROGRAM : SUBCOMMANDS[name];
  const commands = name === undefined ? NAMES : [];
  const options = name === undefined ? [] : optionsOf(name);
  const rows: readonly Row[] = [
    ...commands.map((each): Row => ["Commands:", `clobsim ${each}`, SUBCOMMANDS[each].summary]),
    ...options.map((each): Row => [each.group, `    --${each.word}`, `${each.help}${byDefault(each)}`]),
    ...ALWAYS.map(({ word, letter, help }): Row => ["Options:", `-${letter}, --${word}`, help]),
    ...examples.map(([line, purpose]): Row => ["Examples:", `clobsim ${line}`, purpose]),
  ];
  const titles = [...new Set(rows.map(([title]) => title))];
  const valued = options.filter(({ toggle }) => toggle === undefined);
  const shown = valued.find(({ flag }) => flag === "log-level") ?? valued[0];
  const variable = shown && `--${shown.flag} by ${shown.variable}`;
  const paragraph = (text: string): string => wrapped(text, columns).join("\n");
  return [
    paragraph(`clobsim ${name ?? "<command>"}${takes ? ` ${takes.usage}` : ""} [options]`),
    paragraph(summary),
    ...titles.map((title) => sectionText(title, rows, columns)),
    ...(variable ? [paragraph(`An option can also be set by its variable: ${variable}, and so on.`)] : []),
  ].join("\n\n");
}

const PROGRAM = { summary: "A local, deterministic mock exchange for prediction markets.", examples: [] };

const byDefault = (option: Option): string => {
  const text = defaultText(option);
  return text === undefined ? "" : ` [default: ${text}]`;
};

/** Formats the rows with a title. The text is beside its label, or below if the label needs more than half of the width. */
function sectionText(title: string, all: readonly Row[], columns: number): string {
  const rows = all.filter(([own]) => own === title);
  const width = Math.max(
    ...rows.map(([, label]) => label.length).filter((length) => length <= columns / 2),
    0,
  );
  const lines = rows.flatMap(([, label, text]) => {
    const [beside, ...above] = label.length <= width ? [label] : ["", folded(`  ${label}`, columns)];
    return [...above, ...hung(`  ${beside.padEnd(width)}  `, text, columns)];
  });
  return [title, ...lines].join("\n");
}
