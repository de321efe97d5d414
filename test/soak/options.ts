import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

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

const DEFAULTS: Options = { minutes: 10, clients: 32, rate: 300, seed: 1, out: null };

/** Fewer clients than there are kinds would leave a kind out. */
export const LEAST_CLIENTS = 5;

const READERS: { readonly [Name in keyof Options]: (text: string) => Options[Name] } = {
  minutes: (text) => numberIn("minutes", text, 0.1, 1_440, "a number"),
  clients: (text) => numberIn("clients", text, LEAST_CLIENTS, 256, "a whole number"),
  rate: (text) => numberIn("rate", text, 1, 100_000, "a whole number"),
  seed: (text) => numberIn("seed", text, 0, 4_294_967_295, "a whole number"),
  out: writable,
};

const NAMES = Object.keys(READERS)
  .map((name) => `--${name}`)
  .join(", ");

/** Reads the words of a command line. @throws OptionError that says what was expected and what was found. */
export function readOptions(words: readonly string[]): Options {
  const given = new Map<keyof Options, string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    const [name, attached] = split(word);
    if (name === null) throw new OptionError(`expected ${NAMES}, found ${JSON.stringify(word)}`);
    if (given.has(name)) throw new OptionError(`expected --${name} once, found it twice`);
    if (attached === undefined) at += 1;
    const text = attached ?? words[at];
    if (text === undefined) throw new OptionError(`--${name} expects a value, found none`);
    given.set(name, text);
  }
  const optionOf = <Name extends keyof Options>(name: Name): Options[Name] => {
    const text = given.get(name);
    return text === undefined ? DEFAULTS[name] : READERS[name](text);
  };
  return {
    minutes: optionOf("minutes"),
    clients: optionOf("clients"),
    rate: optionOf("rate"),
    seed: optionOf("seed"),
    out: optionOf("out"),
  };
}

/** `--name=value` or `--name`; null for any other word. */
function split(word: string): readonly [keyof Options | null, string | undefined] {
  const [, name = "", value] = /^--([a-z]+)(?:=(.*))?$/s.exec(word) ?? [];
  return [Object.hasOwn(READERS, name) ? (name as keyof Options) : null, value];
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
