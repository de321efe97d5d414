import type { RawRequest } from "../../client/connection.ts";
import { changeHeaders, type Header, type HeaderChanges } from "../../client/transport.ts";
import { type Tamper, within } from "../language/request-step.ts";
import type { RequestStep } from "../language/scenario.ts";

const BRACES = /\{(token|market|order|address) ([^{}]{1,80})\}/g;

/** Functions that return the id for a name in braces, by kind. */
type Resolvers = Readonly<Record<"token" | "market" | "order" | "address", (name: string) => string>>;

/** Returns a function that replaces the placeholders in a text by ids. */
export const placeholderFiller =
  (resolvers: Resolvers) =>
  (text: string): string =>
    text.replace(BRACES, (_, kind: keyof Resolvers, words: string) => resolvers[kind](words.trim()));

/** Returns the request of a step. */
export function rawRequestOf(step: RequestStep, text: (of: string) => string): RawRequest {
  const headers = Object.entries(step.headers).map(([name, value]) => [
    name,
    value === null ? null : typeof value === "string" ? text(value) : value.map(text),
  ]);
  const changes = Object.fromEntries(headers) as HeaderChanges;
  const { tamper } = step;
  return {
    method: step.method,
    path: text(step.path),
    ...(step.body === undefined ? {} : { body: within(step.body, text) }),
    signed: step.as !== null,
    ...(tamper !== null && tamper.sign !== null && { signedPath: text(tamper.sign) }),
    headers: (made) => tampered(changeHeaders(made, changes), tamper),
  };
}

/** Applies `tamper` to headers. */
function tampered(headers: readonly Header[], tamper: Tamper | null): readonly Header[] {
  if (tamper === null) return headers;
  const { append, twice, spell } = tamper;
  const isIn = (names: readonly string[], name: string): boolean =>
    names.some((each) => each.toLowerCase() === name.toLowerCase());
  return headers.flatMap(([name, value]) => {
    const spelled = spell.find((each) => isIn([each], name)) ?? name;
    const header = [spelled, value + (append[name.toLowerCase()] ?? "")] as const;
    return isIn(twice, name) ? [header, header] : [header];
  });
}

/** Returns the error code of a reply, or `HTTP 500` for an error without a code; null if it is not an error. */
export function codeOf(status: number, body: unknown): string | null {
  if (status >= 200 && status < 300) return null;
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" ? code : `HTTP ${status}`;
}
