import { deepStrictEqual } from "node:assert/strict";
import { type ParsedDocument, parseDocument } from "../../../src/core/rebuild-state.ts";
import type { State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { contentHash, HistoryDigest } from "../../../src/engine/hashes.ts";
import { indexesOf, stateLines } from "../properties/state-lines.ts";

/** Writes a state as a document and reads it back. */
export const readBack = (state: State): State => parsed([...documentLines(state)].join("\n")).state;

/** Reads a document from bytes in pieces of a few lines. */
export function parsed(text: string): ParsedDocument {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const feed = bytes.indexOf("\n", from + 1_000);
    const end = feed < 0 ? bytes.length : feed + 1;
    pieces.push(bytes.subarray(from, end));
    from = end;
  }
  return parseDocument(pieces, (piece) => Buffer.from(piece).toString("utf8"));
}

/** Requires that two states have the same content. @throws AssertionError, with the name of the case */
export function requireEqual(found: State, expected: State, name?: string): void {
  deepStrictEqual(contentHash(found), contentHash(expected), name);
  deepStrictEqual(observableState(found), observableState(expected), name);
}

/** Replaces the state of an exchange by the one read back from its document. */
export function reload(exchange: Exchange): void {
  const { now, sequence } = exchange;
  const digest = HistoryDigest.of(exchange.state).text;
  exchange.restore({ state: readBack(exchange.state), now, sequence, digest, mark: null });
}

/**
 * Returns all data of a state except slots in memory, and except the list of pending balances, which may contain more
 * than necessary.
 */
export const observableState = (state: State): unknown[] => [
  stateLines(state).map((line) =>
    line.replace(/slot \d+/, "slot").replace(/"pendingBalances":\[[\d,]*\]/, '"pendingBalances"'),
  ),
  ...indexesOf(state),
  state.idPrefixes,
  state.expiries.first(),
  [...state.markets].map(({ books }) => books.map(({ book }) => book?.levels ?? null)),
];
