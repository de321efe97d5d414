import { clobsimBook } from "./clobsim-book.ts";
import type { Contender } from "./contender.ts";
import { commonFlow, type Flow } from "./flow.ts";
import { measurementOf } from "./measurement.ts";
import { nodejsOrderBook } from "./nodejs-order-book.ts";
import { replaySubject } from "./replay-subject.ts";
import { alternate, median } from "./rounds.ts";
import type { Section } from "./section.ts";

/** The package slows down as its book fills: a run of this length takes it about two seconds, one of the whole flow half a minute. */
const PREFIX = 100_000;

/** The order book alone: this project's against the package nodejs-order-book, trade by trade the same. */
export const bookSection: Section = {
  name: "book",
  about: "one order book, orders in and trades out",
  measure(rounds) {
    const races = lineUp();
    const subjects = races.map(({ contender, flow }) => replaySubject(contender, flow));
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 100 });
    const results = races.map((race, index) => ({
      ...race,
      speeds: speedsOf(race.flow, samples[index] ?? []),
    }));
    return {
      unit: "million operations/s",
      baseline: `${nodejsOrderBook.name} on the same operations in the same run`,
      rounds,
      measurements: results.map(({ contender, flow, speeds }) => {
        const peer = results.find((other) => other.flow === flow && other.contender === nodejsOrderBook);
        const part = flow.tape.length === PREFIX ? "first" : "all";
        const workload = `${flow.levels} levels, ${part} ${flow.tape.length.toLocaleString("en-US")} operations`;
        return measurementOf(
          workload,
          contender.name,
          speeds,
          peer === undefined ? null : median(peer.speeds),
        );
      }),
      notes: [
        `Compared on the first ${PREFIX.toLocaleString("en-US")} operations of the flow, while the book still fills: on all of them`,
        `${nodejsOrderBook.name} is slower still, and takes up to half a minute a run.`,
        "Every run is checked: it makes the flow's trades (taker, maker, price, quantity, in order).",
      ],
    };
  },
};

interface Race {
  readonly flow: Flow;
  readonly contender: Contender;
}

function lineUp(): Race[] {
  const races: Race[] = [];
  for (const levels of [99, 999] as const) {
    const flow = commonFlow({ levels, operations: PREFIX });
    races.push({ flow, contender: clobsimBook }, { flow, contender: nodejsOrderBook });
  }
  for (const levels of [99, 999, 9999] as const) {
    races.push({ flow: commonFlow({ levels }), contender: clobsimBook });
  }
  return races;
}

/** Million operations a second, from milliseconds a run. */
function speedsOf(flow: Flow, milliseconds: readonly number[]): number[] {
  return milliseconds.map((each) => flow.tape.length / each / 1000);
}
