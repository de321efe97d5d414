import { describe, expect, it } from "vitest";
import { openFloor } from "../../support/exchange.ts";

describe("the two books of an independent market", () => {
  it("have their own sequence, last price and history", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send("alice SELL 10 NO @ 0.3", "bob BUY 4 NO @ 0.3");
    const [yes, no] = floor.state.markets.get(1).books;
    expect(yes).toMatchObject({ sequence: 0, last: null });
    expect(no).toMatchObject({ sequence: 2, last: { price: 3000, side: "BUY" } });
    expect([yes.history.size, no?.history.size]).toEqual([0, 1]);
  });

  it("trade only existing shares, so that the supply does not change", () => {
    const floor = openFloor({ matching: "independent" });
    const before = floor.state.markets.get(1).supply;
    floor.send(
      "alice SELL 10 NO @ 0.3",
      "bob BUY 4 NO @ 0.3",
      "bob SELL 3 YES @ 0.2",
      "carol BUY 3 YES @ 0.2",
    );
    expect(floor.trades()).toEqual(["#2 x #1: 4 @ 0.3", "#4 x #3: 3 @ 0.2"]);
    expect(floor.state.markets.get(1).supply).toBe(before);
  });

  it("both count for the volume, only YES counts for the liquidity", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send(
      "alice BUY 10 YES @ 0.3",
      "bob BUY 5 NO @ 0.8",
      "carol SELL 1 YES @ 0.3",
      "carol SELL 1 NO @ 0.8",
    );
    expect(floor.figures()).toEqual({ liquidity: 2_700_000n, volume: 1_100_000n });
  });

  it("are both emptied when the market closes, oldest order first", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send(
      "alice BUY 1 NO @ 0.3",
      "bob BUY 1 YES @ 0.8",
      "carol SELL 1 NO @ 0.9",
      "alice BUY 1 YES @ 0.8",
    );
    floor.demand({ kind: "closeMarket", market: 1 });
    expect(floor.eventsOf("orderCanceled").map(({ order }) => order)).toEqual([1, 2, 3, 4]);
  });
});
