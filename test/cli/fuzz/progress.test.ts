import { afterEach, describe, expect, it, vi } from "vitest";
import { progressLine, showProgress } from "../../../src/cli/fuzz.ts";
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

describe("the progress of a campaign", () => {
  const isTerminal = process.stderr.isTTY;
  afterEach(() => {
    process.stderr.isTTY = isTerminal;
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it.each(
    rowsOf(`
    redrawn in one line on a terminal | true  | TERM=xterm | 40 times <erase> LINE, <erase>
    a line every ten seconds in a pipe | false | TERM=xterm | LINE <end>
    a line every ten seconds on a terminal without codes | true | TERM=dumb | LINE <end>
    a line every ten seconds in the log of a job | true | CI=true | LINE <end>
    `),
  )("is %s", (_case, isTTY, variable, expected) => {
    vi.useFakeTimers();
    process.stderr.isTTY = isTTY === "true";
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const [name = "", value] = variable.split("=");
    const end = showProgress({ progress: BEGUN }, ENDLESS, { [name]: value, NO_COLOR: "1" });
    vi.advanceTimersByTime(10_000);
    end();
    vi.advanceTimersByTime(10_000);
    const line = progressLine(BEGUN, ENDLESS, plainPaint);
    const texts = written.mock.calls.map(([text]) =>
      String(text).replace("\r\u001b[K", "<erase> ").replace(line, "LINE").replace("\n", " <end>").trim(),
    );
    const drawn = texts.filter((text) => text === texts[0]).length;
    const first = drawn === 1 ? texts[0] : `${drawn} times ${texts[0]}`;
    expect([first, ...texts.slice(drawn)].join(", ")).toBe(expected);
  });
});
