import { describe, expect, it } from "vitest";
import { progressLine } from "../../../src/cli/fuzz.ts";
import type { CampaignProgress } from "../../../src/fuzz/campaign/campaign.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { rowsOf } from "../../support/table.ts";

const BEGUN: CampaignProgress = { done: 0, total: 10_000, commands: 0, failures: 0, ms: 0 };
const ENDLESS = Number.POSITIVE_INFINITY;

describe("the progress line of a campaign", () => {
  it.each(
    rowsOf(`
    no time left if it is unknown | {} | . | 0/10,000 seeds        0 seeds/s          0 commands/s   0 failures
    the time left by the seeds done so far | {"done":3400,"commands":1020000,"failures":1,"ms":20000} | . | 3,400/10,000 seeds      170 seeds/s     51,000 commands/s    1 failure        39 s left
    the time left of the budget if that ends earlier | {"done":100,"commands":30000,"failures":12,"ms":20000} | 600000 | 100/10,000 seeds        5 seeds/s      1,500 commands/s  12 failures  9 min 40 s left
    hours | {"done":100,"commands":30000,"ms":200000} | . | 100/10,000 seeds        1 seeds/s        150 commands/s   0 failures  5 h 30 min left
    no time left of a budget that is used up | {"done":100,"commands":30000,"ms":700000} | 600000 | 100/10,000 seeds        0 seeds/s         43 commands/s   0 failures         0 s left
    `),
  )("shows %s", (_case, progress = "", budgetMs = "", line = "") => {
    const begun = { ...BEGUN, ...(JSON.parse(progress) as Partial<CampaignProgress>) };
    const shown = progressLine(begun, budgetMs === "" ? ENDLESS : Number(budgetMs), plainPaint).trimEnd();
    expect(shown).toBe(line.padStart(shown.length));
    expect(shown.indexOf("/10,000")).toBe(6);
  });

  it("shows failures in red, and the time left dim", () => {
    const paint = { ...plainPaint, red: (text: string) => `<${text}>`, dim: (text: string) => `(${text})` };
    const line = progressLine({ ...BEGUN, done: 5000, failures: 2, ms: 1000 }, ENDLESS, paint);
    expect(line).toMatch(/ {2}< 2 failures> {2}\( +1 s left\)$/);
  });
});
