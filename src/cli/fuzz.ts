import type { Given } from "../setting.ts";
import type { Command } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { runCampaign } from "./fuzz-campaign.ts";
import { FUZZ_FLAGS } from "./fuzz-flags.ts";
import { mergeFound, showFound } from "./fuzz-results.ts";
import { UsageError } from "./usage-error.ts";

/** `clobsim fuzz`: runs histories made from seeds, and tells what goes wrong in them. */
export const fuzzCommand: Command = {
  name: "fuzz",
  summary: "Run histories made by machine, one for each seed, and write what goes wrong as scenarios.",
  takes: "[merge PATHS.. | show FILE]",
  flags: FUZZ_FLAGS,
  examples: [
    ["fuzz", "10,000 seeds, on all processors"],
    ["fuzz --seeds 4711..4712", "one seed again"],
    ["fuzz --seeds 0..1e6 --shard 3/40 --budget 10m --out failures/3", "the third of 40 machines"],
    ["fuzz merge failures/*/ --out fuzz.json", "one entry for each failure, with its smallest seed"],
    ["fuzz show fuzz.json", "a table; each row ends with the line that repeats it"],
  ],
  run: fuzz,
};

async function fuzz(given: Given, words: readonly string[]): Promise<ExitCode> {
  const [word, ...paths] = words;
  switch (word) {
    case undefined:
      return runCampaign(given);
    case "merge":
      return mergeFound(given, paths);
    case "show":
      return showFound(given, paths);
    default:
      throw new UsageError(`fuzz expects merge, show or options, found ${word} (see clobsim fuzz --help)`);
  }
}
