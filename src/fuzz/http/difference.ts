import { withoutFigures } from "../../history/shrink/signature.ts";

/** Where two answers differ first. */
export interface Difference {
  /** Names of fields and places in lists, such as `bids[0].size`; empty where the whole differs. */
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

const MAX_SHOWN = 120;

/** The first difference of two JSON texts, in the order of the expected one; of other texts, the whole. */
export function firstDifference(expected: string, found: string): Difference {
  const [a, b] = [parsed(expected), parsed(found)];
  return between("", a, b) ?? { path: "", expected: shown(expected), found: shown(found) };
}

function between(path: string, expected: unknown, found: unknown): Difference | null {
  if (Object.is(expected, found)) return null;
  if (isObject(expected) && isObject(found) && Array.isArray(expected) === Array.isArray(found)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      const at = Array.isArray(expected) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      const difference = between(at, expected[name], found[name]);
      if (difference !== null) return difference;
    }
    return null;
  }
  return { path, expected: shown(expected), found: shown(found) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A path that is equal for every place of a list and every id that is a field's name. */
export const pathKey = (path: string): string => withoutFigures(path).replace(/\[#\]/g, "[]");
