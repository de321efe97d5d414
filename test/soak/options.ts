import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";

/** What a soak is asked to do. */
export interface Options {
  readonly minutes: number;
  readonly clients: number;
  /** Requests a second, of all clients together. */
  readonly rate: number;
  readonly seed: number;
  /** Where the figures are written as JSON; null: nowhere. */
  readonly out: string | null;
}

export const USAGE =
  "usage: npm run soak -- [--minutes N] [--clients N] [--rate N] [--seed N] [--out FILE]   (10 minutes, 32 clients, 300 requests/s, seed 1)";

/** A command line that cannot be carried out; the message is one line. */
export class OptionError extends Error {}

/** Fewer clients than there are kinds would leave a kind out. */
export const LEAST_CLIENTS = 5;

/** Reads the words of a command line. @throws OptionError that says what was expected and what was found. */
export function readOptions(words: readonly string[]): Options {
  const values = valuesIn(words);
  return {
    minutes: numberIn("minutes", values.minutes ?? "10", 0.1, 1_440, "a number"),
    clients: numberIn("clients", values.clients ?? "32", LEAST_CLIENTS, 256, "a whole number"),
    rate: numberIn("rate", values.rate ?? "300", 1, 100_000, "a whole number"),
    seed: numberIn("seed", values.seed ?? "1", 0, 4_294_967_295, "a whole number"),
    out: values.out === undefined ? null : writable(values.out),
  };
}

function valuesIn(words: readonly string[]): Readonly<Partial<Record<keyof Options, string>>> {
  const text = { type: "string" } as const;
  try {
    const options = { minutes: text, clients: text, rate: text, seed: text, out: text };
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new OptionError((error as Error).message.split("\n")[0]);
  }
}

function numberIn(name: string, text: string, least: number, most: number, kind: string): number {
  const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const isKind = kind === "a number" || Number.isInteger(number);
  if (isKind && number >= least && number <= most) return number;
  throw new OptionError(`--${name} expects ${kind} from ${least} to ${most}, found ${JSON.stringify(text)}`);
}

/** A path that a file can be written to: an hour must not be lost for a typing error. */
function writable(text: string): string {
  const path = resolve(text);
  const isFolder = text === "" || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder && existsSync(dirname(path))) return path;
  throw new OptionError(`--out expects a file in a folder that exists, found ${JSON.stringify(text)}`);
}
