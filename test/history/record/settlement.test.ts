import { describe, expect, it } from "vitest";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { AUTO } from "../../support/config.ts";
import { failureOf } from "./run-text.ts";
import { recordOf, refusalOf, type SessionExchange, type SessionOptions } from "./session-exchange.ts";

const INSTANT = { settlement: { settlement: "instant", balances: "optimistic" } } as const;
const BY_TIME = { settlement: AUTO } as const;

/** A market and two traders. */
const PREPARED = "market rain; derive alice bob";

type Actions = string | ((exchange: SessionExchange) => void);

/** Records a session, and checks that its scenario passes. */
async function recorded(act: Actions, options: SessionOptions = {}, before = PREPARED): Promise<string> {
  const { scenario } = recordOf(before, act, options);
  expect(await failureOf(scenario)).toBeNull();
  return scenario;
}

/** Returns the steps of the session in a scenario, a line each, without orders and expectations. */
const chainSteps = (scenario: string): string[] =>
  scenario
    .slice(scenario.indexOf("# The session."))
    .split("\n")
    .filter((line) => /^ {2}- (?!expect|wallet-\d+: (?:BUY|SELL))/.test(line) || /^ {4}reason/.test(line))
    .map((line) => line.trim().replace(/^- /, ""));

/** A session on the chain, and expectations of its scenario. */
interface ChainCase {
  readonly act: Actions;
  readonly options?: SessionOptions;
  readonly before?: string;
  /** Steps without orders. */
  readonly steps?: readonly string[];
  /** Texts in the scenario. */
  readonly contains?: readonly (string | RegExp)[];
  readonly isRunOverHttp?: boolean;
}

const rows = (cases: Readonly<Record<string, ChainCase>>) =>
  it.each(Object.entries(cases))("%s", async (_case, row) => {
    const { act, options, before, steps, contains = [], isRunOverHttp = false } = row;
    const scenario = await recorded(act, options, before);
    if (steps !== undefined) expect(chainSteps(scenario)).toEqual(steps);
    for (const text of contains) expect(scenario).toMatch(text);
    if (isRunOverHttp) expect(await failureOf(scenario, "http")).toBeNull();
  });

it("the header has the settlement mode and the spendable balances, unless they are defaults", async () => {
  expect(await recorded("trade", INSTANT)).not.toMatch(/^(?:settlement|balances): /m);
  const settled = { settlement: { settlement: "auto", balances: "settled" } } as const;
  expect(await recorded("trade", settled)).toContain("\nsettlement: auto\nbalances: settled\n");
});

describe("blocks", () => {
  rows({
    "that time mines need no steps, and their settlements are expected at the end": {
      options: BY_TIME,
      act: "advance 300ms; trade; advance 1s; trade; advance 10s; alice BUY 1 YES @ 0.4",
      steps: ["at: 2026-01-01T00:00:00.300Z", "at: 2026-01-01T00:00:11.300Z"],
      contains: ["settled: { order-1: CONFIRMED, order-3: CONFIRMED }"],
    },
    "after the last command are waited for": {
      options: BY_TIME,
      act: "trade; advance 2s",
      steps: ["at: 2026-01-01T00:00:02Z"],
      contains: ["settled: { order-1: MINED }"],
    },
    "that were requested are steps": {
      act: "trade; mine; trade; mine 2; trade",
      steps: ["mine: 1", "mine: 2"],
      contains: ["settled: { order-1: CONFIRMED, order-3: MINED, order-5: MATCHED }"],
    },
    "caused by earlier transactions are mined by a step": {
      options: BY_TIME,
      before: `${PREPARED}; trade; advance 1s`,
      act: "advance 500ms; trade; advance 1s",
      steps: ["at: 2026-01-01T00:00:01.500Z", "at: 2026-01-01T00:00:02Z", "mine: 1"],
    },
    "exist from the start if a reorganization replaces them": {
      before: `${PREPARED}; mine 7`,
      act: "trade; mine; reorg 2",
      steps: ["mine: 1", "reorg: 2"],
      contains: [
        "steps:\n  # What rests from the start, oldest first.\n  - mine: 2\n",
        "settled: { order-1: MATCHED }",
      ],
    },
  });
});

const FAIL_NEXT = "chain fault: { kind: fail, of: next order }";

describe("a fault", () => {
  rows({
    "that fails settlements is set for each order that it hit, which gets a name": {
      act: 'fault fail reason="the relayer: asleep"; fault fail times=2; trade 4; mine',
      steps: [FAIL_NEXT.replace("of", 'reason: "the relayer: asleep", of'), FAIL_NEXT, FAIL_NEXT, "mine: 1"],
      contains: [/settled:(?:\s+order-[1-6]: FAILED){6}\s+order-7: MINED/],
    },
    "of another kind is, too; one without effect is left out, and a spike ends as in the session": {
      act: `fault delay blocks=3; fault retry times=2; fault ghost; trade 4; mine 2; fault fail probability=1; end 4;
        fault gas-spike baseFeeGwei=250; mine; bump; mine; end all`,
      steps: [
        "chain fault: { kind: delay, blocks: 3, of: next order }",
        ...["retry", "retry", "ghost"].map((kind) => FAIL_NEXT.replace("fail", kind)),
        "mine: 2",
        "chain fault: { kind: gas-spike, baseFeeGwei: 250 }",
        ...["mine: 1", "bump: fees", "mine: 1", "chain fault: none"],
      ],
    },
    "fails at once with instant settlement": {
      options: INSTANT,
      act: "trade; fault fail; trade",
      steps: [FAIL_NEXT],
      contains: ["settled: { order-3: FAILED, order-4: FAILED }"],
    },
    "of a settlement that an earlier block had is set after that block": {
      act: "trade 2; mine; fault fail; reorg 1; mine",
      steps: ["mine: 1", "chain fault: { kind: fail, of: order-2 }", "reorg: 1", "mine: 1"],
      isRunOverHttp: true,
    },
    "is set again after the end of a spike": {
      act: "fault fail; trade; fault gas-spike; mine; end 2; mine",
      steps: [
        FAIL_NEXT,
        "chain fault: { kind: gas-spike, baseFeeGwei: 500 }",
        ...["mine: 1", "chain fault: none", "chain fault: { kind: fail, of: order-2 }", "mine: 1"],
      ],
    },
    "is set for the session's orders if it also hit earlier ones": {
      before: `${PREPARED}; trade`,
      act: "fault retry times=2; trade; mine",
      steps: ["chain fault: { kind: retry, of: next order }", "mine: 1"],
    },
  });

  it("with a probability is set for the orders that it hit", async () => {
    const failing = new Set<string>();
    const scenario = await recorded((exchange) => {
      exchange.act("fault fail probability=0.5; trade 5; advance 1m; trade 5; advance 1m");
      for (const { taker, transaction } of exchange.state.trades) {
        const { status } = exchange.state.chain.transactions.get(transaction);
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
/** Leaves the exchange too small an allowance for a trade. */
const restrict = (exchange: SessionExchange): void =>
  exchange.call("alice", { kind: "approve", spender: CONTRACTS.exchange, amount: "5" });

describe("a wallet's own transaction", () => {
  rows({
    "is a step if it changes full sets": {
      act: (exchange) => {
        exchange.call("alice", half);
        exchange.act("mine");
        exchange.call("alice", { kind: "merge", size: size(200) });
        exchange.act("mine; resolve YES; mine");
        exchange.call("alice", { kind: "redeem" });
        exchange.act("mine");
        exchange.call("bob", half);
      },
      steps: [
        ...["wallet-1: split 5", "mine: 1", "wallet-1: merge 2", "mine: 1", "resolve: YES", "mine: 1"],
        ...["wallet-1: redeem", "mine: 1", "wallet-2: split 5"],
      ],
      contains: ["wallet-1: { USDC: 110, YES: 0, NO: 0 }"],
    },
    "comes after those with lower nonces": {
      act: (exchange) => {
        exchange.call("alice", { kind: "merge", size: size(100) }, 1);
        exchange.act("mine; bob BUY 1 YES @ 0.1");
        exchange.call("alice", half, 0);
        exchange.act("mine");
      },
      steps: ["mine: 1", "wallet-2: split 5", "wallet-2: merge 1", "mine: 1"],
    },
    "is left out if it changed no balance, and a remark has their number": {
      act: (exchange) => {
        restrict(exchange);
        exchange.call("alice", { kind: "merge", size: size(99_999) });
        exchange.mustSubmit({ kind: "setNativeBalance", address: addressOf("bob"), wei: "7" });
        exchange.act("mine");
      },
      steps: ["mine: 1"],
      contains: ["# Left out: wallets acted on the chain without changing a balance, 3 times.\n"],
    },
    "that made a settlement fail is recorded as a fault": {
      act: (exchange) => {
        restrict(exchange);
        exchange.act("mine; trade; mine");
      },
      contains: [/kind: fail\n +reason: "?ERC20: transfer amount exceeds allowance .*\n +of: next order/],
    },
  });
});

describe("a session that steps cannot express is refused with a sentence", () => {
  it.each<[string, string, (exchange: SessionExchange) => void, string | RegExp]>([
    [
      "a transfer, with its sequence",
      PREPARED,
      (exchange) => exchange.call("alice", { kind: "transfer", to: addressOf("bob"), amount: "1000" }),
      `sequence 5 is a transaction (transfer) that the wallet ${addressOf("alice")} sent on the chain, and no step of a scenario can express it; all later balances depend on it`,
    ],
    [
      "the failure of a settlement that was pending before",
      `${PREPARED}; trade`,
      (exchange) => void exchange.act("fault fail"),
      /^a settlement from before the session failed in it \(sequence \d+\)/,
    ],
    [
      "a redemption that was sent before the report was mined",
      PREPARED,
      (exchange) => {
        exchange.act("resolve NO");
        exchange.call("alice", { kind: "redeem" });
      },
      /^no step can repeat sequence 6 of the session \(wallet-1: redeem\): .*TRANSACTION_REVERTED/,
    ],
  ])("%s", (_case, before, act, refusal) => {
    const message = refusalOf(before, (exchange) => {
      act(exchange);
      exchange.act("mine");
    });
    expect(message).toMatch(refusal);
  });
});
