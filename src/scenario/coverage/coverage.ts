import { endpointAt, isTradingEndpoint } from "../../api/endpoints.ts";
import { parseReply } from "../../client/result.ts";
import type { HttpReply, HttpRequest } from "../../client/transport.ts";
import { OWN_EXPECTATIONS } from "../language/expectations.ts";
import { type Scenario, type Step, stepsOf } from "../language/steps.ts";
import { failedLines, INDENT, markOf } from "../report/spec.ts";
import { aligned, count, grouped, oneLine, type Paint, roundedText } from "../report/text.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import { runSuite, type SuiteOptions } from "../run/run-suite.ts";
import { ExchangeVenue } from "../venue/exchange-venue.ts";
import { errorCodeOf } from "../venue/http-venue.ts";
import { LocalVenue } from "../venue/local-venue.ts";
import { Counts, GROUPS, type Group, universe, watchExchange } from "./items.ts";

type GroupCoverage = ReturnType<typeof coverageOf>[number];
export type ItemCoverage = GroupCoverage["items"][number];

/** Coverage of a suite; failed scenarios do not count. */
export type Coverage = Awaited<ReturnType<typeof measureCoverage>>;

type Exercise = Readonly<{ file: string; counts: Counts }>;

const coverageOf = (groups: readonly Group[], exercises: readonly Exercise[]) =>
  groups.map(({ name, items }) => ({
    name,
    items: Array.from(items, ([item, words]) => {
      const own = exercises.filter(({ counts }) => counts.times(name, item) > 0);
      const times = own.reduce((sum, { counts }) => sum + counts.times(name, item), 0);
      return { words, scenarios: own.length, times, first: own[0]?.file ?? null };
    }),
  }));

type Share = ReturnType<typeof shareOf>;

/** Number of exercised items, and the percentage, rounded down to a tenth: 100 only if all are exercised. */
export function shareOf(groups: readonly GroupCoverage[]) {
  const items = groups.flatMap((group) => group.items);
  const exercised = items.filter(({ scenarios }) => scenarios > 0).length;
  return { exercised, total: items.length, percent: Math.floor((exercised * 1000) / items.length) / 10 };
}

/** Returns a table of all items by group, unexercised items first; then failed scenarios and the total. */
export function coverageLines({ groups, suite }: Coverage, paint: Paint): string[] {
  const listed = groups.flatMap(({ items }) => {
    const names = aligned(items.map(({ words }) => words)).map((words) => words.join("  "));
    const rows = items.map((item, index) => ({ item, name: names[index] ?? "" }));
    return rows.sort((a, b) => Number(a.item.scenarios > 0) - Number(b.item.scenarios > 0));
  });
  const cells = listed.map(({ item, name }) => [name, grouped(item.scenarios), grouped(item.times)]);
  const [heading = [], ...rows] = aligned([["", "scenarios", "times"], ...cells], (column) => column >= 1);
  const lines = rows.map((row, index) => {
    const first = listed[index]?.item.first ?? null;
    const mark = markOf(first === null ? "failed" : "passed", paint);
    return `  ${mark} ${row.join("  ")}  ${first === null ? paint.red("never") : oneLine(first)}`;
  });
  return [
    paint.dim(`${" ".repeat(INDENT)}${heading.join("  ")}  first`),
    ...groups.flatMap((group) => [
      `${paint.bold(group.name)}  ${shareText(shareOf([group]))}`,
      ...lines.splice(0, group.items.length),
      "",
    ]),
    ...troubleLines(suite, paint),
    `${shareText(shareOf(groups))} items, ${percentText(shareOf(groups))}`,
  ];
}

export const percentText = ({ percent }: Share): string => `${roundedText(percent, 1)} %`;

const shareText = ({ exercised, total }: Share): string => `${grouped(exercised)} of ${grouped(total)}`;

/** Returns the failed scenarios, and why some were skipped. */
function troubleLines({ results, failed, skipped }: SuiteResult, paint: Paint): string[] {
  const reasons = new Set(results.flatMap(({ reason }) => (reason === null ? [] : [oneLine(reason)])));
  const skips = `${count(skipped, "scenario")} skipped: ${[...reasons].join("; ")}`;
  return [
    ...(failed === 0 ? [] : [...failedLines(results, paint), ""]),
    ...(skipped === 0 ? [] : [paint.yellow(skips), ""]),
  ];
}

/** Version of the document, raised by incompatible changes. */
const VERSION = 1;

/** Returns the same figures as a JSON value, its keys always in the same order. */
export function coverageDocument({ groups, suite }: Coverage): object {
  const resultsOf = (status: ScenarioResult["status"]): readonly ScenarioResult[] =>
    suite.results.filter((result) => result.status === status);
  return {
    version: VERSION,
    ...shareOf(groups),
    scenarios: { passed: suite.passed, failed: suite.failed, skipped: suite.skipped },
    groups: groups.map((group) => ({
      name: group.name,
      ...shareOf([group]),
      items: group.items.map(({ words, ...counts }) => ({ name: words.join(" "), ...counts })),
    })),
    failed: resultsOf("failed").map(({ file, name, failure }) => {
      const { message = null, repeat = null } = failure ?? {};
      return { file, name, message, repeat };
    }),
    skipped: resultsOf("skipped").map(({ file, name, reason }) => ({ file, name, reason })),
  };
}

export type CoverageOptions = Pick<SuiteOptions, "via" | "startServer">;

export async function measureCoverage(scenarios: readonly Scenario[], options: CoverageOptions) {
  const exercises: Exercise[] = [];
  let counts = new Counts();
  let isLocal = false;
  const suite = await runSuite(scenarios, {
    ...options,
    watcher: {
      transport: (send) => async (request) => {
        const reply = await send(request);
        countReply(request, reply, counts);
        return reply;
      },
      venue: (venue, { steps }) => {
        for (const step of stepsOf(steps)) countStep(step, counts);
        isLocal = venue instanceof LocalVenue;
        if (venue instanceof ExchangeVenue) watchExchange(venue.exchange, counts);
      },
      refused: (step, code) => {
        countRefused(step, code, counts);
        // Over HTTP, codes are counted from the replies.
        if (isLocal && ["order", "cancel", "cancelAll"].includes(step.kind))
          counts.add("error codes of trading", code);
      },
    },
    finished: ({ file, status }) => {
      if (status === "passed") exercises.push({ file, counts });
      counts = new Counts();
    },
  });
  return { groups: coverageOf(universe(options.via), exercises), suite };
}

function countReply({ method, path }: HttpRequest, reply: HttpReply, counts: Counts): void {
  const endpoint = endpointAt(method, path.replace(/\?.*/s, ""));
  if (endpoint === undefined) return;
  if (reply.status === 200) {
    counts.add("endpoints", endpoint.operation);
    return;
  }
  const code = errorCodeOf(reply.status, parseReply(reply).body) ?? "";
  counts.add("errors by endpoint", `${endpoint.operation} ${code}`);
  if (isTradingEndpoint(endpoint)) counts.add("error codes of trading", code);
}

/** Counts a refused step; without `rejects` it is an outcome of a race. */
function countRefused(step: Step, code: string, counts: Counts): void {
  const rejects = "rejects" in step ? step.rejects : null;
  const reason = GROUPS["refused steps"].has(`${step.kind}: ${code}`) ? code : "rejects";
  counts.add("refused steps", rejects === null ? "race: without rejects" : `${step.kind}: ${reason}`);
}

function countStep(step: Step, counts: Counts): void {
  counts.add("steps", step.kind);
  const expectations = step.kind === "expect" ? step.expectations : step.kind === "race" ? step.after : [];
  for (const { kind } of expectations) counts.add("expectations", kind);
  const fields = { ...step } as Readonly<Record<string, unknown>>;
  for (const name of OWN_EXPECTATIONS) if ((fields[name] ?? null) !== null) counts.add("expectations", name);
  if (step.kind === "replay" && step.rejected > 0) counts.add("refused steps", "replay: rows");
}
