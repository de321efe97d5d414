import { describe, expect, it } from "vitest";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { AUTO } from "../../support/config.ts";
import { type Floor, recordOf, refusalOf, type SessionOptions } from "./floor.ts";
import { failureOf } from "./run-text.ts";

const INSTANT = { settlement: { settlement: "instant", balances: "optimistic" } } as const;
const BY_TIME = { settlement: AUTO } as const;

/** A market, and two who can trade in it. */
function prepared(floor: Floor): void {
  floor.market("rain");
  for (const name of ["alice", "bob"]) floor.derive(name);
}

/** Alice and bob trade one share. */
function trade(floor: Floor): void {
  floor.send("alice BUY 1 YES @ 0.5");
  floor.send("bob SELL 1 YES @ 0.5");
}

const tradedBefore = (floor: Floor): void => {
  prepared(floor);
  trade(floor);
};

/** The file of a session that passes in this process. */
async function told(
  act: (floor: Floor) => void,
  options: SessionOptions = {},
  before: (floor: Floor) => void = prepared,
): Promise<string> {
  const { scenario } = recordOf(before, act, options);
  expect(await failureOf(scenario)).toBeNull();
  return scenario;
}

/** Its steps of the session, each in a line, but for orders and the expectations at the end. */
const chainSteps = (scenario: string): string[] =>
  scenario
    .slice(scenario.indexOf("# The session."))
    .split("\n")
    .filter((line) => /^ {2}- (?!expect|wallet-\d+: (?:BUY|SELL))/.test(line) || /^ {4}reason/.test(line))
    .map((line) => line.trim().replace(/^- /, ""));

/** What is done on the chain, and what of it is told. */
interface Told {
  readonly act: (floor: Floor) => void;
  readonly options?: SessionOptions;
  readonly before?: (floor: Floor) => void;
  /** The steps, but for orders. */
  readonly steps?: readonly string[];
  /** What the file has somewhere. */
  readonly says?: readonly (string | RegExp)[];
  readonly isRunOverHttp?: boolean;
}

const rows = (cases: Readonly<Record<string, Told>>) =>
  it.each(Object.entries(cases))("%s", async (_what, row) => {
    const { act, options, before, steps, says = [], isRunOverHttp = false } = row;
    const scenario = await told(act, options, before);
    if (steps !== undefined) expect(chainSteps(scenario)).toEqual(steps);
    for (const text of says) expect(scenario).toMatch(text);
    if (isRunOverHttp) expect(await failureOf(scenario, "http")).toBeNull();
  });

it("the header says how blocks are mined and what can be spent, unless a scenario has it so anyway", async () => {
  expect(await told(trade, INSTANT)).not.toMatch(/^(?:settlement|balances): /m);
  const settled = { settlement: { settlement: "auto", balances: "settled" } } as const;
  expect(await told(trade, settled)).toContain("\nsettlement: auto\nbalances: settled\n");
});

describe("blocks", () => {
  rows({
    "that time mines come by the time of the steps, and all of them are told at the end": {
      options: BY_TIME,
      act: (floor) => {
        floor.advance("300ms");
        trade(floor);
        floor.advance("1s");
        trade(floor);
        floor.advance("10s");
        floor.send("alice BUY 1 YES @ 0.4");
      },
      steps: ["at: 2026-01-01T00:00:00.300Z", "at: 2026-01-01T00:00:11.300Z"],
      says: ["settled: { order-1: CONFIRMED, order-3: CONFIRMED }"],
    },
    "that were mined when nothing came after them are waited for": {
      options: BY_TIME,
      act: (floor) => {
        trade(floor);
        floor.advance("2s");
      },
      steps: ["at: 2026-01-01T00:00:02Z"],
      says: ["settled: { order-1: MINED }"],
    },
    "that somebody asked for are steps": {
      act: (floor) => {
        trade(floor);
        floor.mine();
        trade(floor);
        floor.mine(2);
        trade(floor);
      },
      steps: ["mine: 1", "mine: 2"],
      says: ["settled: { order-1: CONFIRMED, order-3: MINED, order-5: MATCHED }"],
    },
    "that what was pending before asked for are mined by a step": {
      options: BY_TIME,
      before: (floor) => {
        tradedBefore(floor);
        floor.advance("1s");
      },
      act: (floor) => {
        floor.advance("500ms");
        trade(floor);
        floor.advance("1s");
      },
      steps: ["at: 2026-01-01T00:00:01.500Z", "at: 2026-01-01T00:00:02Z", "mine: 1"],
    },
    "are replaced by a step, of which there are some": {
      before: (floor) => {
        prepared(floor);
        floor.mine(7);
      },
      act: (floor) => {
        trade(floor);
        floor.mine();
        floor.demand({ kind: "reorganizeChain", depth: 2 });
      },
      steps: ["mine: 1", "reorg: 2"],
      says: [
        "steps:\n  # What rests from the start, oldest first.\n  - mine: 2\n",
        "settled: { order-1: MATCHED }",
      ],
    },
  });
});

const FAIL_NEXT = "chain fault: { kind: fail, of: next order }";

describe("a fault", () => {
  rows({
    "that fails settlements is told of each order that it hit, which gets a name": {
      act: (floor) => {
        floor.fault({ kind: "fail", reason: "the relayer: asleep" });
        floor.fault({ kind: "fail", times: 2 });
        for (let count = 0; count < 4; count += 1) trade(floor);
        floor.mine();
      },
      steps: [
        'chain fault: { kind: fail, reason: "the relayer: asleep", of: next order }',
        FAIL_NEXT,
        FAIL_NEXT,
        "mine: 1",
      ],
      says: [/settled:(?:\s+order-[1-6]: FAILED){6}\s+order-7: MINED/],
    },
    "of another kind is told so, too; what hit nothing is left out, and a spike ends as it did": {
      act: (floor) => {
        floor.fault({ kind: "delay", blocks: 3 });
        floor.fault({ kind: "retry", times: 2 });
        floor.fault({ kind: "ghost" });
        for (let count = 0; count < 4; count += 1) trade(floor);
        floor.mine(2);
        floor.fault({ kind: "fail", probability: 1 });
        floor.demand({ kind: "endSettlementFault", number: 4 });
        floor.fault({ kind: "gas-spike", baseFeeGwei: 250 });
        floor.mine();
        floor.demand({ kind: "bumpFees" });
        floor.mine();
        floor.demand({ kind: "endSettlementFault", number: null });
      },
      steps: [
        "chain fault: { kind: delay, blocks: 3, of: next order }",
        "chain fault: { kind: retry, of: next order }",
        "chain fault: { kind: retry, of: next order }",
        "chain fault: { kind: ghost, of: next order }",
        "mine: 2",
        "chain fault: { kind: gas-spike, baseFeeGwei: 250 }",
        "mine: 1",
        "bump: fees",
        "mine: 1",
        "chain fault: none",
      ],
    },
    "that failed at once fails at once": {
      options: INSTANT,
      act: (floor) => {
        trade(floor);
        floor.fault({ kind: "fail" });
        trade(floor);
      },
      steps: [FAIL_NEXT],
      says: ["settled: { order-3: FAILED, order-4: FAILED }"],
    },
    "of what a block has had before is set behind that block": {
      act: (floor) => {
        trade(floor);
        trade(floor);
        floor.mine();
        floor.fault({ kind: "fail" });
        floor.demand({ kind: "reorganizeChain", depth: 1 });
        floor.mine();
      },
      steps: ["mine: 1", "chain fault: { kind: fail, of: order-2 }", "reorg: 1", "mine: 1"],
      isRunOverHttp: true,
    },
    "goes on behind the end of a spike": {
      act: (floor) => {
        floor.fault({ kind: "fail" });
        trade(floor);
        floor.fault({ kind: "gas-spike" });
        floor.mine();
        floor.demand({ kind: "endSettlementFault", number: 2 });
        floor.mine();
      },
      steps: [
        FAIL_NEXT,
        "chain fault: { kind: gas-spike, baseFeeGwei: 500 }",
        "mine: 1",
        "chain fault: none",
        "chain fault: { kind: fail, of: order-2 }",
        "mine: 1",
      ],
    },
    "is told so, too, when it also hit what was there before": {
      before: tradedBefore,
      act: (floor) => {
        floor.fault({ kind: "retry", times: 2 });
        trade(floor);
        floor.mine();
      },
      steps: ["chain fault: { kind: retry, of: next order }", "mine: 1"],
    },
  });

  it("with a chance is told by what it hit", async () => {
    const failing = new Set<string>();
    const scenario = await told((floor) => {
      floor.fault({ kind: "fail", probability: 0.5 });
      for (let count = 0; count < 5; count += 1) trade(floor);
      floor.advance("1m");
      for (let count = 0; count < 5; count += 1) trade(floor);
      floor.advance("1m");
      for (const { taker, transaction } of floor.state.trades) {
        const { status } = floor.state.chain.transactions.get(transaction);
        if (status === "REVERTED") failing.add(`order-${taker}: FAILED`);
      }
    }, BY_TIME);
    expect(failing.size).toBeGreaterThan(2);
    expect(failing.size).toBeLessThan(8);
    for (const words of failing) expect(scenario).toContain(words);
    const faults = chainSteps(scenario).filter((step) => !step.startsWith("at: "));
    expect(faults).toEqual(Array(failing.size).fill(FAIL_NEXT));
    expect(await failureOf(scenario, "http")).toBeNull();
  });
});

const half = { kind: "split", size: size(500) } as const;

describe("a wallet's own transaction", () => {
  rows({
    "is a step when it changes full sets": {
      act: (floor) => {
        floor.call("alice", half);
        floor.mine();
        floor.call("alice", { kind: "merge", size: size(200) });
        floor.mine();
        floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
        floor.mine();
        floor.call("alice", { kind: "redeem" });
        floor.mine();
        floor.call("bob", half);
      },
      steps: [
        "wallet-1: split 5",
        "mine: 1",
        "wallet-1: merge 2",
        "mine: 1",
        "resolve: YES",
        "mine: 1",
        "wallet-1: redeem",
        "mine: 1",
        "wallet-2: split 5",
      ],
      says: ["wallet-1: { USDC: 110, YES: 0, NO: 0 }"],
    },
    "comes when those before its nonce have come": {
      act: (floor) => {
        floor.call("alice", { kind: "merge", size: size(100) }, 1);
        floor.mine();
        floor.send("bob BUY 1 YES @ 0.1");
        floor.call("alice", half, 0);
        floor.mine();
      },
      steps: ["mine: 1", "wallet-2: split 5", "wallet-2: merge 1", "mine: 1"],
    },
    "is left out when it changed no balance, and the file says how many there were": {
      act: (floor) => {
        floor.call("alice", { kind: "approve", spender: CONTRACTS.exchange, amount: "5" });
        floor.call("alice", { kind: "merge", size: size(99_999) });
        floor.demand({ kind: "setNativeBalance", address: addressOf("bob"), wei: "7" });
        floor.mine();
      },
      steps: ["mine: 1"],
      says: ["# Left out: wallets acted on the chain without changing a balance, 3 times.\n"],
    },
    "that kept the exchange from settling is told by what failed": {
      act: (floor) => {
        floor.call("alice", { kind: "approve", spender: CONTRACTS.exchange, amount: "5" });
        floor.mine();
        trade(floor);
        floor.mine();
      },
      says: [/kind: fail\n +reason: "?ERC20: transfer amount exceeds allowance .*\n +of: next order/],
    },
  });
});

describe("what no step can say is refused in a sentence", () => {
  it.each<[string, (floor: Floor) => void, (floor: Floor) => void, string | RegExp]>([
    [
      "a transfer, with its place",
      prepared,
      (floor) => floor.call("alice", { kind: "transfer", to: addressOf("bob"), amount: "1000" }),
      `sequence 5 is a transaction (transfer) that the wallet ${addressOf("alice")} sent on the chain, and no step of a scenario can express it; all later balances depend on it`,
    ],
    [
      "the failure of a settlement that was pending before",
      tradedBefore,
      (floor) => floor.fault({ kind: "fail" }),
      /^a settlement from before the session failed in it \(sequence \d+\)/,
    ],
    [
      "a redemption that was sent before the report was mined",
      prepared,
      (floor) => {
        floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "NO" });
        floor.call("alice", { kind: "redeem" });
      },
      /^no step can repeat sequence 6 of the session \(wallet-1: redeem\): .*TRANSACTION_REVERTED/,
    ],
  ])("%s", (_what, before, act, refusal) => {
    const said = refusalOf(before, (floor) => {
      act(floor);
      floor.mine();
    });
    expect(said).toMatch(refusal);
  });
});
