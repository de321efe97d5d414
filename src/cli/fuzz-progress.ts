import type { CampaignProgress } from "../fuzz/campaign/campaign.ts";
import type { Paint } from "../scenario/report/text.ts";
import { count, grouped } from "../scenario/report/text.ts";

const REDRAW_MS = 250;
const LINE_MS = 10_000;

/** Says on stderr how far a campaign is: on a terminal in one line that changes, else in a line every ten seconds. */
export class FuzzProgress {
  readonly #look: () => CampaignProgress;
  readonly #budgetMs: number;
  readonly #paint: Paint;
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #timer: NodeJS.Timeout;

  constructor(look: () => CampaignProgress, budgetMs: number, paint: Paint) {
    this.#look = look;
    this.#budgetMs = budgetMs;
    this.#paint = paint;
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? REDRAW_MS : LINE_MS);
  }

  /** Removes the line from a terminal: the result says it all. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) process.stderr.write("\r\u001b[K");
  }

  #show(): void {
    const line = progressLine(this.#look(), this.#budgetMs, this.#paint);
    process.stderr.write(this.#isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  }
}

/** ` 3,412/10,000 seeds    171 seeds/s   51,300 commands/s   2 failures   38 s left`, in columns that stay where they are. */
export function progressLine(
  { done, total, commands, failures, ms }: CampaignProgress,
  budgetMs: number,
  paint: Paint,
): string {
  const rate = (number: number): number => (ms === 0 ? 0 : Math.round((number * 1000) / ms));
  const found = count(failures, "failure").padStart(11);
  return [
    `${grouped(done).padStart(grouped(total).length)}/${grouped(total)} seeds`,
    `${grouped(rate(done)).padStart(7)} seeds/s`,
    `${grouped(rate(commands)).padStart(9)} commands/s`,
    failures === 0 ? found : paint.red(found),
    paint.dim(leftText(done, total, ms, budgetMs).padStart(15)),
  ].join("  ");
}

/** How long it will go on, by what was done so far and by its budget. */
function leftText(done: number, total: number, ms: number, budgetMs: number): string {
  const left = Math.min(done === 0 ? Number.POSITIVE_INFINITY : ((total - done) * ms) / done, budgetMs - ms);
  return Number.isFinite(left) ? `${clockText(Math.max(0, left))} left` : "";
}

/** `38 s`, `2 min 5 s`, `3 h 12 min`. */
function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${grouped(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}
