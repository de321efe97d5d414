import { commonFlow, type Flow } from "../flow.ts";
import { alternate, median, type Subject } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";
import {
  assertInvariants,
  FlowCommands,
  mustSubmit,
  openFundedExchange,
  TRADERS,
  tallyOf,
} from "./funded-exchange.ts";

const OPERATIONS = 200_000;

/** The whole exchange: commands are decided and their events applied. */
export const submitSection: Section = {
  name: "submit",
  about: "commands through the whole exchange",
  measure(rounds) {
    const flow = commonFlow({ levels: 99, operations: OPERATIONS });
    const subjects = [
      subjectOf("99 levels, no fee", flow, { feeRateBps: 0, bothOutcomes: false }),
      subjectOf("99 levels, taker fee 1 %", flow, { feeRateBps: 100, bothOutcomes: false }),
      subjectOf("99 levels, every second order in terms of NO", flow, { feeRateBps: 0, bothOutcomes: true }),
    ];
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const speeds = samples.map((milliseconds) => milliseconds.map((each) => OPERATIONS / each));
    const baseline = median(speeds[0] ?? []);
    return {
      unit: "thousand commands/s",
      baseline: "no fee",
      rounds,
      measurements: speeds.map((each, index) =>
        measurementOf(subjects[index]?.name ?? "", "clobsim", each, baseline),
      ),
      notes: [
        `The first ${OPERATIONS.toLocaleString("en-US")} operations of the book's flow as commands of ${TRADERS} accounts in one complementary market.`,
        "Every run is checked: the flow's trades in order, and every invariant of the exchange.",
      ],
    };
  },
};

interface Terms {
  readonly feeRateBps: number;
  readonly bothOutcomes: boolean;
}

function subjectOf(name: string, flow: Flow, { feeRateBps, bothOutcomes }: Terms): Subject {
  let exchange = openFundedExchange({ markets: 1, levels: flow.levels, feeRateBps });
  return {
    name,
    prepare() {
      exchange = openFundedExchange({ markets: 1, levels: flow.levels, feeRateBps });
      const commands = new FlowCommands(flow, exchange.state, { bothOutcomes }).take(flow.tape.length);
      return () => {
        for (const command of commands) mustSubmit(exchange, command);
      };
    },
    check() {
      const { trades, volume, hash } = tallyOf(exchange.state, flow.levels);
      const { expected } = flow;
      if (trades !== expected.trades || volume !== expected.volume || hash !== expected.hash) {
        throw new Error(`${name}: ${trades} trades of volume ${volume}, the flow has other ones`);
      }
      assertInvariants(exchange.state);
    },
  };
}
