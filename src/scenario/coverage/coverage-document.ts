import type { ScenarioResult } from "../run/result.ts";
import { type Coverage, shareOf } from "./coverage.ts";

/** Of the document; a change that a reader could stumble over raises it. */
const VERSION = 1;

/** The same figures for a program: one JSON value, its keys always in the same order. */
export function coverageDocument({ groups, suite }: Coverage) {
  const those = (status: ScenarioResult["status"]): readonly ScenarioResult[] =>
    suite.results.filter((result) => result.status === status);
  return {
    version: VERSION,
    ...shareOf(groups),
    scenarios: { passed: suite.passed, failed: suite.failed, skipped: suite.skipped },
    groups: groups.map((group) => ({
      name: group.name,
      ...shareOf([group]),
      items: group.items.map(({ words, scenarios, times, first }) => ({
        name: words.join(" "),
        scenarios,
        times,
        first,
      })),
    })),
    failed: those("failed").map(({ file, name, failure }) => ({
      file,
      name,
      message: failure?.message ?? null,
      repeat: failure?.repeat ?? null,
    })),
    skipped: those("skipped").map(({ file, name, reason }) => ({ file, name, reason })),
  };
}
