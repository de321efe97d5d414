import { describe, expect, it } from "vitest";
import { takeTurns, turns } from "./turns.ts";

describe("turns", () => {
  it("go round, another subject beginning each time", () => {
    const order = [...turns(3, { rounds: 3, warmUps: 0 })].map(({ index }) => index);
    expect(order).toEqual([0, 1, 2, 1, 2, 0, 2, 0, 1]);
  });

  it("count only after the warm-up rounds", () => {
    const counts = [...turns(2, { rounds: 1, warmUps: 2 })].map((turn) => turn.counts);
    expect(counts).toEqual([false, false, false, false, true, true]);
  });
});

describe("takeTurns", () => {
  it("begins a turn only when the one before it is over", async () => {
    const log: string[] = [];
    const subject = (name: string) => async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      return 1;
    };
    await takeTurns([subject("a"), subject("b")], { rounds: 1, warmUps: 0 });
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  it("answers the figures of each subject, without the warm-up", async () => {
    const counting = (from: number) => {
      let next = from;
      return async () => next++;
    };
    const samples = await takeTurns([counting(0), counting(10)], { rounds: 2, warmUps: 1 });
    expect(samples).toEqual([
      [1, 2],
      [11, 12],
    ]);
  });
});
