import { type ParsedDocument, parseDocument } from "../../../src/core/rebuild-state.ts";
import type { State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { HistoryDigest } from "../../../src/engine/state-hash.ts";
import { indexesOf, portraitOf } from "../properties/portrait.ts";

/** The state that is read from what a state is written to. */
export const readBack = (state: State): State => parsed([...documentLines(state)].join("\n")).state;

/** What a text is read to that comes as bytes, a few lines at a time. */
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

/** Puts the state that is read from the exchange's own in its place. */
export function reload(exchange: Exchange): void {
  const { now, sequence } = exchange;
  const digest = HistoryDigest.of(exchange.state).text;
  exchange.restore({ state: readBack(exchange.state), now, sequence, digest, mark: null });
}

/**
 * All that can be seen of a state, with what leads to its records and the fills by token: all but where in memory an
 * order rests, and which balances were noted to await the next block, of which more may be noted than have to be.
 */
export const outlookOf = (state: State): unknown[] => [
  portraitOf(state).map((line) =>
    line.replace(/slot \d+/, "slot").replace(/"touched":\[[\d,]*\]/, '"touched"'),
  ),
  ...indexesOf(state),
  state.idPrefixes,
  state.expiries.first(),
  [...state.markets].map(({ books }) => books.map(({ book }) => book?.levels ?? null)),
];
