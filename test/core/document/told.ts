import fc from "fast-check";
import { type ParsedDocument, parseDocument } from "../../../src/core/rebuild-state.ts";
import type { ExchangeConfig, State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { HistoryDigest } from "../../../src/engine/state-hash.ts";
import { START } from "../../support/exchange.ts";
import { anySteeredMove, type ChainMove, chainCommandOf } from "../chain/chain-moves.ts";
import { type Move, openArena } from "../properties/moves.ts";
import { portraitOf } from "../properties/portrait.ts";

export type Moves = readonly (Move | ChainMove)[];

/** Any history of trading and of the chain. */
export const histories = (maxLength: number): fc.Arbitrary<Moves> =>
  fc.array(anySteeredMove, { maxLength, size: "max" });

/** An exchange with a market of every kind and four accounts that have a little. */
export const open = (config: ExchangeConfig): Exchange => openArena(new Exchange(config, START));

/** Makes the moves, and answers what happened, one line a command; `then` is called after each. */
export function play(exchange: Exchange, moves: Moves, then?: (commands: number) => void): string[] {
  const happened: string[] = [];
  const unwatch = exchange.watch((...command) => {
    happened.push(JSON.stringify(command));
    then?.(happened.length);
  });
  for (const move of moves) {
    const command = chainCommandOf(exchange.state, exchange.now, move);
    if (command !== null) exchange.submit(command);
    else if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
  }
  unwatch();
  return happened;
}

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
  [state.accountByAddress, state.tokenById, state.marketByConditionId].map((index) => [...index]),
  [state.eventBySlug, state.marketBySlug].map((index) => [...index]),
  state.idPrefixes,
  state.expiries.first(),
  [...state.markets].map(({ books }) => books.map(({ book }) => book?.levels ?? null)),
  [...state.accounts].map(({ holdings }) =>
    [...holdings]
      .sort(([a], [b]) => a - b)
      .map(([market, { yesFills, noFills }]) => [market, yesFills && [...yesFills], noFills && [...noFills]]),
  ),
];
