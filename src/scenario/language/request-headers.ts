import { AUTH_HEADERS } from "../../api/signing.ts";
import { fieldsOf, itemsOf, mappingOf, notThis } from "./fields.ts";
import type { Page } from "./page.ts";
import type { RequestStep, Tamper } from "./scenario.ts";
import { checkStandIns } from "./stand-ins.ts";
import type { StepSource } from "./step-source.ts";
import { nameAt } from "./values.ts";
import { type Entry, isNothing, type Node } from "./yaml-tree.ts";

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** What can stand in a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TAMPER_KEYS = ["sign", "append", "twice", "spell"] as const;

type Headers = Record<string, string | null | readonly string[]>;

/** Reads `headers: { poly_passphrase: wrong }`; null with a problem. */
export function readHeaders({ file, declared }: StepSource, node: Node): Headers | null {
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
export function readTamper(
  { file, declared }: StepSource,
  { value: node }: Entry,
  sent: Sent,
): Tamper | null {
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
