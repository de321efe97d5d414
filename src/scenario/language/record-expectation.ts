import type { HashExpectation } from "./expectation.ts";
import type { ExpectationSource } from "./expectation-source.ts";
import { notThis } from "./fields.ts";
import type { Page } from "./page.ts";
import { type Entry, isNothing, type TextNode } from "./yaml-tree.ts";

const HASH = /^(?:v2:)?[\da-f]{64}$/;

/** Reads `stateHash: "..."`; nothing is to be written by `--update`. */
export function readStateHash({ file, into }: ExpectationSource, { key, value }: Entry): void {
  const { page } = file;
  const isHash = value.kind === "text" && (isNothing(value) || value.value === "" || HASH.test(value.value));
  if (!isHash) {
    notThis(page, value, "v2: and 64 hex digits, or nothing for --update to write them");
    return;
  }
  const hash = isNothing(value) ? "" : value.value;
  into.push({ kind: "stateHash", place: page.placeOf(key), hash, ...gapOf(page, value) });
}

/** Where a new hash goes. */
function gapOf(
  { source }: Page,
  { start, end, isPlain }: TextNode,
): Pick<HashExpectation, "range" | "around"> {
  const inner = isPlain ? [start, end] : [start + 1, end - 1];
  const [from = 0, to = 0] = inner.map((offset) => source.originalOffset(offset));
  const touches = source.text[start - 1] === ":";
  return { range: [from, to], around: isPlain ? [touches ? ' "' : '"', '"'] : ["", ""] };
}

/** Reads `golden: goldens/auction.txt`, a file that `--update` writes. */
export function readGolden({ file, files, into }: ExpectationSource, { key, value }: Entry): void {
  const path = files.pathAt(file, value, "may be missing");
  if (path !== null) into.push({ kind: "golden", place: file.page.placeOf(key), file: path });
}
