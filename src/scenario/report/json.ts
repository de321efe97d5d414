import type { MakeReporter } from "./reporter.ts";

/** Of the document; a change that a reader could stumble over raises it. */
const VERSION = 1;

/** At every level in this order. */
const KEYS = [
  ["version", "file", "line", "column", "name", "place", "seed", "way", "status", "reason", "failure"],
  ["steps", "passed", "failed", "skipped", "durationMs", "stateHash", "races", "written", "transcript"],
  ["problems", "scenarios", "step", "kind", "text", "message", "hint", "diff", "recent", "repeat"],
  ["outcomes", "lines", "after"],
].flat();

export const jsonReporter: MakeReporter = ({ write, seed, transcript }) => {
  const keys = transcript ? KEYS : KEYS.filter((key) => key !== "transcript");
  const print = (content: object): void =>
    write(`${JSON.stringify({ version: VERSION, seed, ...content }, keys, 2)}\n`);
  return {
    ended: ({ results, ...counts }) => print({ ...counts, problems: [], scenarios: results }),
    // Where files are wrong there are no scenarios, and each such file counts as failed.
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems);
      print({ passed: 0, failed: files.length, skipped: 0, durationMs: 0, problems, scenarios: [] });
    },
  };
};
