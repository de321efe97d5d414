import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";

/** Options of a soak. */
export interface Options {
  readonly minutes: number;
  readonly clients: number;
  /** Requests per second of all clients together. */
  readonly rate: number;
  readonly seed: number;
  /** Path of a JSON file for the figures; null for none. */
  readonly out: string | null;
}

export const USAGE =
  "usage: npm run soak -- [--minutes N] [--clients N] [--rate N] [--seed N] [--out FILE]   (10 minutes, 32 clients, 300 requests/s, seed 1)";

/** Thrown if the command line is invalid. The message is one line. */
export class OptionError extends Error {}

/** With fewer clients a kind of client would be missing. */
const MIN_CLIENTS = 5;

/** Parses a command line. @throws OptionError */
export function readOptions(words: readonly string[]): Options {
  const values = valuesIn(words);
  return {
    minutes: numberIn("minutes", values.minutes, 0.1, 1_440, "a number"),
    clients: numberIn("clients", values.clients, MIN_CLIENTS, 256, "a whole number"),
    rate: numberIn("rate", values.rate, 1, 100_000, "a whole number"),
    seed: numberIn("seed", values.seed, 0, 4_294_967_295, "a whole number"),
    out: values.out === undefined ? null : writable(values.out),
  };
}

function valuesIn(words: readonly string[]) {
  const text = (byDefault: string) => ({ type: "string", default: byDefault }) as const;
  const numbers = { minutes: text("10"), clients: text("32"), rate: text("300"), seed: text("1") };
  try {
    return parseArgs({ args: [...words], options: { ...numbers, out: { type: "string" } } }).values;
  } catch (error) {
    throw new OptionError((error as Error).message.split("\n")[0]);
  }
}

function numberIn(name: string, text: string, min: number, max: number, kind: string): number {
  const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const isKind = kind === "a number" || Number.isInteger(number);
  if (isKind && number >= min && number <= max) return number;
  throw new OptionError(`--${name} expects ${kind} from ${min} to ${max}, found ${JSON.stringify(text)}`);
}

/** Returns the path of a file that can be written. Checked first so that the results are not lost at the end. */
function writable(text: string): string {
  const path = resolve(text);
  const isFolder = text === "" || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder && existsSync(dirname(path))) return path;
  throw new OptionError(`--out expects a file in a folder that exists, found ${JSON.stringify(text)}`);
}
