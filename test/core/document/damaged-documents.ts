import type { State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";

export type Json = { [name: string]: Json } | Json[] | string | number | boolean | null;
export type Path = readonly (string | number)[];

export const textOf = (state: State): string => `{\n${[...documentLines(state)].join("\n")}\n}\n`;
export const parsedOf = (text: string): Json => JSON.parse(text);
/** Sorts the names of all objects. */
export function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}

/** Formats a path as in an error message. */
export const nameOf = (path: Path): string =>
  path
    .map((step, depth) => (typeof step === "number" ? `[${step}]` : depth === 0 ? step : `.${step}`))
    .join("");

/** Yields the path of every value of a document. */
export function* placesOf(value: Json, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* placesOf(item, [...path, index]);
  else if (typeof value === "object" && value !== null)
    for (const [name, part] of Object.entries(value)) yield* placesOf(part, [...path, name]);
}

export const at = (document: Json, path: Path): Json =>
  path.reduce<Json>((part, step) => (part as Record<string | number, Json>)[step] as Json, document);

/** Returns a copy of the document, changed at a path. */
export function changed(
  document: Json,
  path: Path,
  change: (parent: Record<string | number, Json>, last: string | number) => void,
): Json {
  const copy = structuredClone(document);
  change(at(copy, path.slice(0, -1)) as Record<string | number, Json>, path.at(-1) as string | number);
  return copy;
}

export const removed = (document: Json, path: Path): Json =>
  changed(document, path, (parent, last) => {
    if (Array.isArray(parent)) parent.splice(last as number, 1);
    else delete parent[last];
  });

/** Returns a value of a wrong type. */
export const wrongTypeFor = (value: Json): Json =>
  Array.isArray(value) ? {} : typeof value === "object" && value !== null ? [] : { no: "such" };

/** Returns another value of the same type. */
export function otherValueThan(value: Json): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return `${value}x`;
  if (value === null) return 1;
  return Array.isArray(value) ? [...value, ...value.slice(-1)] : { ...value, other: 1 };
}

/** Returns a path without list indexes. */
export const kindOf = (path: Path): string => path.filter((step) => typeof step === "string").join(".");

/** Returns the first and the last three paths of each kind. */
export function someOfEachKind(places: readonly Path[]): Path[] {
  const kinds = new Map<string, Path[]>();
  for (const path of places) kinds.set(kindOf(path), [...(kinds.get(kindOf(path)) ?? []), path]);
  return [...kinds.values()].flatMap((alike) => [...new Set([...alike.slice(0, 3), ...alike.slice(-3)])]);
}

/** Damages a text: truncated, a character changed or removed, a line removed, repeated or moved. */
export function damagedText(text: string, where: number, what: number, how: number): string {
  const lines = text.split("\n");
  const [line, other] = [where % lines.length, what % lines.length];
  const here = lines[line] as string;
  const place = where % text.length;
  const characters = '0123456789-"{}[]:,x \n';
  switch (how) {
    case 0:
      return text.slice(0, place);
    case 1:
      return text.slice(0, place) + characters[what % characters.length] + text.slice(place + 1);
    case 2:
      return lines.toSpliced(line, 1).join("\n");
    case 3:
      return lines.toSpliced(line, 0, here).join("\n");
    case 4:
      return lines.toSpliced(line, 1).toSpliced(other, 0, here).join("\n");
    default:
      return text.slice(0, place) + text.slice(place + 1);
  }
}

/** Parses JSON, also of a document without its braces; null if invalid. */
export function jsonOrNull(text: string): Json {
  for (const each of [text, `{${text}`, `${text}}`, `{${text}}`]) {
    try {
      return parsedOf(each);
    } catch {}
  }
  return null;
}
