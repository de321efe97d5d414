import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DocumentError } from "../../src/core/document-error.ts";
import { violations } from "../../src/core/invariants.ts";
import { readDocument } from "../../src/core/rebuild-state.ts";
import type { State } from "../../src/core/state.ts";
import { millis } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { HistoryDigest } from "../../src/engine/hashes.ts";
import {
  anySettlement,
  arenaWith,
  histories,
  type Moves,
  openWith,
  play,
} from "../core/chain/chain-moves.ts";
import {
  at,
  changed,
  damagedText,
  type Json,
  jsonOrNull,
  kindOf,
  nameOf,
  otherValueThan,
  type Path,
  parsedOf,
  placesOf,
  removed,
  someOfEachKind,
  textOf,
  wrongTypeFor,
} from "../core/document/damaged-documents.ts";
import { parsed } from "../core/document/read-back.ts";
import { START } from "../support/exchange.ts";
import { runs } from "../support/runs.ts";

/** A time after all histories here. */
const LATER = millis(START + 100_000_000);
const AFTERWARDS = fc.sample(histories(25), { seed: 3, numRuns: 1 })[0] as Moves;

const played = (config: Parameters<typeof openWith>[0], moves: Moves): State => {
  const exchange = openWith(config);
  play(exchange, moves);
  return exchange.state;
};

/** Continues a history from a state. @throws Error if that fails */
function continueFrom(state: State): void {
  const exchange = new Exchange(state.config, START);
  exchange.restore({ state, now: LATER, sequence: 0, digest: HistoryDigest.of(state).text, mark: null });
  play(exchange, AFTERWARDS);
  expect(violations(exchange.state)).toEqual([]);
}

/** Returns the error of a refused document; null if it is read. @throws Error for another error, or if it is read differently */
function refusalOf(document: Json, read: () => State): DocumentError | null {
  try {
    const state = read();
    expect(parsedOf(textOf(state))).toEqual(document);
    expect(violations(state)).toEqual([]);
    continueFrom(state);
    return null;
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
}

const refused = (document: Json): DocumentError | null =>
  refusalOf(document, () => readDocument(document).state);
/** Changes the value at a path. */
const refusedWith = (document: Json, path: Path, change: (value: Json) => Json): DocumentError | null =>
  refused(
    changed(document, path, (parent, last) => {
      parent[last] = change(parent[last] as Json);
    }),
  );

/** Whether an error names a path, a part of it, or a path in it. */
const isAbout = ({ path }: DocumentError, place: string): boolean =>
  path.startsWith(place) || place.startsWith(path);

/** Returns the state of a history with as many kinds of fields as possible. */
function richState(): State {
  const sample = fc.sample(histories(300), { seed: 7, numRuns: 12 });
  const states = sample.map((moves) => played(arenaWith("auto", "optimistic"), moves));
  const richness = (state: State): number => new Set([...placesOf(parsedOf(textOf(state)))].map(kindOf)).size;
  return states.sort((a, b) => richness(b) - richness(a))[0] as State;
}

/** Fields that are absent until they are set. */
const OPTIONAL: ReadonlySet<string> = new Set([
  "waiting.mining",
  "waiting.nextBaseFee",
  "waiting.blockTerms",
]);

describe("a document with one damaged field", () => {
  const document = parsedOf(textOf(richState()));
  /** Each kind of path a few times. */
  const places = someOfEachKind([...placesOf(document)]);

  it("has every kind of path", () => {
    const found = new Set(places.map(kindOf));
    const rare = [
      ...["waiting.held", "waiting.faults.struck", "wallets.pending", "wallets.allowances"],
      ...["wallets.operators", "transactions.oddity.effect.moves.amount", "markets.books.last.side"],
      "transactions.content.call.indexSets",
    ];
    expect(rare.filter((kind) => !found.has(kind))).toEqual([]);
  });

  it("is refused with the path if a required field is missing", () => {
    for (const path of places) {
      if (typeof path.at(-1) === "number") continue;
      const name = nameOf(path);
      expect(refused(removed(document, path))?.path, name).toBe(OPTIONAL.has(name) ? undefined : name);
    }
  });

  it("is refused with the path if a value has another type", () => {
    for (const path of places) {
      const error = refusedWith(document, path, wrongTypeFor);
      expect(error, nameOf(path)).not.toBe(null);
      expect(isAbout(error as DocumentError, nameOf(path)), `${nameOf(path)}: ${error?.message}`).toBe(true);
    }
  });

  it("is refused or read exactly if a value is changed or an item is missing", () => {
    for (const path of places) {
      refusedWith(document, path, otherValueThan);
      if (typeof path.at(-1) === "number") refused(removed(document, path));
    }
  });
});

describe("any document", () => {
  it("of any history, with any change of any value, is refused or read exactly", () => {
    const how = fc.constantFrom("remove", "other", "stranger", "zero", "copy");
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(), how), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(anySettlement, histories(60), changes, (config, moves, all) => {
        const document = parsedOf(textOf(played(config, moves)));
        const places = [...placesOf(document)];
        for (const [pick, from, change] of all) {
          const path = places[pick % places.length] as Path;
          const copy = at(document, places[from % places.length] as Path);
          if (change === "remove") refused(removed(document, path));
          else if (change === "other") refusedWith(document, path, otherValueThan);
          else if (change === "stranger") refusedWith(document, path, wrongTypeFor);
          else refusedWith(document, path, () => (change === "zero" ? 0 : copy));
        }
      }),
      runs(200),
    );
  });

  it("with any damage to its text is refused or read exactly", () => {
    const damage = fc.tuple(fc.nat(), fc.nat(), fc.nat({ max: 5 }));
    const damages = fc.array(damage, { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(anySettlement, histories(40), damages, (config, moves, all) => {
        const text = textOf(played(config, moves));
        for (const one of all) {
          const damaged = damagedText(text, ...one);
          refusalOf(jsonOrNull(damaged), () => parsed(damaged).state);
        }
      }),
      runs(200),
    );
  });
});
