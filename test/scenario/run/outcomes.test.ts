import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { money, size } from "../../../src/core/units.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { permutationsOf } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { pageWith, textsOf } from "../../support/page.ts";
import { casesAtLevel } from "../../support/runs.ts";
import { diffOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();
folder.write("_part.yaml", "- advance: 1s\n- alice: SELL 1 YES @ 0.5\n");
cpSync(join(import.meta.dirname, "flows"), folder.path, { recursive: true });

/** Returns how a scenario ends. */
function endOf({ failure, steps }: ScenarioResult): string[] {
  if (failure === null) return [`passed after ${steps} steps`];
  const { place, step, message } = failure;
  return [`${place.file}:${place.line}:${place.column}, step ${step}: ${message}`, ...diffOf(failure)];
}

/** Returns the transcript of a scenario that passes. */
function transcriptOf({ failure, transcript }: ScenarioResult): readonly string[] {
  expect(failure).toBeNull();
  return transcript;
}

/** Returns the step that fails, and what a report shows as having happened last. */
function recentOf({ failure, steps, transcript }: ScenarioResult): string[] {
  if (failure === null) throw new Error("the scenario passes");
  expect(transcript.slice(-1)).toEqual(failure.recent.slice(-1));
  return [`after ${steps} steps: ${failure.text}`, ...failure.recent];
}

/** Returns the races of a scenario that ends with one, whose orders have the results and the state of the transcript. */
function racesOf({ failure, races, transcript }: ScenarioResult): string[] {
  expect(failure).toBeNull();
  const last = races.at(-1)?.step;
  return races.map(({ step, place, outcomes }) => {
    const orders = outcomes.map(({ lines, after }) => {
      const end = step === last ? ["end", ...after.map((line) => `   ${line}`)] : [];
      expect(transcript.join("\n")).toContain(["", ...lines, ...end, ""].join("\n"));
      return lines.flatMap((line) => /^(\d+)\. /.exec(line)?.[1] ?? []).join(" ");
    });
    return `line ${place.line}, step ${step}: ${orders.join(", ")}`;
  });
}

/** The last number says which part of a page runs over HTTP, too: every third of its scenarios, or all. */
it.each([
  ["ends as its page says", "failures.txt", endOf, 3],
  ["tells what its page says", "transcripts.txt", transcriptOf, 3],
  ["shows what happened before it fails as its page says", "recent.txt", recentOf, 1],
  ["reports its races as its page says", "races.txt", racesOf, 1],
])("a scenario %s, in this process and over HTTP: %s", async (_rule, file, linesOf, every) => {
  const written = readFileSync(join(import.meta.dirname, file), "utf8");
  const over = new Set(casesAtLevel(await textsOf(written), every).map(({ text }) => text));
  const page = await pageWith(written, async ({ opening, text }) => {
    const linesVia = async (via: "auto" | "http"): Promise<string[]> => {
      const lines = linesOf(await folder.run(opening + text, { via }, "x.yaml"));
      return lines.map((line) => folder.within(line).replace(/^x\.yaml:/, ""));
    };
    const local = await linesVia("auto");
    if (over.has(text)) expect(await linesVia("http")).toEqual(local);
    return local;
  });
  await expect(page).toMatchFileSnapshot(file);
});

it("the orders of a race of six steps are all permutations, in lexicographic order", () => {
  const orders = permutationsOf([1, 2, 3, 4, 5, 6]).map((order) => order.join(""));
  expect(new Set(orders).size).toBe(720);
  expect(orders).toEqual([...orders].sort());
  expect(permutationsOf([])).toEqual([[]]);
});

it.each(["process", "http"] as const)(
  "a restored snapshot is followed by the same states, ids included: %s",
  async (via) => {
    const stateAfter = async (detour: string): Promise<string | null> => {
      const steps = `${detour}  - bob: SELL 50 YES @ 0.50 as ask\n  - alice: BUY 1 YES @ 0.40\n`;
      const head = "scenario: same ids\naccounts: { alice: { USDC: 100 }, bob: { YES: 100 } }\nsteps:\n";
      return (await folder.run(head + steps, { via })).stateHash;
    };
    const detour =
      "  - snapshot: before\n  - alice: BUY 7 YES @ 0.10\n  - advance: 1s\n  - restore: before\n";
    expect(await stateAfter(detour)).toBe(await stateAfter(""));
  },
);

it.each(["process", "http"] as const)("an account gets all that an exchange may issue: %s", async (via) => {
  for (const asset of ["USDC", "YES"]) {
    const head = "scenario: all of it\naccounts: { alice: {} }\nsteps:\n";
    const steps = `  - alice: fund 4000000000 ${asset}\n  - expect: { balances: { alice: { ${asset}: 4000000000 } } }\n`;
    expect((await folder.run(head + steps, { via })).failure).toBeNull();
  }
});

it("a wallet without gas money is refused with the node's message", async () => {
  const venue = new LocalVenue(
    folder.scenario("scenario: no gas\naccounts: { alice: {} }\nsteps: [advance: 1s]\n"),
  );
  await venue.open("alice", [{ asset: "USDC", amount: money(10_000_000) }]);
  venue.exchange.submit({ kind: "setNativeBalance", address: venue.addressOf("alice"), wei: "1" });
  expect(venue.transact("alice", "market", { kind: "split", size: size(100) })).toMatchObject({
    code: "TRANSACTION_REFUSED",
    message: expect.stringMatching(/^Insufficient funds for gas \* price \+ value: have 1 want \d+$/),
  });
});
