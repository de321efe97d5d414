import { describe, expect, it } from "vitest";
import { BID, lastStep, ofSteps, ofTwoMarkets } from "./scenario-texts.ts";

const FAILURE = { fault: "fail", probability: 1_000_000, times: 1, blocks: 0, baseFee: 0, reason: null };
const DELAY = { ...FAILURE, fault: "delay", blocks: 1 };
const SPIKE = { ...FAILURE, fault: "gasSpike", times: null, baseFee: 500_000_000_000 };

describe("a step of the chain", () => {
  it.each([
    ["alice: split 10", { kind: "split", account: "alice", change: { kind: "split", size: 1000 } }],
    ["alice: merge 0.25", { kind: "merge", change: { kind: "merge", size: 25 } }],
    ["bob: redeem", { kind: "redeem", account: "bob", change: { kind: "redeem" } }],
    ["alice: split 1 in market", { market: null }],
    ["mine: 2", { kind: "mine", blocks: 2 }],
    ["reorg: 1", { kind: "reorg", depth: 1, rejects: null }],
    ["bump: fees", { kind: "bump" }],
  ])("%s", (step, expected) => {
    expect(lastStep(ofSteps(step))).toMatchObject({ ...expected, text: step, number: 1 });
  });

  it.each([
    ["alice: split 10 in snow", { market: "snow", change: { size: 1000 } }],
    ["alice: merge 10 in rain", { market: "rain" }],
    ["alice: redeem in rain", { market: "rain" }],
  ])("%s names one of several markets", (step, expected) => {
    expect(lastStep(ofTwoMarkets(step))).toMatchObject(expected);
  });

  it.each(["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"])("may be rejected with %s", (code) => {
    const step = `{ alice: split 10, rejects: ${code} }`;
    expect(lastStep(ofSteps(step))).toMatchObject({
      rejects: { value: code, place: { line: 4, column: 33 } },
    });
  });

  it("may say that a reorganization is refused", () => {
    expect(lastStep(ofSteps("{ reorg: 3, rejects: INVALID_PARAMETER }"))).toMatchObject({
      depth: 3,
      rejects: { value: "INVALID_PARAMETER" },
    });
  });
});

describe("a fault", () => {
  it.each([
    ["next", { ...FAILURE }],
    ["next 3", { ...FAILURE, times: 3 }],
    ["all", { ...FAILURE, times: null }],
    ["20%", { ...FAILURE, times: null, probability: 200_000 }],
    ["0.0001%", { ...FAILURE, times: null, probability: 1 }],
    ["100%", { ...FAILURE, times: null }],
    ["never", null],
  ])("fails settlements: %s", (often, fault) => {
    expect(lastStep(ofSteps(`fail settlement: ${often}`))).toMatchObject({ kind: "failSettlement", fault });
  });

  it("fails them for a reason", () => {
    const step = "{ fail settlement: next 2, reason: the relayer is down }";
    expect(lastStep(ofSteps(step))).toMatchObject({
      text: "fail settlement: next 2",
      fault: { ...FAILURE, times: 2, reason: "the relayer is down" },
    });
  });

  it.each([
    ["{ kind: fail }", FAILURE],
    [
      "{ kind: fail, times: 2, probability: 0.5, reason: no }",
      { ...FAILURE, times: 2, probability: 500_000, reason: "no" },
    ],
    ["{ kind: retry, times: 2 }", { ...FAILURE, fault: "retry", times: 2 }],
    ["{ kind: delay }", DELAY],
    ["{ kind: delay, blocks: 3, probability: 1 }", { ...DELAY, blocks: 3, times: null }],
    ["{ kind: ghost }", { ...FAILURE, fault: "ghost" }],
    ["{ kind: gas-spike }", SPIKE],
    ["{ kind: gas-spike, baseFeeGwei: 100.5 }", { ...SPIKE, baseFee: 100_500_000_000 }],
    ["none", null],
  ])("of any kind is what POST /sim/chain/faults takes: %s", (value, fault) => {
    expect(lastStep(ofSteps(`chain fault: ${value}`))).toMatchObject({ kind: "chainFault", fault });
  });
});

it.each([
  ["{ kind: retry, of: bid }", "bid"],
  ["{ kind: retry, of: next order }", "next order"],
  ["{ kind: retry }", null],
])("a fault of one order names it: %s", (value, of) => {
  expect(lastStep(ofSteps(BID, `chain fault: ${value}`))).toMatchObject({ kind: "chainFault", of });
});

describe("an expectation of the chain", () => {
  const expected = (value: string, text = ofSteps): unknown[] => {
    const step = lastStep(text(BID, `expect: { chain: ${value} }`));
    return step.kind === "expect" ? step.expectations.map(({ place: _, ...rest }) => rest) : [];
  };
  const ofBoth = (...steps: string[]): string => ofTwoMarkets(...steps.slice(1));

  it("has the numbers that it names", () => {
    expect(expected("{ head: 3, confirmed: 1, pending: 0 }")).toEqual([
      { kind: "chain", part: "head", count: 3 },
      { kind: "chain", part: "confirmed", count: 1 },
      { kind: "chain", part: "pending", count: 0 },
    ]);
  });

  it.each([
    ["100", [{ market: null, outcome: null, size: 10_000 }]],
    ["{ market: 1.25 }", [{ market: null, outcome: null, size: 125 }]],
    [
      "{ YES: 60, NO: 100 }",
      [
        { market: null, outcome: "YES", size: 6000 },
        { market: null, outcome: "NO", size: 10_000 },
      ],
    ],
  ])("has how many shares there are: %s", (supply, sizes) => {
    expect(expected(`{ supply: ${supply} }`)).toEqual(sizes.map((size) => ({ kind: "supply", ...size })));
  });

  it("has how many shares there are of each of several markets", () => {
    expect(expected("{ supply: { rain: 1, snow NO: 2 } }", ofBoth)).toEqual([
      { kind: "supply", market: "rain", outcome: null, size: 100 },
      { kind: "supply", market: "snow", outcome: "NO", size: 200 },
    ]);
  });

  it("has how far an order's fills are settled, one by one or all alike", () => {
    expect(expected("{ settled: { bid: [MINED, FAILED] } }")).toEqual([
      { kind: "settled", name: "bid", statuses: ["MINED", "FAILED"] },
    ]);
    expect(expected("{ settled: { bid: RETRYING } }")).toMatchObject([{ statuses: "RETRYING" }]);
    expect(expected("{ settled: { bid: [] } }")).toMatchObject([{ statuses: [] }]);
  });

  it("stands at the key that names what it is about", () => {
    const step = lastStep(
      ofSteps(BID, "expect: { chain: { head: 3, supply: { YES: 1 }, settled: { bid: [] } } }"),
    );
    const places = step.kind === "expect" ? step.expectations.map(({ place }) => place.column) : [];
    expect(places).toEqual([24, 43, 64]);
  });
});
