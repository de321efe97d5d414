import { expect, it } from "vitest";
import { Campaign } from "../../../src/fuzz/campaign/campaign.ts";
import { resultsFolder } from "../../../src/fuzz/campaign/results.ts";
import { temporaryFolder } from "../../support/folder.ts";

const folder = resultsFolder(temporaryFolder(), "results", false);

it.each([
  ["EMFILE", /^EMFILE: no$/],
  ["MODULE_NOT_FOUND", /^a thread of the fuzzer could not start: throws Error: MODULE_NOT_FOUND: no$/],
])("a thread that does not start because of %s ends the campaign with its cause", async (code, message) => {
  const script = `throw Object.assign(new Error("${code}: no"), { code: "${code}", syscall: "open" })`;
  const campaign = new Campaign({
    ...{ program: new URL(`data:text/javascript,${script}`), seedTimeoutMs: 60_000, folder },
    ...{ seeds: { from: 0, to: 9 }, shard: { index: 1, count: 1 }, threads: 2 },
    ...{ settings: { commands: 1, via: "process" }, budgetMs: Number.POSITIVE_INFINITY },
  });
  await expect(campaign.run()).rejects.toThrow(message);
});
