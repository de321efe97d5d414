import type { Paint } from "../../src/scenario/report/text.ts";
import { readable } from "../bench/table.ts";
import type { Meter, Tally } from "./meter.ts";
import type { Figures, Phase, PhaseFigures } from "./plan.ts";
import type { SoakServer } from "./server.ts";
import type { Verdict } from "./verdict.ts";
import { percentile } from "./verdict.ts";

/** Formats the results: two lines about the traffic, then a line for each verdict, with details of failed ones. */
export function resultText(figures: Figures, verdicts: readonly Verdict[], paint: Paint): string {
  const widths = (["what", "figure"] as const).map((key) =>
    Math.max(...verdicts.map((verdict) => verdict[key].length)),
  );
  const rows = verdicts.flatMap((verdict) => {
    const { what, figure, limit, holds } = verdict;
    const mark = holds === null ? paint.yellow("-") : holds ? paint.green("✓") : paint.red("✗");
    const row = `${mark} ${what.padEnd(widths[0] as number)}  ${figure.padEnd(widths[1] as number)}  ${paint.dim(`limit ${limit}`)}`;
    return [row, ...reasons(verdict)];
  });
  return [...trafficLines(figures), "", ...rows].join("\n");
}

function trafficLines({ phases, end }: Figures): string[] {
  const total = (of: (phase: PhaseFigures) => number): number =>
    phases.reduce((sum, phase) => sum + of(phase), 0);
  const seconds = total((phase) => phase.seconds);
  const requests = total((phase) => phase.requests);
  const counts = (of: (phase: PhaseFigures) => Readonly<Record<string, number>>): number =>
    total((phase) => Object.values(of(phase)).reduce((sum, count) => sum + count, 0));
  const mebibytes = (bytes: number): string => `${readable(bytes / 2 ** 20)} MiB`;
  const last = phases.at(-1);
  return [
    `${whole(requests)} requests in ${seconds.toFixed(0)} s (${readable(requests / seconds)} a second), ` +
      `${whole(last?.accepted ?? 0)} commands accepted, ${whole(counts(({ refusals }) => refusals))} refused, ` +
      `${whole(counts(({ failures }) => failures))} failed (${whole(counts(({ injected }) => injected))} injected)`,
    `journal ${mebibytes(end.journalBytes)}, memory in use ${mebibytes(phases[0]?.liveBytes ?? 0)} to ` +
      `${mebibytes(last?.liveBytes ?? 0)}, of the process ${mebibytes(phases[0]?.residentBytes ?? 0)} to ${mebibytes(last?.residentBytes ?? 0)}`,
  ];
}

const MAX_REASONS = 5;
const MAX_REASON = 400;

/** Returns the details of a failed check. */
function reasons({ holds, why = [] }: Verdict): string[] {
  if (holds !== false) return [];
  const shown = why.slice(0, MAX_REASONS).map((line) => `    ${line.slice(0, MAX_REASON)}`);
  return why.length <= MAX_REASONS ? shown : [...shown, `    and ${why.length - MAX_REASONS} more`];
}

const whole = (count: number): string => count.toLocaleString("en-US");

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

interface ProgressFigures {
  readonly seconds: number;
  readonly phase: string;
  readonly requestsPerSecond: number;
  readonly tally: Tally;
  readonly residentBytes: number | null;
  readonly descriptors: number | null;
}

/** Formats the progress in a line. */
function progressLine(figures: ProgressFigures): string {
  const { tally, residentBytes, descriptors } = figures;
  const minutes = Math.floor(figures.seconds / 60);
  const ms = (share: number): string =>
    tally.latencies.length === 0 ? "-" : percentile(tally.latencies, share).toFixed(1);
  const count = (counts: ReadonlyMap<unknown, number>): number =>
    [...counts.values()].reduce((sum, each) => sum + each, 0);
  return [
    `${String(minutes).padStart(3)}:${String(Math.floor(figures.seconds % 60)).padStart(2, "0")}`,
    figures.phase.padEnd(9),
    `${figures.requestsPerSecond.toFixed(0).padStart(5)} requests/s`,
    `p50 ${ms(0.5).padStart(5)} ms`,
    `p99 ${ms(0.99).padStart(6)} ms`,
    `RSS ${(residentBytes === null ? "-" : (residentBytes / 2 ** 20).toFixed(0)).padStart(4)} MiB`,
    `fds ${String(descriptors ?? "-").padStart(3)}`,
    `refused ${count(tally.refusals)}`,
    `failed ${count(tally.failures)}`,
  ].join("  ");
}

const TERMINAL_MS = 2_000;
const LOG_MS = 30_000;
const CLEAR_LINE = "\r\u001b[K";

/** Shows the progress on stderr: on a terminal in one line that is redrawn, else a line every 30 seconds. */
export class Progress {
  readonly #start = performance.now();
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #timer: NodeJS.Timeout;
  #phase: Phase | null = null;
  #server: SoakServer | null = null;
  #tally: Tally | null = null;
  #last = { at: performance.now(), requests: 0 };

  constructor() {
    this.#timer = setInterval(() => void this.#show(), this.#isTerminal ? TERMINAL_MS : LOG_MS);
  }

  /** Called when a phase begins. */
  readonly watch = (phase: Phase, server: SoakServer, { tally }: Meter): void => {
    this.#phase = phase;
    this.#server = server;
    this.#tally = tally;
    this.#last = { at: performance.now(), requests: 0 };
  };

  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) process.stderr.write(CLEAR_LINE);
  }

  async #show(): Promise<void> {
    const [phase, server, tally] = [this.#phase, this.#server, this.#tally];
    if (phase === null || server === null || tally === null) return;
    const residentBytes = await server.residentBytes();
    const descriptors = await server.descriptors();
    const now = performance.now();
    const requestsPerSecond = ((tally.requests - this.#last.requests) * 1_000) / (now - this.#last.at);
    this.#last = { at: now, requests: tally.requests };
    const seconds = (now - this.#start) / 1_000;
    const line = progressLine({
      ...{ seconds, phase: phase.kind, requestsPerSecond, tally },
      ...{ residentBytes, descriptors },
    });
    process.stderr.write(this.#isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }
}
