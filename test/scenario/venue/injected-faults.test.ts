import { describe, expect, it } from "vitest";
import { ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

/** Runs a scenario over HTTP that must pass. */
const passes = async (steps: string) => {
  const result = await folder.run(
    `scenario: faults\naccounts: { alice: { USDC: 100 }, bob: { YES: 100 } }\nsteps:\n${steps}`,
    { via: "auto" },
  );
  expect(result.failure).toBeNull();
  expect(result.way).toBe("http");
  return result;
};

describe("a fault in a scenario", () => {
  it("makes the given number of requests fail, then no more", async () => {
    await passes(`  - fault: { route: POST /order, status: 503, times: 2 }
  - alice: BUY 10 YES @ 0.5
    rejects: UNAVAILABLE
  - alice: BUY 10 YES @ 0.5
    rejects: UNAVAILABLE
  - alice: BUY 10 YES @ 0.5 as bid
    status: LIVE 0/10
`);
  });

  it("fails a step that does not expect it", async () => {
    const { failure } = await folder.run(
      `scenario: unforeseen
accounts: { alice: { USDC: 100 } }
steps:
  - fault: { route: POST /order, status: 429, times: 1 }
  - alice: BUY 10 YES @ 0.5
`,
      { via: "http" },
    );
    expect(failure?.place.line).toBe(5);
    expect(failure?.message).toMatch(/^refused: RATE_LIMITED: /);
  });

  it("has no effect if the connection was lost before the request", async () => {
    await passes(`  - fault: { route: POST /order, drop: connection, times: 1 }
  - alice: BUY 10 YES @ 0.5
    rejects: CONNECTION_LOST
  - expect: { book: { YES: { bids: [] } }, balances: { alice: { USDC: { reserved: 0 } } } }
`);
  });

  it("has its effects if only the reply was lost", async () => {
    await passes(`  - fault: { route: POST /order, drop: reply, times: 1 }
  - alice: BUY 10 YES @ 0.5
    rejects: CONNECTION_LOST
  - expect:
      book: { YES: { bids: [0.5 x 10 (1)] } }
      balances: { alice: { USDC: { balance: 100, reserved: 5 } } }
  - bob: SELL 10 YES @ 0.5
  - expect: { book: { YES: { bids: [] } }, balances: { alice: { YES: 10 }, bob: { USDC: 5 } } }
`);
  });

  it("cancels the order although the reply of the cancel is lost", async () => {
    await passes(`  - alice: BUY 10 YES @ 0.5 as bid
  - fault: { route: DELETE /order, drop: reply, times: 1 }
  - alice: cancel bid
    rejects: CONNECTION_LOST
  - expect: { orders: { bid: CANCELED 0/10 USER } }
`);
  });

  it("applies to rows of a flow, and is counted as refused", async () => {
    folder.write(
      "met.csv",
      "at,account,op,ref,side,outcome,price,size,type\n0,alice,,,BUY,YES,0.5,1,\n0,alice,,,BUY,YES,0.5,2,\n",
    );
    await passes(`  - fault: { route: POST /order, status: 500, times: 1 }
  - replay: { file: met.csv, rejected: 1 }
  - expect: { book: { YES: { bids: [0.5 x 2 (1)] } } }
`);
  });
});
