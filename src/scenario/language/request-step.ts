import { nearest } from "../../api/nearest.ts";
import { AUTH_HEADERS } from "../../api/signing.ts";
import { shown } from "../../simulation/flow-error.ts";
import type { Declarations, Rounds } from "./declarations.ts";
import { eachOf, isPartyName, itemsOf, mappingOf, matching, notThis, textOf, valuesOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { rejectsAt } from "./own-expectations.ts";
import { attempt, isNothing, type Node, orOf, type Page, type TextNode, UNREADABLE } from "./page.ts";
import type { RequestStep, Tamper } from "./scenario.ts";
import { type StepInfo, type StepSource, step } from "./step-source.ts";
import { OUTCOMES } from "./vocabulary.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const SHAPE = "a method and a path, such as DELETE /order";
const PREFIXED = /^\/(?:clob|api|sim|chain)(?:[/?]|$)/;
/** What can stand in a path outside of braces. */
const PATH = /^\/(?:[\x21-\x7a|~]|\{[^{}]*\})*$/;

/** A request as a client would send it. */
export const REQUEST_STEP: StepInfo = step({
  key: "request",
  form: "`request: GET /orders`",
  does: "sends it, signed by who stands at `as`; `tamper` has `sign`, `append`, `twice`, `spell`",
  isOverHttp: true,
  control: (request) => {
    const path = request.kind === "request" ? request.path : "";
    const place = ["/sim", "/chain"].find((each) => path.startsWith(each));
    return place === undefined ? null : `a request to ${place}`;
  },
  refusals: ["rejects"],
  beside: {
    as: (node, { page, declared }) =>
      isNothing(node)
        ? null
        : declared.account(page, node.start, textOf(page, node, "the name of an account")),
    body: (node, { page, declared }) => jsonWithStandIns(page, node, declared),
    headers: (node, source) => readHeaders(source, node),
    tamper: (node) => node,
    rejects: (node, { page }) => rejectsAt(page, node),
    answers: (node, { page, declared }) => ({
      value: jsonWithStandIns(page, node, declared),
      place: page.placeOf(node),
    }),
  },
  read: (source, { as, body, headers, tamper, rejects, answers }) => {
    const target = targetOf(source);
    const isUnknown = (name: string): boolean => source.beside.some(({ key }) => key.value === name);
    if ((as === undefined && isUnknown("as")) || (headers === undefined && isUnknown("headers")))
      throw UNREADABLE;
    const sent = { ...target, as: as ?? null, body, headers: headers ?? {} };
    const said = {
      ...sent,
      tamper: tamper === undefined ? null : readTamper(source, tamper, sent),
      answers: answers ?? null,
    };
    return { kind: "request", rejects: rejects ?? null, ...inRound(said, source.declared.rounds) };
  },
});

function targetOf({ page, head: { value }, declared }: StepSource): Pick<RequestStep, "method" | "path"> {
  const line = LineWords.at(page, value, SHAPE);
  const method = line.oneOf(METHODS, SHAPE);
  const first = line.peek();
  if (first === undefined) throw line.ends("a path after the method");
  const path = line.rest();
  if (!PATH.test(path)) throw page.unexpected(first.at, "a path such as /order", path);
  if (!checkStandIns(page, value, declared)) throw UNREADABLE;
  const strange = /\{(?!(?:token|market|order|address) )[^{}]*\}/.exec(path)?.[0];
  if (strange !== undefined) throw page.unexpected(first.at, STAND_IN_RULE, strange);
  return { method, path: PREFIXED.test(path) ? path : `/clob${path}` };
}

const HEADER_RULE = "the name of a header";
const isHeaderName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(text);
/** What can stand in a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Reads `{ poly_passphrase: wrong }`. */
function readHeaders({ page, declared }: StepSource, node: Node): RequestStep["headers"] {
  const { entries } = mappingOf(page, node, "headers by name");
  checkStandIns(page, node, declared);
  const headers = eachOf(entries, ({ key, value }): [string, string | null | string[]] => {
    if (!isHeaderName(key.value)) throw page.unexpected(key.start, HEADER_RULE, key.value);
    if (value.kind === "list") return [key.value, eachOf(value.items, (item) => headerText(page, item))];
    return [key.value, isNothing(value) ? null : headerText(page, value)];
  });
  return Object.fromEntries(headers);
}

function headerText(page: Page, node: Node): string {
  if (node.kind === "text" && HEADER_VALUE.test(node.value)) return node.value;
  throw notThis(page, node, "the text of a header on one line");
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

/** Reads `{ sign: /orders?limit=5, append: { poly_signature: 00 } }`. */
function readTamper({ page, declared }: StepSource, node: Node, sent: Sent): Tamper {
  const names = sentHeaders(sent);
  const requireSent = (at: number, name: string): string => {
    if (names.has(name.toLowerCase())) return name;
    throw page.unknown(at, "header of this request", name, names, `it has ${[...names].join(", ")}`);
  };
  const namesIn = (value: Node): readonly string[] => {
    const nodes =
      value.kind === "text" ? [value] : itemsOf(page, value, "the name of a header, or a list of them");
    return eachOf(nodes, (item) => requireSent(item.start, matching(page, item, isHeaderName, HEADER_RULE)));
  };
  const { sign, append, twice, spell } = valuesOf(page, node, "{ sign, append, twice, spell }", {
    sign: (value, key) => {
      if (sent.as === null) page.wrong(key.start, "nobody signs this request", "as: alice lets her sign it");
      checkStandIns(page, value, declared);
      return matching(page, value, isPath, "a path such as /orders?limit=5");
    },
    append: (value) =>
      eachOf(mappingOf(page, value, "texts by header").entries, (entry): [string, string] => [
        requireSent(entry.key.start, entry.key.value).toLowerCase(),
        headerText(page, entry.value),
      ]),
    twice: namesIn,
    spell: namesIn,
  });
  return {
    sign: sign ?? null,
    append: Object.fromEntries(append ?? []),
    twice: twice ?? [],
    spell: spell ?? [],
  };
}

const isPath = (text: string): boolean => /^\/[\x21-\x7e]*(?:\{[^{}]*\}[\x21-\x7e]*)*$/.test(text);

/** The JSON of a node in whose texts every `{order bid}` and the like stands for something. */
function jsonWithStandIns(page: Page, node: Node, declared: Declarations): unknown {
  checkStandIns(page, node, declared);
  return jsonOf(page, node);
}

const KINDS: readonly string[] = ["token", "market", "order", "address"];
const LIKE_A_STAND_IN = /\{([A-Za-z]{1,20}) ([^{}]{1,80})\}/g;
const OF_ORDER = /\{order [^{}]{1,80}\}/g;
const STAND_IN_RULE = "{token YES}, {market NAME}, {order NAME} or {address NAME} in braces";

/** Notes every `{order bid}` and the like, in any text of a request, that stands for nothing; false when there is one. */
function checkStandIns(page: Page, node: Node, declared: Declarations): boolean {
  const checked = (part: Node): boolean => checkStandIns(page, part, declared);
  if (node.kind === "list") return node.items.map(checked).every(Boolean);
  if (node.kind === "mapping") return node.entries.map(({ value }) => checked(value)).every(Boolean);
  return !node.value.includes("{") || checkText(page, node, declared);
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
    isRight = attempt(() => requireStandIn(page, at, whole, kind, words, declared)) !== undefined && isRight;
  }
  return isRight;
}

/** What stands in braces must be named; where it begins like no kind of name, it is text like any other. */
function requireStandIn(
  page: Page,
  at: number,
  whole: string,
  kind: string,
  words: string,
  declared: Declarations,
): true {
  const names = words.trim().split(/\s+/);
  const name = names.join(" ");
  if (kind === "order") declared.orderNamed(page, at, name);
  else if (kind === "market") declared.market(page, at, name);
  else if (kind === "token") {
    const outcome = names.pop() ?? "";
    if (!OUTCOMES.some((known) => known === outcome))
      throw page.unexpected(at, orOf(OUTCOMES), outcome, OUTCOMES);
    declared.market(page, at, names.length === 0 ? null : names.join(" "));
  } else if (kind === "address") {
    if (!isPartyName(name)) throw page.unexpected(at, "the name of an account", name);
  } else {
    const like = nearest(kind, KINDS);
    if (like !== undefined)
      throw page.wrong(at, `expected ${STAND_IN_RULE}, found ${shown(whole)}`, `did you mean ${like}?`);
  }
  return true;
}

const MAX_DIGITS = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** What YAML takes for a number and JSON does not. */
const OTHER_NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The JSON that a node stands for; what JSON cannot say exactly is a problem. */
function jsonOf(page: Page, node: Node): unknown {
  switch (node.kind) {
    case "list":
      return eachOf(node.items, (item) => jsonOf(page, item));
    case "mapping":
      // Not by assignment: a key may be `__proto__`.
      return Object.fromEntries(eachOf(node.entries, ({ key, value }) => [key.value, jsonOf(page, value)]));
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
  throw page.wrong(start, `expected a number as JSON writes it, found ${value}`, "quote it if it is a text");
}

function numberOf(page: Page, { value, start }: TextNode): number {
  const digits = value.replace(/[eE].*$/, "").replace(/^[-0.]+|\./g, "").length;
  const number = Number(value);
  if (digits <= MAX_DIGITS && Number.isFinite(number)) return number;
  throw page.wrong(
    start,
    `expected a number of at most ${MAX_DIGITS} digits, found ${value.slice(0, 40)}`,
    "quote it",
  );
}
