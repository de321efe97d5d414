import { describe, expect, it } from "vitest";
import { openFloor } from "../../support/exchange.ts";

describe("the two books of an independent market", () => {
  it("have each a sequence, a last price and a history of its own", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send("alice SELL 10 NO @ 0.3", "bob BUY 4 NO @ 0.3");
    const [yes, no] = floor.state.markets.get(1).books;
    expect(yes).toMatchObject({ sequence: 0, last: null });
    expect(no).toMatchObject({ sequence: 2, last: { price: 3000, side: "BUY" } });
    expect([yes.history.size, no?.history.size]).toEqual([0, 1]);
  });

  it("trade existing shares only: the supply stays", () => {
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

  it("count towards the volume both, towards the liquidity YES alone", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send(
      "alice BUY 10 YES @ 0.3",
      "bob BUY 5 NO @ 0.8",
      "carol SELL 1 YES @ 0.3",
      "carol SELL 1 NO @ 0.8",
    );
    expect(floor.figures()).toEqual({ liquidity: 2_700_000n, volume: 1_100_000n });
  });

  it("are both emptied when the market closes, in order of arrival", () => {
    const floor = openFloor({ matching: "independent" });
    floor.send(
      "alice BUY 1 NO @ 0.3",
      "bob BUY 1 YES @ 0.8",
      "carol SELL 1 NO @ 0.9",
      "alice BUY 1 YES @ 0.8",
    );
    floor.demand({ kind: "closeMarket", market: 1 });
    const canceled = floor.events.flatMap((event) => (event.kind === "orderCanceled" ? [event.order] : []));
    expect(canceled).toEqual([1, 2, 3, 4]);
  });
});
