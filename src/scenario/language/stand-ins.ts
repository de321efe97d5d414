import type { Declarations } from "./declarations.ts";
import { isPartyName } from "./names.ts";
import { orOf, type Page } from "./page.ts";
import { OUTCOMES } from "./vocabulary.ts";
import type { Node, TextNode } from "./yaml-tree.ts";

const STAND_IN = /\{(token|market|order|address) ([^{}]{1,80})\}/g;
export const STAND_IN_RULE = "{token YES}, {market NAME}, {order NAME} or {address NAME} in braces";

/** Notes every `{order bid}` and the like, in any text of a request, that stands for nothing. */
export function checkStandIns(page: Page, node: Node, declared: Declarations): void {
  switch (node.kind) {
    case "list":
      for (const item of node.items) checkStandIns(page, item, declared);
      return;
    case "mapping":
      for (const { value } of node.entries) checkStandIns(page, value, declared);
      return;
    case "text":
      if (node.value.includes("{")) checkText(page, node, declared);
  }
}

function checkText(page: Page, { value, start, end }: TextNode, declared: Declarations): void {
  const own = page.source.text.slice(start, end);
  for (const [whole, kind, words = ""] of value.matchAll(STAND_IN)) {
    const at = start + Math.max(0, own.indexOf(whole));
    const names = words.trim().split(/\s+/);
    const name = names.join(" ");
    if (kind === "token") checkToken(page, at, names, declared);
    else if (kind === "order") declared.demandOrder(page, at, name);
    else if (kind === "market") {
      if (!declared.hasMarket(name)) declared.noMarket(page, at, name);
    } else if (!isPartyName(name)) page.unexpected(at, "the name of an account", name);
  }
}

function checkToken(page: Page, at: number, names: readonly string[], declared: Declarations): void {
  const outcome = names.at(-1) ?? "";
  const market = names.length === 1 ? null : names.slice(0, -1).join(" ");
  if (!OUTCOMES.some((known) => known === outcome)) page.unexpected(at, orOf(OUTCOMES), outcome, OUTCOMES);
  else if (!declared.hasMarket(market)) declared.noMarket(page, at, market);
}
