import type { Paint } from "../../src/scenario/report/text.ts";
import { readable, whole } from "../bench/table.ts";
import type { Meter, Tally } from "./meter.ts";
import type { Figures, Phase, PhaseFigures } from "./plan.ts";
import type { SoakServer } from "./server.ts";
import type { Verdict } from "./verdict.ts";
import { percentile, sum } from "./verdict.ts";

/** Formats the results: two lines about the traffic, then a line for each verdict, with details of failed ones. */
export function resultText(figures: Figures, verdicts: readonly Verdict[], paint: Paint): string {
  const [width = 0, figureWidth = 0] = (["what", "figure"] as const).map((key) =>
    Math.max(...verdicts.map((verdict) => verdict[key].length)),
  );
  const rows = verdicts.flatMap((verdict) => {
    const { what, figure, limit, holds } = verdict;
    const mark = holds === null ? paint.yellow("-") : holds ? paint.green("✓") : paint.red("✗");
    const words = [`${mark} ${what.padEnd(width)}`, figure.padEnd(figureWidth), paint.dim(`limit ${limit}`)];
    return [words.join("  "), ...reasons(verdict)];
  });
  return [...trafficLines(figures), "", ...rows].join("\n");
}

const totalOf = (counts: Readonly<Record<string, number>>): number => sum(Object.values(counts));

function trafficLines({ phases, end }: Figures): string[] {
  const total = (of: (phase: PhaseFigures) => number): number => sum(phases.map(of));
  const seconds = total((phase) => phase.seconds);
  const requests = total((phase) => phase.requests);
  const counted = (key: "refusals" | "failures" | "injected"): string =>
    whole(total((phase) => totalOf(phase[key])));
  const growth = (key: "liveBytes" | "residentBytes"): string =>
    `${mebibytes(phases[0]?.[key] ?? 0)} to ${mebibytes(phases.at(-1)?.[key] ?? 0)}`;
  return [
    `${whole(requests)} requests in ${seconds.toFixed(0)} s (${readable(requests / seconds)} a second), ` +
      `${whole(phases.at(-1)?.accepted ?? 0)} commands accepted, ${counted("refusals")} refused, ` +
      `${counted("failures")} failed (${counted("injected")} injected)`,
    `journal ${mebibytes(end.journalBytes)}, memory in use ${growth("liveBytes")}, of the process ${growth("residentBytes")}`,
  ];
}

const mebibytes = (bytes: number): string => `${readable(bytes / 2 ** 20)} MiB`;

const MAX_REASONS = 5;
const MAX_REASON = 400;

/** Returns the details of a failed check. */
function reasons({ holds, why = [] }: Verdict): string[] {
  if (holds !== false) return [];
  const shown = why.slice(0, MAX_REASONS).map((line) => `    ${line.slice(0, MAX_REASON)}`);
  return why.length <= MAX_REASONS ? shown : [...shown, `    and ${why.length - MAX_REASONS} more`];
}

/** Formats the figures as JSON, with the median and 99th percentile of latencies per phase. */
export function resultJson(facts: object, figures: Figures, verdicts: readonly Verdict[]): string {
  const phases = figures.phases.map(({ latencies, ...phase }) => ({
    ...phase,
    p50Ms: latencies.length === 0 ? null : percentile(latencies, 0.5),
    p99Ms: latencies.length === 0 ? null : percentile(latencies, 0.99),
  }));
  const passed = verdicts.every(({ holds }) => holds !== false);
  return `${JSON.stringify({ ...facts, passed, verdicts, ...figures, phases }, null, 2)}\n`;
}

const TERMINAL_MS = 2_000;
const LOG_MS = 30_000;
const CLEAR_LINE = "\r\u001b[K";

/** Shows the progress on stderr: on a terminal in one line that is redrawn, else a line every 30 seconds. */
export class Progress {
  readonly #start = performance.now();
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #timer: NodeJS.Timeout;
  #shown: { readonly phase: Phase; readonly server: SoakServer; readonly tally: Tally } | null = null;
  #last = { at: performance.now(), requests: 0 };

  constructor() {
    this.#timer = setInterval(() => void this.#show(), this.#isTerminal ? TERMINAL_MS : LOG_MS);
  }

  /** Called when a phase begins. */
  readonly watch = (phase: Phase, server: SoakServer, { tally }: Meter): void => {
    this.#shown = { phase, server, tally };
    this.#last = { at: performance.now(), requests: 0 };
  };

  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) process.stderr.write(CLEAR_LINE);
  }

  async #show(): Promise<void> {
    if (this.#shown === null) return;
    const { phase, server, tally } = this.#shown;
    const residentBytes = await server.residentBytes();
    const descriptors = await server.descriptors();
    const now = performance.now();
    const perSecond = ((tally.requests - this.#last.requests) * 1_000) / (now - this.#last.at);
    this.#last = { at: now, requests: tally.requests };
    const seconds = Math.floor((now - this.#start) / 1_000);
    const ms = (share: number): string =>
      tally.latencies.length === 0 ? "-" : percentile(tally.latencies, share).toFixed(1);
    const resident = residentBytes === null ? "-" : (residentBytes / 2 ** 20).toFixed(0);
    const line = [
      `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, "0")}`,
      phase.kind.padEnd(9),
      `${perSecond.toFixed(0).padStart(5)} requests/s`,
      `p50 ${ms(0.5).padStart(5)} ms`,
      `p99 ${ms(0.99).padStart(6)} ms`,
      `RSS ${resident.padStart(4)} MiB`,
      `fds ${String(descriptors ?? "-").padStart(3)}`,
      `refused ${totalOf(tally.refusals)}`,
      `failed ${totalOf(tally.failures)}`,
    ].join("  ");
    process.stderr.write(this.#isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }
}
