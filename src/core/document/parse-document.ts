import type { State } from "../state.ts";
import { linesOf, Parts, tellParts } from "./parts.ts";
import { rebuildState } from "./rebuild-state.ts";
import { Records } from "./records.ts";

/** What a document was read to. */
export interface ParsedDocument {
  readonly state: State;
  /** The fields that are none of the document's own: what somebody has wrapped it with. */
  readonly others: ReadonlyMap<string, unknown>;
}

/**
 * The state that a document was written from. It may be printed in any way and its fields stand in any order, and there
 * may be other fields beside them; quickest, and never held twice, is one that comes line by line as `documentLines`
 * yields it, with or without braces around all of it.
 * @param source the text, or its lines without line feeds.
 * @throws DocumentError that names the line and the place, where it is no state of any exchange.
 */
export function parseDocument(source: string | Iterable<string>): ParsedDocument {
  const records = new Records();
  const parts = new Parts(records);
  for (const line of typeof source === "string" ? linesOf(source) : source) parts.take(line);
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
