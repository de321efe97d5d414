import { shown } from "../flow/flow-error.ts";
import type { Page } from "./page.ts";
import { aliasedThrough, type Entry, type MappingNode, type Node } from "./yaml-tree.ts";

/** The values of some keys, by key; those that are not given are missing. */
export type Fields<Key extends string> = { readonly [Name in Key]?: Entry };

/** What stands somewhere, for a sentence that says it is not as expected. */
export const described = (node: Node): string =>
  node.kind === "text" ? shown(node.value) : `a ${node.kind}`;

/** Notes that something else stands where `expected` should. */
export const notThis = (page: Page, node: Node, expected: string): null =>
  page.wrong(node.start, `expected ${expected}, found ${described(node)}`);

/** A mapping, or null with a problem. */
export const mappingOf = (page: Page, node: Node, expected: string): MappingNode | null =>
  node.kind === "mapping" ? aliasedThrough(node) : notThis(page, node, expected);

/** The items of a list, or null with a problem. */
export const itemsOf = (page: Page, node: Node, expected: string): readonly Node[] | null =>
  node.kind === "list" ? aliasedThrough(node).items : notThis(page, node, expected);

/** The entries of a mapping by its keys; a key that is none of them is a problem. */
export function fieldsOf<Key extends string>(
  page: Page,
  node: Node,
  expected: string,
  keys: readonly Key[],
): Fields<Key> | null {
  const mapping = mappingOf(page, node, `${expected}, a mapping`);
  return mapping === null ? null : entriesBy(page, mapping.entries, keys);
}

/** Entries by key; a key that is none of those given is a problem. */
export function entriesBy<Key extends string>(
  page: Page,
  entries: readonly Entry[],
  keys: readonly Key[],
): Fields<Key> {
  const fields: { [Name in Key]?: Entry } = {};
  for (const entry of entries) {
    const key = keys.find((name) => name === entry.key.value);
    if (key === undefined) page.unknown(entry.key.start, "key", entry.key.value, keys);
    else fields[key] = entry;
  }
  return fields;
}
