import yargs, { type Argv } from "yargs";
import { CACHE_VARIABLE } from "../cache-folder.ts";
import { VERSION } from "../config.ts";
import { anyOf } from "../core/terms.ts";
import { hung } from "../scenario/report/text.ts";
import {
  defaultText,
  didYouMean,
  flagOf,
  type Given,
  readText,
  truth,
  valuesOf,
  variableOf,
  wordOf,
} from "../setting.ts";
import { COMMANDS, type Command, type CommandName, type Run } from "./commands.ts";
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

const NAMES = Object.keys(COMMANDS) as CommandName[];
const MAX_COLUMNS = 100;
const columnsOfHelp = (): number => Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS);

/** Runs a command. @throws UsageError or ConfigError if the command line or a file that it names is invalid. */
export async function runCommand<Name extends CommandName>(
  name: Name,
  given: Given,
  words: readonly string[],
): Promise<ExitCode> {
  requireWords(name, words);
  const { [name]: run } = await LOAD[name]();
  const { settings, busy }: Command = COMMANDS[name];
  const progress =
    busy !== undefined && isInteractive(given.environment)
      ? new (await import("./progress.ts")).ProgressLine(busy)
      : NO_PROGRESS;
  try {
    return await run(valuesOf(settings, given) as Parameters<Run<Name>>[0], words, given, progress);
  } finally {
    progress.end();
  }
}

/** @throws UsageError if the number of words is not what the command takes. */
function requireWords(name: CommandName, words: readonly string[]): void {
  const { takes }: Command = COMMANDS[name];
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
export async function runCommandLine(
  argv: readonly string[],
  environment: Given["environment"],
): Promise<ExitCode> {
  let name: CommandName | undefined;
  let output = "";
  const parser = createParser(argv, (chosen) => {
    name = chosen;
  });
  const values = parser.parse(withPlainToggles(argv), {}, (error, _values, text) => {
    if (error) throw error;
    output = text.replace(/\s*\[boolean\]$/gm, "");
  }) as Readonly<Record<string, unknown>> & { readonly _: readonly (string | number)[] };
  if (output !== "") process.stdout.write(`${output}\n`);
  const words = values._.map(String);
  if (output !== "") return EXIT.ok;
  refuseUnknown(name, words, Object.keys(values), argv);
  warnOfUnknownVariables(environment);
  return runCommand(name, { flags: textsOf(COMMANDS[name], values), environment }, words.slice(1));
}

/** Creates the parser of command lines. Values stay text, which the settings read later. */
function createParser(argv: readonly string[], choose: (name: CommandName) => void): Argv {
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
    .wrap(columnsOfHelp())
    .exitProcess(false)
    .showHelpOnFail(false);
  // Only for help, because yargs formats all descriptions on every run, which takes longer than parsing.
  const isDescribed = argv.some((word) => word === "-h" || word.startsWith("--help"));
  for (const name of NAMES) {
    const describe = (inner: Argv): void =>
      isDescribed ? describeCommand(inner, name) : nameToggles(inner, name);
    parser.command(name, COMMANDS[name].summary, describe, () => choose(name));
  }
  return parser;
}

const settingsOf = (name: CommandName) => Object.entries(COMMANDS[name].settings as Command["settings"]);

const TOGGLES = new Set(
  NAMES.flatMap((name) =>
    settingsOf(name).flatMap(([key, setting]) =>
      setting.toggle === undefined ? [] : [wordOf(key, setting)],
    ),
  ),
);

/** Replaces each `--toggle=yes` by `--toggle=true` because yargs reads anything else as false. @throws ConfigError */
function withPlainToggles(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    const [, name = "", value = ""] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    if (!TOGGLES.has(name) || (end >= 0 && index > end)) return word;
    return `--${name}=${readText(`--${name}`, value, truth)}`;
  });
}

/** Declares the flags without a value, which is all that yargs needs for parsing. */
function nameToggles(parser: Argv, name: CommandName): void {
  for (const [key, setting] of settingsOf(name))
    if (setting.toggle !== undefined) parser.boolean(wordOf(key, setting));
}

function describeCommand(parser: Argv, name: CommandName): void {
  const { summary, takes, examples }: Command = COMMANDS[name];
  const settings = settingsOf(name);
  parser.usage(`$0 ${name}${takes === undefined ? "" : ` ${takes.usage}`} [options]\n\n${summary}`);
  for (const [key, setting] of settings) {
    const byDefault = defaultText(setting);
    parser.option(wordOf(key, setting), {
      group: setting.group,
      // Not as `defaultDescription`, which yargs aligns to the right, on narrow terminals without a blank before it.
      describe: byDefault === undefined ? setting.help : `${setting.help} [default: ${byDefault}]`,
      ...(setting.toggle === undefined ? {} : { type: "boolean" }),
    });
  }
  const valued = settings.filter(([, { toggle }]) => toggle === undefined).map(([key]) => flagOf(key));
  const flag = valued.find((each) => each === "log-level") ?? valued[0];
  const variable =
    flag === undefined
      ? ""
      : `\n\nAn option can also be set by its variable: --${flag} by ${variableOf(flag)}, and so on.`;
  parser.epilogue(`${examplesText(examples, columnsOfHelp())}${variable}`);
}

/** Longer examples have their purpose in the next line, so that as many as possible stay in one line for copying. */
function examplesText(examples: Command["examples"], columns: number): string {
  const lines = examples.map(([line, purpose]) => [`clobsim ${line}`, purpose] as const);
  const width = Math.max(...lines.map(([line]) => line.length).filter((length) => length <= columns / 2), 0);
  const rows = lines.flatMap(([line, purpose]) => {
    const [label, ...before] = line.length <= width ? [line] : ["", folded(`  ${line}`, columns)];
    return [...before, ...hung(`  ${label.padEnd(width)}  `, purpose, columns)];
  });
  return ["Examples:", ...rows].join("\n");
}

/** Returns the values given for each flag, as text. A flag without its value has an empty text. */
function textsOf({ settings }: Command, values: Readonly<Record<string, unknown>>): Given["flags"] {
  const texts: Record<string, readonly string[]> = {};
  for (const [key, setting] of Object.entries(settings)) {
    const given = values[wordOf(key, setting)];
    if (given === undefined) continue;
    texts[flagOf(key)] = (Array.isArray(given) ? given : [given]).map((value: unknown) => {
      if (setting.toggle !== undefined) return String(value === (setting.toggle === "on"));
      return typeof value === "string" ? value : "";
    });
  }
  return texts;
}

/** Keys that yargs adds to the values of a command line. */
const YARGS_KEYS = ["_", "$0", "help", "h", "version", "v"];

/** Refuses unknown commands, options and words, naming the nearest known one. @throws UsageError */
function refuseUnknown(
  command: CommandName | undefined,
  [first]: readonly string[],
  keys: readonly string[],
  argv: readonly string[],
): asserts command is CommandName {
  if (first === undefined) {
    const option = keys.find((key) => !YARGS_KEYS.includes(key));
    if (option !== undefined) throw new UsageError(commandBefore(option, argv));
    throw new UsageError(`expected a command, ${anyOf(NAMES)}, found none (see clobsim --help)`);
  }
  if (command === undefined) {
    throw new UsageError(
      `unknown command ${first}${didYouMean(first, NAMES) || `, expected ${anyOf(NAMES)}`}`,
    );
  }
  const known = settingsOf(command).map(([key, setting]) => wordOf(key, setting));
  const unknown = keys.find((key) => !known.includes(key) && !YARGS_KEYS.includes(key));
  if (unknown !== undefined) {
    const place = argv.findIndex((word) => /^-+([^=]*)/.exec(word)?.[1] === unknown);
    const typed = argv[place]?.replace(/=.*/s, "") ?? typedAs(unknown);
    requireNoValue(command, typed, argv[place - 1]);
    const words = known.map((word) => `--${word}`);
    throw new UsageError(
      `unknown option ${typed}${didYouMean(typed, words) || ` (see clobsim ${command} --help)`}`,
    );
  }
}

/** Refuses a value that begins with one dash, which was read as an option. @throws UsageError or ConfigError */
function requireNoValue(command: CommandName, word: string, before = ""): void {
  const taker = settingsOf(command).find(([key, setting]) => `--${wordOf(key, setting)}` === before)?.[1];
  if (taker === undefined || taker.toggle !== undefined || word.startsWith("--")) return;
  readText(before, word, taker);
  throw new UsageError(
    `${before} is followed by the option ${word}: write ${before}=${word} if it is its value`,
  );
}

/** Returns the message for a command line that begins with an option. */
function commandBefore(key: string, argv: readonly string[]): string {
  const taker = NAMES.find((name) =>
    settingsOf(name).some(([each, setting]) => wordOf(each, setting) === key),
  );
  const command =
    taker === undefined
      ? `, ${anyOf(NAMES)} (see clobsim --help)`
      : `, such as clobsim ${[taker, ...argv].join(" ")}`;
  return `expected a command before ${typedAs(key)}${command}`;
}

const typedAs = (key: string): string => `${key.length === 1 ? "-" : "--"}${key}`;

/** Warns about unknown CLOBSIM_ variables. They are not refused because other programs may use them. */
function warnOfUnknownVariables(environment: Given["environment"]): void {
  const known = NAMES.flatMap((name) => settingsOf(name).map(([key]) => variableOf(flagOf(key))));
  known.push(CACHE_VARIABLE);
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith("CLOBSIM_") || known.includes(variable)) continue;
    warn(`variable ${variable} is ignored${didYouMean(variable, known)}`);
  }
}
