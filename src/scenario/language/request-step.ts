import { nearest } from "../../api/nearest.ts";
import { AUTH_HEADERS } from "../../api/signing.ts";
import { shown } from "../../simulation/flow-error.ts";
import type { Declarations, Rounds } from "./declarations.ts";
import { entriesBy, fieldsOf, isPartyName, itemsOf, mappingOf, nameAt, notThis, textOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { readRejects } from "./own-expectations.ts";
import { type Entry, isNothing, type Node, orOf, type Page, type TextNode } from "./page.ts";
import type { RequestStep, Tamper } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { OUTCOMES } from "./vocabulary.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const SHAPE = "a method and a path, such as DELETE /order";
const PREFIXED = /^\/(?:clob|api|sim|chain)(?:[/?]|$)/;
/** What can stand in a path outside of braces. */
const PATH = /^\/(?:[\x21-\x7a|~]|\{[^{}]*\})*$/;

/** Reads `request: DELETE /order` with what stands beside it. */
export function readRequest(step: StepSource): RequestStep | null {
  const { file, head, beside, declared } = step;
  const { page } = file;
  const fields = entriesBy(page, beside, ["as", "body", "headers", "tamper", "rejects", "answers"]);
  const target = targetOf(step, head.value);
  const as = fields.as === undefined ? null : signerOf(step, fields.as);
  const headers = fields.headers === undefined ? {} : readHeaders(step, fields.headers.value);
  if (fields.answers !== undefined) checkStandIns(page, fields.answers.value, declared);
  const answers = fields.answers && {
    value: jsonOf(page, fields.answers.value),
    place: page.placeOf(fields.answers.value),
  };
  const rejects = readRejects(file, fields.rejects);
  if (fields.body !== undefined) checkStandIns(page, fields.body.value, declared);
  const body = fields.body === undefined ? undefined : jsonOf(page, fields.body.value);
  if (target === null || as === undefined || headers === null) return null;
  const sent = { ...target, as, body, headers };
  const tamper = fields.tamper === undefined ? null : readTamper(step, fields.tamper, sent);
  const said = { ...sent, tamper, answers: answers ?? null };
  return { ...baseOf(step), kind: "request", rejects, ...inRound(said, declared.rounds) };
}

function targetOf({ file, declared }: StepSource, value: Node): Pick<RequestStep, "method" | "path"> | null {
  const { page } = file;
  if (textOf(page, value, SHAPE) === null || value.kind !== "text") return null;
  const line = new LineWords(page, value);
  const method = line.oneOf(METHODS, SHAPE);
  const first = method && line.peek();
  if (method === null) return null;
  if (first === undefined || first === null) return line.ends("a path after the method");
  const path = line.rest();
  if (!PATH.test(path)) return page.unexpected(first.at, "a path such as /order", path);
  if (!checkStandIns(page, value, declared)) return null;
  const strange = /\{(?!(?:token|market|order|address) )[^{}]*\}/.exec(path)?.[0];
  if (strange !== undefined) return page.unexpected(first.at, STAND_IN_RULE, strange);
  return { method, path: PREFIXED.test(path) ? path : `/clob${path}` };
}

/** Who signs; null for nobody, undefined with a problem. */
function signerOf({ file, declared }: StepSource, { value }: Entry): string | null | undefined {
  if (isNothing(value)) return null;
  const name = textOf(file.page, value, "the name of an account");
  if (name === null) return undefined;
  return declared.demandAccount(file.page, value.start, name) ? name : undefined;
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** What can stand in a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TAMPER_KEYS = ["sign", "append", "twice", "spell"] as const;

type Headers = Record<string, string | null | readonly string[]>;

/** Reads `headers: { poly_passphrase: wrong }`; null with a problem. */
function readHeaders({ file, declared }: StepSource, node: Node): Headers | null {
  const { page } = file;
  const mapping = mappingOf(page, node, "headers by name");
  if (mapping === null) return null;
  checkStandIns(page, node, declared);
  const headers: (readonly [string, Headers[string]])[] = [];
  for (const { key, value } of mapping.entries) {
    if (!HEADER_NAME.test(key.value)) page.unexpected(key.start, "the name of a header", key.value);
    else if (value.kind === "list")
      headers.push([key.value, value.items.map((item) => headerText(page, item))]);
    else headers.push([key.value, isNothing(value) ? null : headerText(page, value)]);
  }
  return Object.fromEntries(headers);
}

function headerText(page: Page, node: Node): string {
  const expected = "the text of a header on one line";
  if (node.kind === "text" && HEADER_VALUE.test(node.value)) return node.value;
  notThis(page, node, expected);
  return "";
}

type Sent = Pick<RequestStep, "method" | "as" | "body" | "headers">;

/** The headers that a request is sent with, in lower case. */
function sentHeaders({ method, as, body, headers }: Sent): ReadonlySet<string> {
  const names = new Set(["host", ...(as === null ? [] : AUTH_HEADERS)]);
  if (body !== undefined) names.add("content-type");
  if (body !== undefined || method === "POST") names.add("content-length");
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) names.delete(name.toLowerCase());
    else names.add(name.toLowerCase());
  }
  return names;
}

/** Reads `tamper: { sign: /orders?limit=5, append: { poly_signature: 00 } }`; null with a problem. */
function readTamper({ file, declared }: StepSource, { value: node }: Entry, sent: Sent): Tamper | null {
  const { page } = file;
  const { sign, append, twice, spell } =
    fieldsOf(page, node, "{ sign, append, twice, spell }", TAMPER_KEYS) ?? {};
  const names = sentHeaders(sent);
  const isSent = (at: number, name: string): boolean =>
    names.has(name.toLowerCase()) ||
    page.unknown(at, "header of this request", name, names, `it has ${[...names].join(", ")}`) !== null;
  if (sign !== undefined && sent.as === null) {
    page.wrong(sign.key.start, "nobody signs this request", "as: alice lets her sign it");
  }
  if (sign !== undefined) checkStandIns(page, sign.value, declared);
  const suffixes =
    append === undefined ? [] : (mappingOf(page, append.value, "texts by header")?.entries ?? []);
  return {
    sign: sign === undefined ? null : nameAt(page, sign.value, isPath, "a path such as /orders?limit=5"),
    append: Object.fromEntries(
      suffixes.flatMap(({ key, value }) =>
        isSent(key.start, key.value) ? [[key.value.toLowerCase(), headerText(page, value)]] : [],
      ),
    ),
    twice: twice === undefined ? [] : namesIn(page, twice.value, isSent),
    spell: spell === undefined ? [] : namesIn(page, spell.value, isSent),
  };
}

const isPath = (text: string): boolean => /^\/[\x21-\x7e]*(?:\{[^{}]*\}[\x21-\x7e]*)*$/.test(text);

/** One name of a header, or a list of them. */
function namesIn(page: Page, node: Node, isSent: (at: number, name: string) => boolean): readonly string[] {
  const nodes =
    node.kind === "text" ? [node] : (itemsOf(page, node, "the name of a header, or a list of them") ?? []);
  return nodes.flatMap((item) => {
    const name = nameAt(page, item, (text) => HEADER_NAME.test(text), "the name of a header");
    return name !== null && isSent(item.start, name) ? [name] : [];
  });
}

const KINDS: readonly string[] = ["token", "market", "order", "address"];
const LIKE_A_STAND_IN = /\{([A-Za-z]{1,20}) ([^{}]{1,80})\}/g;
const OF_ORDER = /\{order [^{}]{1,80}\}/g;
const STAND_IN_RULE = "{token YES}, {market NAME}, {order NAME} or {address NAME} in braces";

/** Notes every `{order bid}` and the like, in any text of a request, that stands for nothing; false when there is one. */
function checkStandIns(page: Page, node: Node, declared: Declarations): boolean {
  let isRight = true;
  switch (node.kind) {
    case "list":
      for (const item of node.items) isRight = checkStandIns(page, item, declared) && isRight;
      return isRight;
    case "mapping":
      for (const { value } of node.entries) isRight = checkStandIns(page, value, declared) && isRight;
      return isRight;
    case "text":
      return !node.value.includes("{") || checkText(page, node, declared);
  }
}

/** A value in which the names of orders are those of the round: `{order bid#}` is `{order bid7}`. */
function inRound<Value>(value: Value, rounds: Rounds): Value;
function inRound(value: unknown, rounds: Rounds): unknown {
  if (typeof value === "string") return value.replace(OF_ORDER, (whole) => rounds.named(whole));
  if (Array.isArray(value)) return value.map((item) => inRound(item, rounds));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inRound(item, rounds)]));
}

function checkText(page: Page, { value, start, end }: TextNode, declared: Declarations): boolean {
  const own = page.source.text.slice(start, end);
  let isRight = true;
  let from = 0;
  for (const [whole, kind = "", words = ""] of value.matchAll(LIKE_A_STAND_IN)) {
    const index = own.indexOf(whole, from);
    if (index >= 0) from = index + whole.length;
    const at = start + Math.max(0, index);
    const isKnown = KINDS.includes(kind)
      ? isNamed(page, at, kind, words, declared)
      : isOther(page, at, whole, kind);
    isRight = isKnown && isRight;
  }
  return isRight;
}

/** Whether what stands in braces is text like any other; if it begins like a mistyped kind, that is a problem. */
function isOther(page: Page, at: number, whole: string, kind: string): boolean {
  const like = nearest(kind, KINDS);
  if (like === undefined) return true;
  page.wrong(at, `expected ${STAND_IN_RULE}, found ${shown(whole)}`, `did you mean ${like}?`);
  return false;
}

/** Whether something has the name; if not, that is a problem. */
function isNamed(page: Page, at: number, kind: string, words: string, declared: Declarations): boolean {
  const names = words.trim().split(/\s+/);
  const name = names.join(" ");
  if (kind === "token") return isToken(page, at, names, declared);
  if (kind === "order") return declared.orderNamed(page, at, name) !== null;
  if (kind === "market") return declared.hasMarket(name) || declared.noMarket(page, at, name) !== null;
  return isPartyName(name) || page.unexpected(at, "the name of an account", name) !== null;
}

function isToken(page: Page, at: number, names: readonly string[], declared: Declarations): boolean {
  const outcome = names.at(-1) ?? "";
  const market = names.length === 1 ? null : names.slice(0, -1).join(" ");
  if (!OUTCOMES.some((known) => known === outcome)) {
    return page.unexpected(at, orOf(OUTCOMES), outcome, OUTCOMES) !== null;
  }
  return declared.hasMarket(market) || declared.noMarket(page, at, market) !== null;
}

const MAX_DIGITS = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** What YAML takes for a number and JSON does not. */
const OTHER_NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The JSON that a node stands for; what JSON cannot say exactly is a problem, and null. */
function jsonOf(page: Page, node: Node): unknown {
  switch (node.kind) {
    case "list":
      return node.items.map((item) => jsonOf(page, item));
    case "mapping":
      // Not by assignment: a key may be `__proto__`.
      return Object.fromEntries(node.entries.map(({ key, value }) => [key.value, jsonOf(page, value)]));
    case "text":
      return node.isPlain ? plainValue(page, node) : node.value;
  }
}

function plainValue(page: Page, node: TextNode): string | number | boolean | null {
  const { value, start } = node;
  if (isNothing(node)) return null;
  if (/^(?:true|True|TRUE)$/.test(value)) return true;
  if (/^(?:false|False|FALSE)$/.test(value)) return false;
  if (NUMBER.test(value)) return numberOf(page, node);
  if (!OTHER_NUMBER.test(value)) return value;
  return page.wrong(start, `expected a number as JSON writes it, found ${value}`, "quote it if it is a text");
}

function numberOf(page: Page, { value, start }: TextNode): number | null {
  const digits = value.replace(/[eE].*$/, "").replace(/^[-0.]+|\./g, "").length;
  const number = Number(value);
  if (digits <= MAX_DIGITS && Number.isFinite(number)) return number;
  return page.wrong(
    start,
    `expected a number of at most ${MAX_DIGITS} digits, found ${value.slice(0, 40)}`,
    "quote it",
  );
}
