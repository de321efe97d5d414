import yargs, { type Argv } from "yargs";
import { CACHE_VARIABLE } from "../cache-folder.ts";
import { anyOf } from "../core/terms.ts";
import { didYouMean } from "../nearest.ts";
import { hung } from "../scenario/report/text.ts";
import { defaultText, type Given, readValue, truth, valuesOf, withFlagsNamed } from "../setting.ts";
import { VERSION } from "../version.ts";
import { type CommandName, optionsOf, type Run, SUBCOMMANDS, type Subcommand } from "./commands.ts";
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

/** @throws UsageError if the words are not as many as the command takes, or one is empty, as of an unset shell variable */
function requireWords(name: CommandName, words: readonly string[]): void {
  const { args }: Subcommand = SUBCOMMANDS[name];
  if (args === undefined) {
    if (words.length === 0) return;
    throw new UsageError(`${name} takes options only, found ${JSON.stringify(words[0])}`);
  }
  const { expected, min, max } = args;
  const hasEmpty = words.includes("");
  if (words.length >= min && words.length <= max && !hasEmpty) return;
  const found = hasEmpty ? "an empty text" : words.length || "none";
  throw new UsageError(`${name} expects ${expected}, found ${found} (see clobsim ${name} --help)`);
}

/** Parses and runs a command line. @throws UsageError or ConfigError as `runCommand`. */
export async function runCommandLine(typed: readonly string[], environment: Given["environment"]) {
  const argv = typed[0] === "help" ? [...typed.slice(1), "--help"] : typed;
  let output = "";
  const values = createParser(argv).parse(withPlainToggles(argv), {}, (error, _values, text) => {
    if (error) throw error;
    output = text.replace(/\s*\[boolean\]$/gm, "");
  }) as Readonly<Record<string, unknown>> & { readonly _: readonly (string | number)[] };
  const words = values._.map(String);
  if (output !== "") {
    if (words[0]) commandNamed(words[0]);
    process.stdout.write(`${output}\n`);
    return EXIT.ok;
  }
  const name = knownCommand(words, Object.keys(values), argv);
  warnOfUnknownVariables(environment);
  const given = { flags: textsOf(name, values), environment };
  try {
    return await runCommand(name, given, words.slice(1));
  } catch (error) {
    if (error instanceof Error) error.message = namedAsGiven(error.message, name, given);
    throw error;
  }
}

/** Names each option in a message by its variable if it was given so. */
function namedAsGiven(message: string, name: CommandName, { flags, environment }: Given): string {
  const options = optionsOf(name).filter(
    ({ flag, variable }) => flags[flag] === undefined && environment[variable],
  );
  return withFlagsNamed(message, (named) => options.find(({ word }) => word === named)?.variable);
}

/** Creates the parser of command lines. Values stay text, which the settings read later. */
function createParser(argv: readonly string[]): Argv {
  const columns = Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS);
  const parser = yargs()
    .scriptName("clobsim")
    .usage("$0 <command> [options]\n\nA local, deterministic mock exchange for prediction markets.")
    .locale("en")
    .parserConfiguration({
      "boolean-negation": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "short-option-groups": false,
    })
    .help("help", "Print this help")
    .alias("help", "h")
    .version("version", "Print the version", VERSION)
    .alias("version", "v")
    .wrap(columns)
    .exitProcess(false)
    .showHelpOnFail(false);
  // Only for help, because yargs formats all descriptions on every run, which takes longer than parsing.
  const isDescribed = argv.some((word) => /^(?:-h|help|--help.*)$/.test(word));
  for (const name of NAMES) {
    const describe = (inner: Argv): void => {
      if (isDescribed) describeCommand(inner, name, columns);
      // Parsing needs only the options without a value.
      else for (const { word, toggle } of optionsOf(name)) if (toggle !== undefined) inner.boolean(word);
    };
    parser.command(name, SUBCOMMANDS[name].summary, describe);
  }
  return parser;
}

const ALL_OPTIONS = NAMES.flatMap(optionsOf);

/** Replaces each `--toggle=yes` by `--toggle=true` because yargs reads anything else as false. @throws ConfigError */
function withPlainToggles(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((given, index) => {
    const [, name = "", value = ""] = /^--([^=]+)=(.*)$/s.exec(given) ?? [];
    const isToggle = ALL_OPTIONS.some(({ word, toggle }) => word === name && toggle !== undefined);
    if (!isToggle || (end >= 0 && index > end)) return given;
    return `--${name}=${readValue(`--${name}`, value, truth)}`;
  });
}

function describeCommand(parser: Argv, name: CommandName, columns: number): void {
  const { summary, args, examples }: Subcommand = SUBCOMMANDS[name];
  const options = optionsOf(name);
  parser.usage(`$0 ${name}${args === undefined ? "" : ` ${args.usage}`} [options]\n\n${summary}`);
  for (const option of options) {
    const { word, group, help, toggle } = option;
    const byDefault = defaultText(option);
    // Not as `defaultDescription`, which yargs aligns to the right, on narrow terminals without a blank before it.
    const describe = byDefault === undefined ? help : `${help} [default: ${byDefault}]`;
    parser.option(word, { group, describe, ...(toggle === undefined ? {} : { type: "boolean" }) });
  }
  const valued = options.filter(({ toggle }) => toggle === undefined);
  const shown = valued.find(({ flag }) => flag === "log-level") ?? valued[0];
  const variable =
    shown === undefined
      ? ""
      : `\n\nAn option can also be set by its variable: --${shown.flag} by ${shown.variable}, and so on.`;
  parser.epilogue(`${examplesText(examples, columns)}${variable}`);
}

/** Longer examples have their purpose in the next line, so that as many as possible stay in one line for copying. */
function examplesText(examples: Subcommand["examples"], columns: number): string {
  const lines = examples.map(([line, purpose]) => [`clobsim ${line}`, purpose] as const);
  const width = Math.max(...lines.map(([line]) => line.length).filter((length) => length <= columns / 2), 0);
  const rows = lines.flatMap(([line, purpose]) => {
    const [label, ...before] = line.length <= width ? [line] : ["", folded(`  ${line}`, columns)];
    return [...before, ...hung(`  ${label.padEnd(width)}  `, purpose, columns)];
  });
  return ["Examples:", ...rows].join("\n");
}

/** Returns the values given for each flag, as text. A flag without its value has an empty text. */
function textsOf(name: CommandName, values: Readonly<Record<string, unknown>>): Given["flags"] {
  const texts: Record<string, readonly string[]> = {};
  for (const { word, flag, toggle } of optionsOf(name)) {
    const given = values[word];
    if (given === undefined) continue;
    texts[flag] = [given].flat().map((value: unknown) => {
      if (toggle !== undefined) return String(value === (toggle === "on"));
      return typeof value === "string" ? value : "";
    });
  }
  return texts;
}

/** Keys that yargs adds to the values of a command line. */
const YARGS_KEYS = ["_", "$0", "help", "h", "version", "v"];

/** @throws UsageError with the nearest command if there is none with this name */
function commandNamed(word: string): CommandName {
  const command = NAMES.find((name) => name === word);
  if (command !== undefined) return command;
  throw new UsageError(`unknown command ${word}${didYouMean(word, NAMES) || `, expected ${anyOf(NAMES)}`}`);
}

/** Returns the command if it and its options are known, else names the nearest known one. @throws UsageError */
function knownCommand([first]: readonly string[], keys: readonly string[], argv: readonly string[]) {
  const given = keys.filter((key) => !YARGS_KEYS.includes(key));
  if (first === undefined || first === "") {
    if (given[0] !== undefined) throw new UsageError(commandBefore(given[0], argv));
    throw new UsageError(`expected a command, ${anyOf(NAMES)}, found none (see clobsim --help)`);
  }
  const command = commandNamed(first);
  const known = optionsOf(command).map(({ word }) => `--${word}`);
  const unknown = given.find((key) => !known.includes(`--${key}`));
  if (unknown === undefined) return command;
  const place = argv.findIndex((word) => /^-+([^=]*)/.exec(word)?.[1] === unknown);
  const typed = argv[place]?.replace(/=.*/s, "") ?? typedAs(unknown);
  requireNoValue(command, typed, argv[place - 1]);
  throw new UsageError(
    `unknown option ${typed}${didYouMean(typed, known) || ` (see clobsim ${command} --help)`}`,
  );
}

/** Refuses a value that begins with one dash, which was read as an option. @throws UsageError or ConfigError */
function requireNoValue(command: CommandName, given: string, before = ""): void {
  const taker = optionsOf(command).find(({ word }) => `--${word}` === before);
  if (taker === undefined || taker.toggle !== undefined || given.startsWith("--")) return;
  readValue(before, given, taker);
  throw new UsageError(
    `${before} is followed by the option ${given}: write ${before}=${given} if it is its value`,
  );
}

/** Returns the message for a command line that begins with an option. */
function commandBefore(key: string, argv: readonly string[]): string {
  const taker = NAMES.find((name) => optionsOf(name).some(({ word }) => word === key));
  const command =
    taker === undefined
      ? `, ${anyOf(NAMES)} (see clobsim --help)`
      : `, such as clobsim ${[taker, ...argv].join(" ")}`;
  return `expected a command before ${typedAs(key)}${command}`;
}

const typedAs = (key: string): string => `${key.length === 1 ? "-" : "--"}${key}`;

/** Warns about unknown CLOBSIM_ variables. They are not refused because other programs may use them. */
function warnOfUnknownVariables(environment: Given["environment"]): void {
  const known = [...ALL_OPTIONS.map(({ variable }) => variable), CACHE_VARIABLE];
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith("CLOBSIM_") || known.includes(variable)) continue;
    warn(`variable ${variable} is ignored${didYouMean(variable, known)}`);
  }
}
