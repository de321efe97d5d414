import { type AnyBody, type Endpoint, isRaw } from "./endpoint.ts";
import { ApiError } from "./errors.ts";
import { nearest } from "./nearest.ts";

/** What becomes of a request with fields that its endpoint does not know: `accept` ignores them with a warning. */
export type UnknownFields = "accept" | "refuse";

/** How an endpoint treats unknown fields: the control plane refuses them, the imitated API follows the setting. */
export const unknownFieldsAt = (
  { access }: Pick<Endpoint, "access">,
  setting: UnknownFields,
): UnknownFields => (access === "control" ? "refuse" : setting);

/** The names of the fields that a body may have. */
export const fieldsOf = (body: AnyBody): readonly string[] =>
  body === null || isRaw(body) ? [] : body.fields;

const SHOWN = 5;
const MAX_NAME = 60;

/** A request that is refused for its unknown fields; the hint lists the fields that the endpoint takes. */
export const unknownFieldsError = (
  unknown: readonly string[],
  known: readonly string[],
  endpoint: Pick<Endpoint, "query" | "body">,
): ApiError =>
  new ApiError("INVALID_PARAMETER", unknownFieldsText(unknown, known), {
    hint: fieldsTaken(endpoint),
    details: { fields: unknown.slice(0, SHOWN).map(shortened) },
  });

function fieldsTaken({ query, body }: Pick<Endpoint, "query" | "body">): string {
  const parts = [
    ["query", Object.keys(query)],
    ["body", fieldsOf(body)],
  ] as const;
  const taken = parts.filter(([, names]) => names.length > 0);
  if (taken.length === 0) return "it takes no fields";
  return taken.map(([part, names]) => `the ${part} takes ${names.join(", ")}`).join("; ");
}

/** Unknown fields in words, each with the known one that was probably meant; safe in a header whatever the names hold. */
export function unknownFieldsText(unknown: readonly string[], known: readonly string[]): string {
  const sentences = unknown.slice(0, SHOWN).map((name) => {
    const like = name.length > MAX_NAME ? undefined : meant(name, known);
    const field = `unknown field ${quoted(name)}`;
    return like === undefined ? field : `${field}, did you mean ${quoted(like)}?`;
  });
  if (unknown.length > SHOWN) sentences.push(`and ${unknown.length - SHOWN} more`);
  return sentences.join("; ");
}

/** What other services call a field of ours, both written as `plain` writes them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["timeinforce", "ordertype"],
  ["tif", "ordertype"],
]);

const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, "");

/** The known field of the same letters or the same meaning, else the nearest one. */
function meant(name: string, known: readonly string[]): string | undefined {
  const letters = plain(name);
  const wanted = OTHER_NAMES.get(letters) ?? letters;
  return known.find((field) => plain(field) === wanted) ?? nearest(name, known);
}

const shortened = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name);

const quoted = (name: string): string =>
  JSON.stringify(shortened(name)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
