/** The configuration cannot be used; the message is a sentence for the person who wrote it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** How the text of one setting becomes its value: null when it is not what is expected. */
export interface Setting<Value> {
  readonly expected: string;
  readonly read: (text: string) => Value | null;
  /** Never repeated in a message. */
  readonly secret?: boolean;
}

/** A setting that is one of a few words. */
export const choice = <Value extends string>(...values: readonly Value[]): Setting<Value> => ({
  expected: `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  read: (text) => values.find((value) => value === text) ?? null,
});

const YES = ["true", "yes", "on", "1"];
const NO = ["false", "no", "off", "0"];

/** A setting that is so or not, in any letter case. */
export const truth: Setting<boolean> = {
  expected: "true, yes, on, 1, false, no, off or 0",
  read: (text) => {
    const word = text.toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : null;
  },
};

/** A setting that is a whole number, both bounds included. */
export const wholeNumber = (least: number, most: number): Setting<number> => ({
  expected: `a whole number from ${least} to ${most}`,
  read: (text) => (/^\d{1,9}$/.test(text) && +text >= least && +text <= most ? +text : null),
});

/** What a person asked for: the texts of each flag in order, and the environment's variables. */
export interface Given {
  readonly flags: Readonly<Record<string, readonly string[] | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The environment variable that stands in for a flag; empty, it is not given. */
export const variableOf = (name: string): string => `CLOBSIM_${name.toUpperCase().replaceAll("-", "_")}`;

/**
 * The values of a setting that may be given several times: of its flag, else of its variable, between commas.
 * @throws ConfigError naming the flag or variable, what was expected and what was found.
 */
export function readAll<Value>(
  name: string,
  setting: Setting<Value>,
  { flags, environment }: Given,
): Value[] {
  const given = flags[name] ?? [];
  if (given.length > 0) return given.map((text) => readText(`--${name}`, text, setting));
  const variable = environment[variableOf(name)] ?? "";
  const texts = variable === "" ? [] : variable.split(",").map((text) => text.trim());
  return texts.map((text) => readText(variableOf(name), text, setting));
}

/** The value of a setting, or null when none is given. @throws ConfigError as `readAll`, or when several are given. */
export function readOne<Value>(
  name: string,
  setting: Setting<Value>,
  { flags, environment }: Given,
): Value | null {
  const [text, ...more] = flags[name] ?? [];
  if (more.length > 0) throw new ConfigError(`--${name} is expected once, found ${more.length + 1} times`);
  if (text !== undefined) return readText(`--${name}`, text, setting);
  const variable = environment[variableOf(name)] ?? "";
  return variable === "" ? null : readText(variableOf(name), variable, setting);
}

/** The value of a text. @throws ConfigError naming its source, what was expected and what was found. */
export function readText<Value>(source: string, text: string, setting: Setting<Value>): Value {
  const value = setting.read(text);
  if (value !== null) return value;
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
  const found = text === "" ? "nothing" : setting.secret === true ? "something else" : shown;
  throw new ConfigError(`${source} expects ${setting.expected}, found ${found}`);
}
