import type { Millis } from "../../core/units.ts";
import type { Scenario } from "../language/scenario.ts";
import type { Failure } from "../run/result.ts";
import { goldenText } from "../run/summary.ts";
import type { Venue } from "../venue/venue.ts";
import type { PlayedRow } from "./flow-steps.ts";
import { playNoting } from "./play-rows.ts";
import type { Trial } from "./trial.ts";

/** A flow as it was played. */
export interface NotedFlow {
  readonly start: Millis;
  /** Up to the row at which the scenario fails. */
  readonly rows: readonly PlayedRow[];
  /** Whether there were more rows than are noted. */
  readonly isCut: boolean;
}

/** What happened in one run of a scenario, up to its failure. */
export interface NotedRun {
  /** By the number of the step. */
  readonly flows: ReadonlyMap<number, NotedFlow>;
  /** How many fills there were behind each step, by its number. */
  readonly fillsAfter: ReadonlyMap<number, number>;
  /** All trades and books at the failure, as a golden file holds them. */
  readonly golden: string;
}

/** A longer flow stays a flow. */
export const MOST_ROWS = 5_000;

/** Runs a scenario once more as it fails, and notes what its flows and steps do. */
export async function noteRun(scenario: Scenario, failure: Failure, trial: Trial): Promise<NotedRun> {
  const flows = new Map<number, NotedFlow>();
  const fillsAfter = new Map<number, number>();
  const queue = scenario.steps.filter(({ kind }) => kind === "replay" || kind === "generate");
  let golden = "";
  await trial.failureOf(scenario, {
    open: async (of) => {
      const venue: Venue = await trial.place.open(of);
      venue.play = async (rows, market) => {
        const step = queue.shift();
        const noted: PlayedRow[] = [];
        let count = 0;
        if (step !== undefined) {
          flows.set(step.number, {
            start: await venue.now(),
            rows: noted,
            get isCut() {
              return count > noted.length;
            },
          });
        }
        const last = step?.number === failure.step ? rowOf(failure) : Number.POSITIVE_INFINITY;
        return playNoting(venue, rows, market, last, (played) => {
          count += 1;
          // The row at which the scenario fails is told of, whatever came of it.
          const each: PlayedRow = count === last ? { ...played, outcome: "done" } : played;
          if (noted.length < MOST_ROWS) noted.push(each);
        });
      };
      return venue;
    },
    taken: ({ number }, venue) => void fillsAfter.set(number, venue.fillCount()),
    failed: async (venue) => {
      golden = await goldenText(scenario, venue);
    },
  });
  return { flows, fillsAfter, golden };
}

const ROW = /^(?:at|after|the first:) row (\d+)/;

/** The row of a flow at which a scenario failed; infinite where it failed elsewhere. */
function rowOf({ diff }: Failure): number {
  for (const { text } of diff) {
    const row = ROW.exec(text)?.[1];
    if (row !== undefined) return Number(row);
  }
  return Number.POSITIVE_INFINITY;
}
