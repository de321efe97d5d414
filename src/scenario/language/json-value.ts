import type { Page } from "./page.ts";
import { isNothing, type Node, type TextNode } from "./yaml-tree.ts";

const MOST_DIGITS = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** What YAML takes for a number and JSON does not. */
const OTHER_NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The JSON that a node stands for; what JSON cannot say exactly is a problem, and null. */
export function jsonOf(page: Page, node: Node): unknown {
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
  if (digits <= MOST_DIGITS && Number.isFinite(number)) return number;
  return page.wrong(
    start,
    `expected a number of at most ${MOST_DIGITS} digits, found ${value.slice(0, 40)}`,
    "quote it",
  );
}
