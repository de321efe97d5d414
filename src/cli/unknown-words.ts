import { anyOf, type Given, variableOf } from "../setting.ts";
import { type Command, wordOf } from "./command.ts";
import { UsageError } from "./exit-code.ts";
import { didYouMean } from "./output.ts";

/** What yargs adds of its own to the values of a command line. */
const YARGS_KEYS = ["_", "$0", "help", "h", "version", "v"];

/**
 * Refuses commands, options and words that nobody knows, naming the nearest that somebody knows.
 * @throws UsageError
 */
export function refuseUnknown(
  commands: readonly Command[],
  command: Command | undefined,
  words: readonly string[],
  keys: readonly string[],
): asserts command is Command {
  const names = commands.map(({ name }) => name);
  const [first, second] = words;
  if (first === undefined) {
    throw new UsageError(`expected a command, ${anyOf(names)}, found none (see clobsim --help)`);
  }
  if (command === undefined) {
    const nearest = didYouMean(first, names) || `, expected ${anyOf(names)}`;
    throw new UsageError(`unknown command ${first}${nearest}`);
  }
  const known = command.flags.map(wordOf);
  for (const key of keys) {
    if (known.includes(key) || YARGS_KEYS.includes(key)) continue;
    const typed = `${key.length === 1 ? "-" : "--"}${key}`;
    const nearest = didYouMean(
      typed,
      known.map((word) => `--${word}`),
    );
    throw new UsageError(`unknown option ${typed}${nearest || ` (see clobsim ${command.name} --help)`}`);
  }
  if (second !== undefined && command.takes === undefined) {
    throw new UsageError(`${command.name} takes options only, found ${JSON.stringify(second)}`);
  }
}

/** Says on stderr which variables look like settings and are none: others may have set them for a purpose of theirs. */
export function warnOfUnknownVariables(
  commands: readonly Command[],
  environment: Given["environment"],
): void {
  const known = commands.flatMap(({ flags }) => flags.map(({ name }) => variableOf(name)));
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith("CLOBSIM_") || known.includes(variable)) continue;
    process.stderr.write(`clobsim: variable ${variable} is ignored${didYouMean(variable, known)}\n`);
  }
}
