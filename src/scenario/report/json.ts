import type { MakeReporter } from "./reporter.ts";

/** Version of the document, raised by incompatible changes. */
const VERSION = 1;

/** Order of the keys at every level. */
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
    // Each invalid file counts as failed.
    wrong: (files) => {
      const problems = files.flatMap((file) => file.problems);
      print({ passed: 0, failed: files.length, skipped: 0, durationMs: 0, problems, scenarios: [] });
    },
  };
};
