import { ByteCursor } from "../bytes/byte-cursor.ts";
import type { State } from "../state.ts";
import { DocumentError } from "./document-error.ts";
import { type PartReader, Parts } from "./parts.ts";
import { rebuildState } from "./rebuild-state.ts";
import { Records } from "./records.ts";

const LINE_FEED = 10;

/** What a document was read to. */
export interface ParsedDocument {
  readonly state: State;
  /** The fields that are none of the document's own: what somebody has wrapped it with. */
  readonly others: ReadonlyMap<string, unknown>;
}

/**
 * The state that a document was written from. It may be printed in any way and its fields stand in any order, and there
 * may be other fields beside them; quickest, and never held twice, is one that has a line for each record, as
 * `documentLines` yields it, with or without braces around all of it.
 * @param pieces the bytes, in pieces each of which ends with a line feed but the last, which may not.
 * @param decode the text of some bytes.
 * @throws DocumentError that names the line and the place, where it is no state of any exchange.
 */
export function parseDocument(
  pieces: Iterable<Uint8Array>,
  decode: (bytes: Uint8Array) => string,
): ParsedDocument {
  const records = new Records();
  const parts = new Parts(records);
  let last = "";
  for (const piece of pieces) {
    const cursor = new ByteCursor(piece);
    let start = 0;
    for (let feed = piece.indexOf(LINE_FEED); feed >= 0; feed = piece.indexOf(LINE_FEED, start)) {
      if (!parts.takeBytes(cursor, start, feed)) parts.take(decode(piece.subarray(start, feed)));
      start = feed + 1;
    }
    last = decode(piece.subarray(start));
  }
  parts.take(last);
  parts.end();
  return endOf(records);
}

/** The same of a document that has been parsed already. @throws DocumentError where it is no state of any exchange. */
export function readDocument(document: unknown): ParsedDocument {
  const records = new Records();
  tellParts(document, records);
  return endOf(records);
}

function endOf(records: Records): ParsedDocument {
  records.end();
  return { state: rebuildState(records), others: records.others };
}

/** Tells what is in an object that has been read already. @throws DocumentError when it is none. */
function tellParts(document: unknown, reader: PartReader): void {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new DocumentError({ section: "", index: null, line: null }, "", "a JSON object", document);
  }
  for (const [name, value] of Object.entries(document)) {
    if (!Array.isArray(value)) {
      reader.field(name, value, null);
      continue;
    }
    reader.list(name, null);
    for (const [index, item] of value.entries()) reader.item(name, index, item, null);
  }
}
