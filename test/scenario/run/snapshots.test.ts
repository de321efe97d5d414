import { describe, expect, it } from "vitest";
import { ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const WAYS = ["process", "http"] as const;

describe.each(WAYS)("a restored snapshot, %s", (via) => {
  /** Runs a scenario that must pass. */
  const passes = async (text: string) => {
    const result = await folder.run(text, { via });
    expect(result.failure?.message ?? null).toBeNull();
    return result;
  };

  it("restores books, balances, orders and the clock", async () => {
    const { transcript } = await passes(`scenario: all of it comes back
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - alice: BUY 10 YES @ 0.50 as bid
  - snapshot: before
  - advance: 1h
  - bob: SELL 4 YES @ 0.50
  - alice: cancel bid
  - restore: before
  - expect:
      orders: { bid: LIVE 0/10 }
      book: { YES: { bids: [0.50 x 10 (1)], asks: [] } }
      balances: { alice: { USDC: { balance: 100, reserved: 5 }, YES: 0 }, bob: { USDC: 0, YES: 100 } }
      quote: { YES: { last: none } }
      history: { YES: [] }
`);
    expect(transcript).toContain("   at 2026-01-01T00:00:00.000Z");
  });

  it("restores expiries, which happen again at their time", async () => {
    const { transcript } = await passes(`scenario: expiries come back
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.50 GTD +60s as bid
  - snapshot: before
  - advance: 2m
  - restore: before
  - at: expiry of bid - 1ms
  - expect: { orders: { bid: LIVE 0/10 } }
  - advance: 1ms
  - expect: { orders: { bid: EXPIRED 0/10 } }
`);
    const expired = transcript.filter((line) => line.includes(" expired at "));
    expect(expired).toEqual(Array(2).fill("   bid expired at 2026-01-01T00:01:00.000Z"));
  });

  it("removes the names of later orders", async () => {
    const { failure } = await folder.run(
      `scenario: names go back
accounts: { alice: { USDC: 100 } }
steps:
  - snapshot: before
  - alice: BUY 10 YES @ 0.50 as bid
  - restore: before
  - expect: { orders: { bid: LIVE 0/10 } }
`,
      { via },
    );
    expect(failure?.message).toMatch(/^order bid was never placed/);
  });

  it("restores the number of trades", async () => {
    await passes(`scenario: trades are counted from the snapshot on
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 50 YES @ 0.50
  - alice: BUY 1 YES @ 0.50
  - snapshot: before
  - expect: { trades: [alice BUY 1 YES @ 0.50 from bob] }
  - alice: BUY 2 YES @ 0.50
  - expect: { trades: [alice BUY 2 YES @ 0.50 from bob] }
  - restore: before
  - alice: BUY 3 YES @ 0.50
  - expect:
      trades: [alice BUY 1 YES @ 0.50 from bob, alice BUY 3 YES @ 0.50 from bob]
`);
  });

  it("restores ids and the number of orders: the same steps give the same state", async () => {
    const steps = `  - bob: SELL 50 YES @ 0.50 as ask
  - alice: BUY 1 YES @ 0.40
`;
    const head = "scenario: same ids\naccounts: { alice: { USDC: 100 }, bob: { YES: 100 } }\nsteps:\n";
    const plain = await passes(`${head}${steps}`);
    const other = "  - alice: BUY 7 YES @ 0.10\n  - advance: 1s\n";
    const restored = await passes(`${head}  - snapshot: before\n${other}  - restore: before\n${steps}`);
    expect(restored.stateHash).toBe(plain.stateHash);
  });

  it("can be restored several times, and any of several", async () => {
    await passes(`scenario: back and forth
accounts: { alice: { USDC: 100 } }
steps:
  - snapshot: empty
  - alice: BUY 1 YES @ 0.50
  - snapshot: one
  - alice: BUY 2 YES @ 0.50
  - restore: one
  - expect: { book: { YES: { bids: [0.50 x 1] } } }
  - restore: empty
  - expect: { book: { YES: { bids: [] } } }
  - restore: one
  - expect: { book: { YES: { bids: [0.50 x 1] } } }
  - alice: BUY 3 YES @ 0.50
  - restore: one
  - expect: { book: { YES: { bids: [0.50 x 1] } } }
`);
  });

  it("forgets later accounts", async () => {
    folder.write("passing.csv", "at,account,op,ref,side,outcome,price,size,type\n0,late,fund,,,USDC,,10,\n");
    const { transcript } = await passes(`scenario: passing by
steps:
  - snapshot: before
  - replay: passing.csv
  - restore: before
`);
    expect(transcript.filter((line) => line.includes("late"))).toEqual([]);
  });

  it("opens such accounts again when they come back", async () => {
    folder.write(
      "late.csv",
      "at,account,op,side,outcome,price,size\n0,late,fund,,USDC,,10\n0,late,,BUY,YES,0.5,20\n",
    );
    const { transcript } = await passes(`scenario: latecomers
steps:
  - snapshot: before
  - replay: late.csv
  - restore: before
  - advance: 1s
  - replay: late.csv
  - expect: { book: { YES: { bids: [0.5 x 20 (1)] } } }
`);
    expect(transcript).toContain("   late USDC 10 (10 reserved)");
  });
});
