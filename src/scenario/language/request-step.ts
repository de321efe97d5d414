import { AUTH_HEADERS } from "../../api/signing.ts";
import { shortened } from "../../core/format.ts";
import { OUTCOMES } from "../../core/terms.ts";
import { nearest } from "../../nearest.ts";
import type { Declarations } from "./declarations.ts";
import { entriesIn, itemsOf, keyOf, LineWords, matching, oneOf, readEach, valuesOf } from "./fields.ts";
import { rejectsAt } from "./order-line.ts";
import { attempt, isNothing, meaning, type Node, UNREADABLE, Word } from "./page.ts";
import type { Source } from "./scenario-files.ts";
import { type StepSource, step } from "./step-source.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const SHAPE = "a method and a path, such as DELETE /order";
const PREFIXED = /^\/(?:clob|api|sim|chain)(?:[/?]|$)/;
/** A path; anything may be in braces. */
const PATH = /^\/(?:[\x21-\x7a|~]|\{[^{}]*\})*$/;

/** A request as a client would send it, for everything that has no step. */
export const REQUEST_STEP = step({
  isOverHttp: true,
  refusals: ["rejects"],
  beside: {
    as: (node, { declared }) => (isNothing(node) ? null : declared.account(node)),
    body: jsonAt,
    headers: readHeaders,
    tamper: (node) => node,
    rejects: rejectsAt,
    answers: (node, source) => ({ value: jsonAt(node, source), place: node.place }),
  },
  read: (source, { as, body, headers, tamper, answers }) => {
    const target = targetOf(source);
    const isUnread = (name: string, value: unknown) => value === undefined && keyOf(source.beside, name);
    if (isUnread("as", as) || isUnread("headers", headers)) throw UNREADABLE;
    const sent = {
      ...target,
      /** The account that signs; null sends the request unsigned. */
      as: as ?? null,
      /** JSON, or a text that is sent unchanged; undefined for none. */
      body,
      /** Replace generated headers after signing: null removes a header, a list sends it several times. */
      headers: headers ?? {},
    };
    const content = {
      ...sent,
      tamper: tamper === undefined ? null : readTamper(source, tamper, sent),
      /** Fields that the answer must have, at least. */
      answers: answers ?? null,
    };
    // `{order bid#}` is `{order bid7}` in its round.
    const { rounds } = source.declared;
    return within(content, (text) =>
      text.replace(OF_ORDER, (whole) => rounds.numbered(whole)),
    ) as typeof content;
  },
  control: ({ path }) => {
    const place = ["/sim", "/chain"].find((each) => path.startsWith(each));
    return place === undefined ? null : `a request to ${place}`;
  },
});

/** Reads the method and the path from the origin: `/clob/order`. It may contain placeholders such as `{token YES}`. */
function targetOf({ head: { value }, declared }: StepSource) {
  const line = new LineWords(value, SHAPE);
  const method = line.oneOf(METHODS, SHAPE);
  const [first] = line.left;
  if (first === undefined)
    throw line.end.wrong("expected a path after the method, found the end of the line");
  const path = line.rest();
  const whole = new Word(first.page, first.at, path);
  if (!PATH.test(path)) throw whole.unexpected("a path such as /order");
  if (!checkStandIns(value, declared)) throw UNREADABLE;
  const strange = /\{(?!(?:token|market|order|address) )[^{}]*\}/.exec(path)?.[0];
  if (strange !== undefined) throw new Word(first.page, first.at, strange).unexpected(STAND_IN_RULE);
  return { method, path: PREFIXED.test(path) ? path : `/clob${path}` };
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const headerName = matching((text) => /^[\w!#$%&'*+.^`|~-]+$/.test(text), "the name of a header");

/** Reads `{ poly_passphrase: wrong }`. */
function readHeaders(node: Node, { declared }: Source) {
  const entries = entriesIn(node, "headers by name");
  checkStandIns(node, declared);
  const headers = readEach(entries, ({ key, value }): [string, string | null | string[]] => {
    const name = headerName(key);
    if (value.kind === "list") return [name, readEach(value.items, headerText)];
    return [name, isNothing(value) ? null : headerText(value)];
  });
  return Object.fromEntries(headers);
}

function headerText(node: Node): string {
  if (node.kind === "text" && HEADER_VALUE.test(node.text)) return node.text;
  throw node.unexpected("the text of a header on one line");
}

interface SentFields extends Pick<ReturnType<typeof targetOf>, "method"> {
  readonly as: string | null;
  readonly body: unknown;
  readonly headers: ReturnType<typeof readHeaders>;
}

/** Returns the names of the headers that a request is sent with, in lower case. */
function sentHeaders({ method, as, body, headers }: SentFields): ReadonlySet<string> {
  const names = new Set(["host", ...(as === null ? [] : AUTH_HEADERS)]);
  if (body !== undefined) names.add("content-type");
  if (body !== undefined || method === "POST") names.add("content-length");
  for (const [name, value] of Object.entries(headers))
    names[value === null ? "delete" : "add"](name.toLowerCase());
  return names;
}

/** Changes to a correctly signed request. Header names are in lower case, except in `spell`. */
export type Tamper = ReturnType<typeof readTamper>;

/** Reads `{ sign: /orders?limit=5, append: { poly_signature: 00 } }`. */
function readTamper({ declared }: StepSource, node: Node, sent: SentFields) {
  const names = sentHeaders(sent);
  const sentName = (word: Word): string => {
    if (names.has(word.text.toLowerCase())) return word.text;
    throw word.unknown("header of this request", names);
  };
  const namesIn = (value: Node): readonly string[] => {
    const nodes = value.kind === "text" ? [value] : itemsOf(value, "the name of a header, or a list of them");
    return readEach(nodes, (item) => headerName(item) && sentName(item));
  };
  const { sign, append, twice, spell } = valuesOf(node, "{ sign, append, twice, spell }", {
    sign: (value, key) => {
      if (sent.as === null) key.wrong("this request is not signed", "as: alice signs it");
      checkStandIns(value, declared);
      return matching(isPath, "a path such as /orders?limit=5")(value);
    },
    append: (value) =>
      readEach(entriesIn(value, "texts by header"), (entry): [string, string] => [
        sentName(entry.key).toLowerCase(),
        headerText(entry.value),
      ]),
    twice: namesIn,
    spell: namesIn,
  });
  return {
    /** Signed instead of the request's path, which has neither `/clob` nor a query; null to sign that path. */
    sign: sign ?? null,
    append: Object.fromEntries(append ?? []),
    twice: twice ?? [],
    /** Header names in the upper and lower case that is sent. */
    spell: spell ?? [],
  };
}

const isPath = (text: string): boolean => /^\/[\x21-\x7e]*$/.test(text.replace(/\{[^{}]*\}/g, "{}"));

const KINDS: readonly string[] = ["token", "market", "order", "address"];
const LIKE_A_STAND_IN = /\{([A-Za-z]{1,20}) ([^{}]{1,80})\}/g;
const OF_ORDER = /\{order [^{}]{1,80}\}/g;
const STAND_IN_RULE = "{token YES}, {market NAME}, {order NAME} or {address NAME} in braces";

/** Reports each placeholder, such as `{order bid}`, whose name is not declared; false if there is one. */
function checkStandIns(node: Node, declared: Declarations): boolean {
  const parts = [...node.own, ...node.ownEntries.map(({ value }) => value)];
  const areRight = parts.map((part) => checkStandIns(part, declared)).every(Boolean);
  return areRight && (!node.text.includes("{") || checkText(node, declared));
}

/** Rewrites every text in a JSON value. */
export function within(value: unknown, rewrite: (text: string) => string): unknown {
  if (typeof value === "string") return rewrite(value);
  if (Array.isArray(value)) return value.map((item) => within(item, rewrite));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, within(item, rewrite)]));
}

function checkText({ page, text, at, end }: Node, declared: Declarations): boolean {
  const own = page.text.slice(at, end);
  let isRight = true;
  let from = 0;
  for (const [whole, kind = "", words = ""] of text.matchAll(LIKE_A_STAND_IN)) {
    const index = own.indexOf(whole, from);
    if (index >= 0) from = index + whole.length;
    const word = new Word(page, at + Math.max(0, index), whole);
    isRight = attempt(() => requireStandIn(word, kind, words, declared)) !== undefined && isRight;
  }
  return isRight;
}

/** Checks the name in a placeholder. Braces that begin with no similar kind are plain text. */
function requireStandIn(whole: Word, kind: string, words: string, declared: Declarations): true {
  const names = words.trim().split(/\s+/);
  const name = names.join(" ");
  if (kind === "order") declared.orderNamed(whole, name);
  else if (kind === "market") declared.market(whole, name);
  else if (kind === "token") {
    oneOf(OUTCOMES)(new Word(whole.page, whole.at, names.pop() ?? ""));
    declared.market(whole, names.length === 0 ? null : names.join(" "));
  } else if (kind === "address") {
    declared.accountOrStranger(whole, name);
  } else {
    const like = nearest(kind, KINDS);
    if (like !== undefined) throw whole.unexpected(STAND_IN_RULE, [], meaning(like));
  }
  return true;
}

const MAX_DIGITS = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** Numbers in YAML that are not numbers in JSON. */
const OTHER_NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

function jsonAt(node: Node, { declared }: Source): unknown {
  checkStandIns(node, declared);
  return jsonOf(node);
}

/** Converts a node to JSON; a value that JSON cannot represent exactly is a problem. */
function jsonOf(node: Node): unknown {
  switch (node.kind) {
    case "list":
      return readEach(node.own, jsonOf);
    case "mapping":
      // Not by assignment: a key may be `__proto__`.
      return Object.fromEntries(readEach(node.ownEntries, ({ key, value }) => [key.text, jsonOf(value)]));
    case "text":
      return node.isPlain ? plainValue(node) : node.text;
  }
}

function plainValue(node: Node): string | number | boolean | null {
  const { text } = node;
  if (isNothing(node)) return null;
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase() === "true";
  if (OTHER_NUMBER.test(text) && !NUMBER.test(text))
    throw node.wrong(`expected a JSON number, found ${text}`, "quote it if it is a text");
  if (!NUMBER.test(text)) return text;
  const digits = text.replace(/[eE].*$/, "").replace(/^[-0.]+|\./g, "").length;
  if (digits <= MAX_DIGITS && Number.isFinite(Number(text))) return Number(text);
  const expected = `expected a number of at most ${MAX_DIGITS} digits`;
  throw node.wrong(`${expected}, found ${shortened(text, 40)}`, "quote it");
}
