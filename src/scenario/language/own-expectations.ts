import { STATUS } from "../../api/errors.ts";
import type { ClientCode } from "../../client/result.ts";
import type { Declarations } from "./declarations.ts";
import { type Fields, itemsOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import type { OrderLook } from "./looks.ts";
import { readOrderLook } from "./order-look.ts";
import type { OwnExpectations, Placed } from "./scenario.ts";
import type { OpenFile } from "./scenario-files.ts";
import { readFillLine } from "./trade-line.ts";
import { textOf } from "./values.ts";
import type { Entry, Node } from "./yaml-tree.ts";

type OwnKey = "status" | "fills" | "rejects";

const CLIENT_CODES: readonly ClientCode[] = ["CONNECTION_LOST", "INVALID_REPLY", "NOT_DERIVED", "NO_WALLET"];
/** Every code that a refusal may have. */
const CODES: readonly string[] = [...Object.keys(STATUS), ...CLIENT_CODES];
/** Why an own order could not be canceled. */
const REASONS: readonly string[] = ["already matched", "already canceled", "already expired"];
/** What a refusal without a code is called. */
const BARE_STATUS = /^HTTP \d{3}$/;

/** What a step says about its own outcome. */
export const readOwnExpectations = (
  file: OpenFile,
  { status, fills, rejects }: Fields<OwnKey>,
  declared: Declarations,
): OwnExpectations => ({
  status: status === undefined ? null : lookAt(file, status.value),
  fills: fills === undefined ? null : readLines(file, fills.value, (line) => readFillLine(line, declared)),
  rejects: readRejects(file, rejects),
});

/** An error code, or why an order could not be canceled. */
export function readRejects({ page }: OpenFile, entry: Entry | undefined): Placed<string> | null {
  if (entry === undefined) return null;
  const { value: node } = entry;
  const expected = "an error code such as INVALID_TICK_SIZE";
  const code = textOf(page, node, expected);
  if (code === null) return null;
  const isKnown = CODES.includes(code) || REASONS.includes(code) || BARE_STATUS.test(code);
  if (isKnown) return { value: code, place: page.placeOf(node) };
  return page.unexpected(node.start, expected, code, [...CODES, ...REASONS]);
}

/** An order's state such as `LIVE 40/100`. */
export function lookAt({ page }: OpenFile, node: Node): Placed<OrderLook> | null {
  if (textOf(page, node, "an order's state such as LIVE 40/100") === null || node.kind !== "text")
    return null;
  const value = readOrderLook(new LineWords(page, node));
  return value && { value, place: page.placeOf(node) };
}

/** A list of lines, each read by `read`. */
export function readLines<Value>(
  { page }: OpenFile,
  node: Node,
  read: (line: LineWords) => Value | null,
): Placed<readonly Placed<Value>[]> | null {
  const items = itemsOf(page, node, "a list");
  if (items === null) return null;
  const lines: Placed<Value>[] = [];
  for (const item of items) {
    if (textOf(page, item, "a line such as SELL 40 YES @ 0.55 from alice") === null || item.kind !== "text")
      continue;
    const value = read(new LineWords(page, item));
    if (value !== null) lines.push({ value, place: page.placeOf(item) });
  }
  return { value: lines, place: page.placeOf(node) };
}
