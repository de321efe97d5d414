import { nearest } from "../../api/nearest.ts";
import { shown } from "../flow/flow-error.ts";
import type { Declarations } from "./declarations.ts";
import { isPartyName } from "./names.ts";
import { orOf, type Page } from "./page.ts";
import type { Rounds } from "./rounds.ts";
import { OUTCOMES } from "./vocabulary.ts";
import type { Node, TextNode } from "./yaml-tree.ts";

const KINDS: readonly string[] = ["token", "market", "order", "address"];
const LIKE_A_STAND_IN = /\{([A-Za-z]{1,20}) ([^{}]{1,80})\}/g;
const OF_ORDER = /\{order [^{}]{1,80}\}/g;
export const STAND_IN_RULE = "{token YES}, {market NAME}, {order NAME} or {address NAME} in braces";

/** Notes every `{order bid}` and the like, in any text of a request, that stands for nothing; false when there is one. */
export function checkStandIns(page: Page, node: Node, declared: Declarations): boolean {
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
export function inRound<Value>(value: Value, rounds: Rounds): Value;
export function inRound(value: unknown, rounds: Rounds): unknown {
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
