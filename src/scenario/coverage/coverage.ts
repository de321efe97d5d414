import type { SuiteResult } from "../run/result.ts";
import type { GroupName } from "./items.ts";
import type { Sightings } from "./sightings.ts";
import type { Group } from "./universe.ts";

/** How one item is exercised. */
export interface ItemCoverage {
  /** What it is called, a column for each. */
  readonly words: readonly string[];
  /** How many scenarios exercise it, and how often they do together. */
  readonly scenarios: number;
  readonly times: number;
  /** The file of the first of them; null when nobody does. */
  readonly first: string | null;
}

export interface GroupCoverage {
  readonly name: GroupName;
  readonly items: readonly ItemCoverage[];
}

/** What a suite exercises of all that it could; what a failed scenario does counts for nothing. */
export interface Coverage {
  readonly groups: readonly GroupCoverage[];
  readonly suite: SuiteResult;
}

/** What a scenario that passed has exercised. */
export interface Exercise {
  readonly file: string;
  readonly sightings: Sightings;
}

/** Adds up what scenarios have exercised, in their order. */
export const coverageOf = (groups: readonly Group[], exercises: readonly Exercise[]): GroupCoverage[] =>
  groups.map(({ name, items }) => ({
    name,
    items: Array.from(items, ([item, words]) => {
      let scenarios = 0;
      let times = 0;
      let first: string | null = null;
      for (const { file, sightings } of exercises) {
        const seen = sightings.times(name, item);
        if (seen === 0) continue;
        first ??= file;
        scenarios += 1;
        times += seen;
      }
      return { words, scenarios, times, first };
    }),
  }));

/** How many of the items are exercised, and in percent, rounded down to a tenth: 100 only when all are. */
export interface Share {
  readonly exercised: number;
  readonly total: number;
  readonly percent: number;
}

export function shareOf(groups: readonly GroupCoverage[]): Share {
  const items = groups.flatMap((group) => group.items);
  const exercised = items.filter(({ scenarios }) => scenarios > 0).length;
  return { exercised, total: items.length, percent: Math.floor((exercised * 1000) / items.length) / 10 };
}
