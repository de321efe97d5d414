import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import { forAll, runs } from "../../support/runs.ts";
import { anySettlement, histories, openWith, play } from "../chain/chain-moves.ts";
import { observableState, readBack, reload } from "./read-back.ts";

describe("for any history", () => {
  it("the document is read back to a state with the same hash, document, books, lists and chain", () => {
    forAll(runs(600), [anySettlement, histories(80)], (config, moves) => {
      const exchange = openWith(config);
      play(exchange, moves);
      const { state } = exchange;
      const read = readBack(state);
      expect(contentHash(read)).toBe(contentHash(state));
      expect([...documentLines(read)]).toEqual([...documentLines(state)]);
      expect(observableState(read)).toEqual(observableState(state));
      expect(violations(read)).toEqual([]);
    });
  });

  it("a state is read back after any command, also within a block, and continues like the original", () => {
    forAll(runs(600), [anySettlement, histories(60), fc.nat({ max: 1000 })], (config, moves, stop) => {
      const [one, two] = [openWith(config), openWith(config)];
      const happened = play(one, moves);
      const at = 1 + (stop % Math.max(1, happened.length));
      let commands = 0;
      two.watch(() => {
        commands += 1;
        if (commands === at) reload(two);
      });
      expect(play(two, moves)).toEqual(happened);
      expect(contentHash(two.state)).toBe(contentHash(one.state));
      expect(observableState(two.state)).toEqual(observableState(one.state));
      expect(violations(two.state)).toEqual([]);
    });
  });
});
