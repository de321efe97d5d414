import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { contentHash } from "../../../src/engine/state-hash.ts";
import { runs } from "../../support/runs.ts";
import { anySettlement, histories, openWith, play } from "../chain/chain-moves.ts";
import { outlookOf, readBack, reload } from "./told.ts";

describe("whatever has happened", () => {
  it("the document is read to a state with the same hash, document, books, lists and chain", () => {
    fc.assert(
      fc.property(anySettlement, histories(80), (config, moves) => {
        const exchange = openWith(config);
        play(exchange, moves);
        const { state } = exchange;
        const read = readBack(state);
        expect(contentHash(read)).toBe(contentHash(state));
        expect([...documentLines(read)]).toEqual([...documentLines(state)]);
        expect(outlookOf(read)).toEqual(outlookOf(state));
        expect(violations(read)).toEqual([]);
      }),
      runs(600),
    );
  });

  it("what is read goes on as what was written does, command by command", () => {
    fc.assert(
      fc.property(anySettlement, histories(60), histories(40), (config, before, after) => {
        const [one, two] = [openWith(config), openWith(config)];
        for (const exchange of [one, two]) play(exchange, before);
        reload(two);
        expect(play(two, after)).toEqual(play(one, after));
        expect(contentHash(two.state)).toBe(contentHash(one.state));
        expect(outlookOf(two.state)).toEqual(outlookOf(one.state));
        expect(violations(two.state)).toEqual([]);
      }),
      runs(600),
    );
  });

  it("a state is read after any command, in the middle of a block, too, and what follows is the same", () => {
    fc.assert(
      fc.property(anySettlement, histories(30), fc.nat({ max: 1000 }), (config, moves, stop) => {
        const [one, two] = [openWith(config), openWith(config)];
        const happened = play(one, moves);
        const at = 1 + (stop % Math.max(1, happened.length));
        let commands = 0;
        two.watch(() => {
          commands += 1;
          if (commands === at) reload(two);
        });
        expect(play(two, moves)).toEqual(happened);
        expect(outlookOf(two.state)).toEqual(outlookOf(one.state));
      }),
      runs(600),
    );
  });
});
