import { describe, expect, it } from "vitest";
import { BID, ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

type Wrong = readonly [title: string, text: string, ...problems: string[]];

const told = (_title: string, text: string, ...problems: string[]): void =>
  expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));

describe("steps of a wallet that", () => {
  it.each<Wrong>([
    [
      "split nothing",
      ofSteps("alice: split"),
      "4:17: expected a number of sets from 0.01 to 4000000000 with at most 2 decimals, found the end of the line",
    ],
    [
      "split no sets",
      ofSteps("alice: split 0"),
      '4:18: expected a number of sets from 0.01 to 4000000000 with at most 2 decimals, found "0"',
    ],
    [
      "merge too fine",
      ofSteps("alice: merge 0.001"),
      '4:18: expected a number of sets from 0.01 to 4000000000 with at most 2 decimals, found "0.001"',
    ],
    [
      "redeem an amount",
      ofSteps("alice: redeem 10"),
      '4:19: expected in MARKET or the end of the line, found "10" (did you mean in?)',
    ],
    [
      "split in no market where there are several",
      ofTwoMarkets("alice: split 10"),
      "5:20: expected the market to be named, for there are rain, snow",
    ],
    [
      "redeem in an unknown market",
      ofTwoMarkets("alice: redeem in rian"),
      '5:22: unknown market "rian" (did you mean rain?)',
    ],
    [
      "split in a mistyped in",
      ofSteps("alice: split 10 im market"),
      '4:21: expected in MARKET or the end of the line, found "im" (did you mean in?)',
    ],
    [
      "are rejected like an order",
      ofSteps("{ alice: split 10, rejects: INSUFFICIENT_BALANCE }"),
      '4:33: expected TRANSACTION_REVERTED or TRANSACTION_REFUSED, found "INSUFFICIENT_BALANCE"',
    ],
    [
      "are rejected with a mistyped code",
      ofSteps("{ alice: redeem, rejects: TRANSACTION_REVERTD }"),
      '4:31: expected TRANSACTION_REVERTED or TRANSACTION_REFUSED, found "TRANSACTION_REVERTD" (did you mean TRANSACTION_REVERTED?)',
    ],
    ["have a status", ofSteps("{ alice: split 10, status: LIVE 0/10 }"), '4:24: unknown key "status"'],
    [
      "mistype the verb",
      ofSteps("alice: splt 10"),
      '4:12: expected BUY, SELL, cancel, fund, split, merge or redeem, found "splt" (did you mean split?)',
    ],
  ])("%s is told where and why", told);
});

describe("steps of the chain that", () => {
  it.each<Wrong>([
    ["mine nothing", ofSteps("mine: 0"), '4:11: expected a number of blocks from 1 to 100000, found "0"'],
    [
      "mine half a block",
      ofSteps("mine: 1.5"),
      '4:11: expected a number of blocks from 1 to 100000, found "1.5"',
    ],
    ["mine for a time", ofSteps("{ mine: 1, rejects: INVALID_PARAMETER }"), '4:16: unknown key "rejects"'],
    [
      "reorganize nothing",
      ofSteps("reorg:"),
      "4:11: expected a number of blocks from 1 to 100000, found nothing",
    ],
    [
      "bump something else",
      ofSteps("bump: feees"),
      '4:11: expected fees, found "feees" (did you mean fees?)',
    ],
    [
      "mistype the key",
      ofSteps("fail settlment: next"),
      '4:5: unknown step or account "fail settlment" (did you mean fail settlement?)',
    ],
    [
      "fail who knows when",
      ofSteps("fail settlement: nxet"),
      '4:22: expected next, next 3, a share such as 20%, all or never, found "nxet" (did you mean next?)',
    ],
    [
      "fail more than all",
      ofSteps("fail settlement: 101%"),
      '4:22: expected a share from 0.0001 to 100 with at most 4 decimals, then %, found "101%"',
    ],
    [
      "fail a bare number",
      ofSteps("fail settlement: 3"),
      '4:22: expected next, next 3, a share such as 20%, all or never, found "3"',
    ],
    [
      "fail the next none",
      ofSteps("fail settlement: next 0"),
      '4:27: expected a number of settlements from 1 to 1000000000, found "0"',
    ],
    ["fail all of some", ofSteps("fail settlement: all 3"), '4:26: expected the end of the line, found "3"'],
    [
      "fail a share of some",
      ofSteps("fail settlement: 20% next"),
      '4:26: expected the end of the line, found "next"',
    ],
    [
      "never fail for a reason",
      ofSteps("{ fail settlement: never, reason: rain }"),
      "4:31: what never fails has no reason",
    ],
    [
      "fail for no reason",
      ofSteps('{ fail settlement: next, reason: "" }'),
      "4:38: expected a reason of 1 to 200 characters, found nothing",
    ],
    ["have a reason for something else", ofSteps("{ mine: 1, reason: rain }"), '4:16: unknown key "reason"'],
  ])("%s is told where and why", told);
});

describe("faults of the chain that", () => {
  it.each<Wrong>([
    [
      "are no mapping",
      ofSteps("chain fault: delay"),
      '4:18: expected { kind } and what belongs to it, or none, a mapping, found "delay"',
    ],
    ["have no kind", ofSteps("chain fault: { times: 1 }"), "4:18: expected the key kind, found none"],
    [
      "have an unknown kind",
      ofSteps("chain fault: { kind: gas }"),
      '4:26: expected fail, retry, delay, ghost or gas-spike, found "gas"',
    ],
    [
      "are a reorganization, which is a step of its own",
      ofSteps("chain fault: { kind: reorg, depth: 1 }"),
      "4:26: a reorganization is no fault but a step (reorg: 1)",
      '4:33: unknown key "depth"',
    ],
    [
      "have a key of another kind",
      ofSteps("chain fault: { kind: retry, blocks: 3 }"),
      "4:33: blocks means nothing of retry (beside kind it takes times, probability or of)",
    ],
    [
      "hit an order that there is not",
      ofSteps("chain fault: { kind: fail, of: bud }"),
      '4:36: unknown order "bud"',
    ],
    [
      "spike a few times",
      ofSteps("chain fault: { kind: gas-spike, times: 3 }"),
      "4:37: times means nothing of gas-spike (beside kind it takes baseFeeGwei)",
    ],
    [
      "mistype a key",
      ofSteps("chain fault: { kind: delay, block: 3 }"),
      '4:33: unknown key "block" (did you mean blocks?)',
    ],
    [
      "are more than certain",
      ofSteps("chain fault: { kind: ghost, probability: 1.1 }"),
      '4:46: expected a probability from 0 to 1 with at most 6 decimals, found "1.1"',
    ],
    [
      "delay by no blocks",
      ofSteps("chain fault: { kind: delay, blocks: 0 }"),
      '4:41: expected a number of blocks from 1 to 100000, found "0"',
    ],
    [
      "spike beyond all measure",
      ofSteps("chain fault: { kind: gas-spike, baseFeeGwei: 1000001 }"),
      '4:50: expected a fee in gwei from 0 to 1000000 with at most 6 decimals, found "1000001"',
    ],
  ])("%s is told where and why", told);
});

describe("expectations of the chain that", () => {
  it.each<Wrong>([
    [
      "are none",
      ofSteps("expect: { chain: {} }"),
      "4:22: expected what is true of the chain, found an empty mapping",
    ],
    ["are unknown", ofSteps("expect: { chain: { hed: 1 } }"), '4:24: unknown key "hed" (did you mean head?)'],
    [
      "are no number",
      ofSteps("expect: { chain: { head: 0x1 } }"),
      '4:30: expected a block\'s number from 0 to 1000000000, found "0x1"',
    ],
    [
      "count half a transaction",
      ofSteps("expect: { chain: { pending: 0.5 } }"),
      '4:33: expected a number of transactions from 0 to 1000000000, found "0.5"',
    ],
    [
      "have the supply of which market, where there are several",
      ofTwoMarkets("expect: { chain: { supply: 100 } }"),
      "5:32: expected the market to be named, for there are rain, snow",
    ],
    [
      "have the supply of an unknown market",
      ofTwoMarkets("expect: { chain: { supply: { rian: 100 } } }"),
      '5:34: unknown market or outcome "rian" (did you mean rain?)',
    ],
    [
      "have the supply of an unknown outcome",
      ofSteps("expect: { chain: { supply: { YSE: 100 } } }"),
      '4:34: unknown market or outcome "YSE" (did you mean YES?)',
    ],
    [
      "have the supply of an outcome of which market, where there are several",
      ofTwoMarkets("expect: { chain: { supply: { YES: 100 } } }"),
      "5:34: expected the market to be named, for there are rain, snow",
    ],
    [
      "have an endless supply",
      ofSteps("expect: { chain: { supply: much } }"),
      '4:32: expected a number of shares from 0 to 4000000000 with at most 2 decimals, found "much"',
    ],
    [
      "have the settlement of an unknown order",
      ofSteps(BID, "expect: { chain: { settled: { bit: [] } } }"),
      '5:35: unknown order "bit" (did you mean bid?)',
    ],
    [
      "have an unknown status",
      ofSteps(BID, "expect: { chain: { settled: { bid: [MINED, CONFIRMD] } } }"),
      '5:48: expected MATCHED, MINED, CONFIRMED, RETRYING or FAILED, found "CONFIRMD" (did you mean CONFIRMED?)',
    ],
    [
      "have a mapping for statuses",
      ofSteps(BID, "expect: { chain: { settled: { bid: {} } } }"),
      "5:40: expected a status, or a list of them, found a mapping",
    ],
  ])("%s is told where and why", told);
});

describe("words of the chain", () => {
  it.each(["mine", "bump", "reorg", "reason"])("cannot name an account: %s", (word) => {
    expect(problemsOf(`scenario: x\naccounts: { ${word}: {} }\nsteps: [advance: 1s]\n`)).toEqual([
      `x.yaml:2:13: ${word} is a word of the language and cannot name an account`,
    ]);
  });
});
