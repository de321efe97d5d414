import { BLOCK_INTERVAL_MS } from "../../../src/core/chain/chain.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import type { SettlementMode } from "../../../src/core/terms.ts";
import { millis } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { commonFlow, type Flow } from "../flow.ts";
import { inCheckout } from "../programs.ts";
import { alternate, median, type Subject } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { FlowCommands, mustSubmit, openFundedExchange } from "../submit/funded-exchange.ts";

/** Settlement of the fills of a run. */
interface SettledChoice {
  readonly settlement: SettlementMode;
  /** Number of commands between two blocks; 0 for no blocks. */
  readonly commandsABlock: number;
}

/** Prepares the commands of a flow; the run submits them and returns the exchange. */
export function prepareSettled(flow: Flow, { settlement, commandsABlock }: SettledChoice): () => Exchange {
  const exchange = openFundedExchange({ markets: 1, levels: flow.levels, feeRateBps: 0, settlement });
  const commands = new FlowCommands(flow, exchange.state).take(flow.tape.length);
  return () => {
    let left = commandsABlock;
    for (const command of commands) {
      mustSubmit(exchange, command);
      left -= 1;
      if (left !== 0) continue;
      exchange.advanceTo(millis(exchange.now + BLOCK_INTERVAL_MS));
      left = commandsABlock;
    }
    return exchange;
  };
}

const OPERATIONS = 200_000;
const SUBJECTS: readonly (readonly [name: string, choice: SettledChoice])[] = [
  ["manual, nothing is mined", { settlement: "manual", commandsABlock: 0 }],
  ["instant, a block a trading order", { settlement: "instant", commandsABlock: 0 }],
  ["auto, a block every 100 commands", { settlement: "auto", commandsABlock: 100 }],
  ["auto, a block every 10,000 commands", { settlement: "auto", commandsABlock: 10_000 }],
];

/** Cost of settlement in addition to the rest of a command. */
export const settlementSection: Section = {
  name: "settlement",
  about: "commands through the whole exchange, their fills settled on the chain or by nobody",
  async measure(rounds) {
    const { unsettledFlow } = (await import(inCheckout("dist-tools/bench-unsettled.js"))) as Unsettled;
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const subjects = [
      unsettled("without settlement", unsettledFlow(OPERATIONS)),
      ...SUBJECTS.map(([name, choice]) => settled(name, flow, choice)),
    ];
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const costs = samples.map((milliseconds) => milliseconds.map((each) => (each * 1e6) / OPERATIONS));
    const baseline = median(costs[0] ?? []);
    return {
      unit: "ns/command",
      baseline: "without settlement",
      rounds,
      measurements: costs.map((each, index) =>
        measurementOf(subjects[index]?.name ?? "", "clobsim", each, baseline),
      ),
      notes: [
        `The first ${OPERATIONS.toLocaleString("en-US")} operations of the book's flow; four of nine commands make a trade.`,
        "Without settlement: the same sources, with what settles trades left out of the bundle.",
        "Every settled run is judged: chain balances and what is pending are the ledger.",
      ],
    };
  },
};

/** Exports of the other bundle. */
interface Unsettled {
  unsettledFlow(operations: number): () => () => unknown;
}

// Keeps an exchange alive between runs, because V8 discards compiled code with the last object of a shape.

function unsettled(name: string, prepare: () => () => unknown): Subject {
  let done: unknown;
  return {
    name,
    prepare() {
      const run = prepare();
      return () => {
        done = run();
      };
    },
    check() {
      if (done === undefined) throw new Error(`${name}: no run`);
    },
  };
}

function settled(name: string, flow: Flow, choice: SettledChoice): Subject {
  let done: Exchange | undefined;
  return {
    name,
    prepare() {
      const run = prepareSettled(flow, choice);
      return () => {
        done = run();
      };
    },
    check() {
      const broken = done === undefined ? [] : violations(done.state);
      if (broken.length > 0) throw new Error(`${name}: ${JSON.stringify(broken)}`);
    },
  };
}
