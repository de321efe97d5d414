import yargs, { type Argv } from "yargs";
import { VERSION } from "../config.ts";
import { type Given, readText, truth, variableOf } from "../setting.ts";
import { type Command, wordOf } from "./command.ts";
import { coverageCommand } from "./coverage.ts";
import { doctorCommand } from "./doctor.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { flowCommand } from "./flow.ts";
import { fuzzCommand } from "./fuzz.ts";
import { inspectCommand } from "./inspect.ts";
import { journalCommand } from "./journal.ts";
import { recordCommand } from "./record.ts";
import { repairCommand } from "./repair.ts";
import { replayCommand } from "./replay.ts";
import { reportCommand } from "./report.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { shrinkCommand } from "./shrink.ts";
import { refuseUnknown, warnOfUnknownVariables } from "./unknown-words.ts";
import { worldCommand } from "./world.ts";

const COMMANDS: readonly Command[] = [
  serveCommand,
  runCommand,
  coverageCommand,
  recordCommand,
  shrinkCommand,
  flowCommand,
  fuzzCommand,
  worldCommand,
  journalCommand,
  replayCommand,
  inspectCommand,
  reportCommand,
  repairCommand,
  doctorCommand,
];
const MAX_COLUMNS = 100;

/** What yargs makes of a command line. */
interface Parsed {
  readonly command: Command | undefined;
  /** The words that are no options, the command's name among them. */
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  /** The help or the version, when that is what is asked for. */
  readonly output: string;
}

/**
 * Runs what a command line asks for.
 * @throws UsageError or ConfigError when it asks for nothing that can be done.
 */
export async function runCommandLine(
  argv: readonly string[],
  environment: Given["environment"],
): Promise<ExitCode> {
  const { command, words, values, output } = parse(argv);
  if (output !== "") {
    process.stdout.write(`${output}\n`);
    return EXIT.ok;
  }
  refuseUnknown(COMMANDS, command, words, Object.keys(values));
  warnOfUnknownVariables(COMMANDS, environment);
  return command.run({ flags: textsOf(command, values), environment }, words.slice(1));
}

function parse(argv: readonly string[]): Parsed {
  let command: Command | undefined;
  let output = "";
  const parser = createParser();
  // yargs lays out a command's help on every run, which takes longer than all else it does.
  const wantsHelp = argv.some((word) => word === "-h" || word.startsWith("--help"));
  for (const each of COMMANDS) {
    const describe = (inner: Argv): void =>
      wantsHelp ? describeCommand(inner, each) : nameToggles(inner, each);
    const choose = (): void => {
      command = each;
    };
    parser.command(each.name, each.summary, describe, choose);
  }
  const heard = (error: unknown, _values: unknown, text: string): void => {
    if (error) throw error;
    output = text.replace(/ +\[boolean\]$/gm, "");
  };
  const values = parser.parse(withPlainToggles(argv), {}, heard) as {
    readonly _: readonly (string | number)[];
  };
  return { command, words: values._.map(String), values: { ...values }, output };
}

const TOGGLES = new Set(
  COMMANDS.flatMap(({ flags }) => flags.filter(({ toggle }) => toggle !== undefined).map(wordOf)),
);

/** The words with each `--toggle=yes` as `--toggle=true`: yargs takes all but `true` for false. @throws ConfigError */
function withPlainToggles(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    const [, name = "", value = ""] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    if (!TOGGLES.has(name) || (end >= 0 && index > end)) return word;
    return `--${name}=${readText(`--${name}`, value, truth)}`;
  });
}

/** Every value stays the text that was typed: what it means is the settings' affair. */
function createParser(): Argv {
  return yargs()
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
    .wrap(Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS))
    .exitProcess(false)
    .showHelpOnFail(false);
}

/** All that yargs must know to read a command line: which flags have no value. */
function nameToggles(parser: Argv, command: Command): void {
  for (const flag of command.flags) if (flag.toggle !== undefined) parser.boolean(wordOf(flag));
}

function describeCommand(parser: Argv, command: Command): void {
  parser.usage(
    `$0 ${[command.name, ...(command.takes === undefined ? [] : [command.takes])].join(" ")} [options]\n\n${command.summary}`,
  );
  for (const flag of command.flags) {
    parser.option(wordOf(flag), {
      group: flag.group,
      describe: flag.text,
      ...(flag.otherwise === undefined ? {} : { defaultDescription: flag.otherwise }),
      ...(flag.toggle === undefined ? {} : { type: "boolean" }),
    });
  }
  const valued = command.flags.filter(({ toggle }) => toggle === undefined);
  const flag = valued.find(({ name }) => name === "log-level") ?? valued[0];
  const variable =
    flag === undefined
      ? ""
      : `\n\nAn option can also be set by its variable: --${wordOf(flag)} by ${variableOf(flag.name)}, and so on.`;
  parser.epilogue(`${examplesText(command.examples)}${variable}`);
}

/** Longer examples have what they are for in the next line: none is broken, for they are there to be copied. */
const WIDEST_EXAMPLE = 50;

function examplesText(examples: Command["examples"]): string {
  const lines = examples.map(([line, purpose]) => [`clobsim ${line}`, purpose] as const);
  const lengths = lines.map(([line]) => line.length).filter((length) => length <= WIDEST_EXAMPLE);
  const width = Math.max(...lengths, 0);
  const rows = lines.flatMap(([line, purpose]) =>
    line.length <= width
      ? [`  ${line.padEnd(width)}  ${purpose}`]
      : [`  ${line}`, `  ${" ".repeat(width)}  ${purpose}`],
  );
  return ["Examples:", ...rows].join("\n");
}

/** The texts given for each flag; one given without its value has an empty text. */
function textsOf(command: Command, values: Parsed["values"]): Given["flags"] {
  const texts: Record<string, readonly string[]> = {};
  for (const flag of command.flags) {
    const given = values[wordOf(flag)];
    if (given === undefined) continue;
    texts[flag.name] = (Array.isArray(given) ? given : [given]).map((value: unknown) => {
      if (flag.toggle !== undefined) return String(value === (flag.toggle === "on"));
      return typeof value === "string" ? value : "";
    });
  }
  return texts;
}
