import { priceText, sizeText } from "../../core/format.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow, PlaceRow } from "../../simulation/flow.ts";
import type { OrderWords } from "../language/scenario.ts";
import { refusedText, rowText } from "../run/words.ts";
import { FEWEST_ROWS, type Judging } from "../watch/flow-judge.ts";
import type { FlowOutcome, OrderKey, Refused, Venue } from "./venue.ts";

/** Plays the rows of a flow, each at its moment counted from now, as the clients of its accounts would. */
export async function playOverHttp(
  venue: Venue,
  rows: AsyncIterable<readonly FlowRow[]>,
  market: string,
  judging: Judging | null = null,
): Promise<FlowOutcome> {
  const player = new HttpPlayer(venue, market, await venue.now());
  let judgedAt = judging === null ? Number.POSITIVE_INFINITY : (judging.everyRows ?? FEWEST_ROWS);
  let count = 0;
  for await (const batch of rows) {
    for (const row of batch) {
      await player.play(row);
      count += 1;
      if (count < judgedAt) continue;
      judgedAt = count + (judging?.everyRows ?? Math.max(FEWEST_ROWS, ROWS_A_ROW * count));
      const violations = await venue.violations();
      if (violations.length > 0) {
        return { ...player.outcome, broken: { row: count, text: rowText(row), violations } };
      }
    }
  }
  return player.outcome;
}

/** What judging every invariant costs follows from the rows so far; so many more must come for each of them. */
const ROWS_A_ROW = 2;

class HttpPlayer {
  readonly #venue: Venue;
  readonly #market: string;
  readonly #start: Millis;
  readonly #orders = new Map<string, OrderKey>();
  readonly #counts = { rows: 0, placed: 0, canceled: 0, rejected: 0 };
  #firstRejection: string | null = null;

  constructor(venue: Venue, market: string, start: Millis) {
    this.#venue = venue;
    this.#market = market;
    this.#start = start;
  }

  get outcome(): FlowOutcome {
    return { ...this.#counts, firstRejection: this.#firstRejection, broken: null };
  }

  async play(row: FlowRow): Promise<void> {
    const at = millis(this.#start + row.at);
    if (at > (await this.#venue.now())) await this.#venue.advanceTo(at);
    this.#counts.rows += 1;
    switch (row.op) {
      case "place":
        return this.#place(row);
      case "cancel": {
        const attempt = await this.#venue.cancel(row.account, this.#orders.get(row.ref) ?? row.ref);
        if (attempt.ok) this.#counts.canceled += attempt.value.canceled.length;
        else this.#refused(row, attempt);
        return;
      }
      case "cancel-all": {
        const attempt = await this.#venue.cancelAll(row.account);
        if (attempt.ok) this.#counts.canceled += attempt.value.canceled.length;
        else this.#refused(row, attempt);
        return;
      }
      case "fund": {
        const market = row.market ?? this.#market;
        const attempt = await this.#venue.fund(
          row.account,
          row.asset === "USDC"
            ? { asset: "USDC", amount: row.amount }
            : { asset: { market, outcome: row.asset }, amount: row.amount },
        );
        if (!attempt.ok) this.#refused(row, attempt);
      }
    }
  }

  async #place(row: PlaceRow): Promise<void> {
    const words: OrderWords = {
      side: row.side,
      size: sizeText(row.size),
      outcome: row.outcome,
      price: priceText(row.price),
      type: row.type,
      expiry: row.expiresIn === null ? null : { after: row.expiresIn },
      market: row.market ?? this.#market,
    };
    const attempt = await this.#venue.place(row.account, words, null);
    if (!attempt.ok) {
      this.#refused(row, attempt);
      return;
    }
    this.#counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, attempt.value.key);
  }

  #refused(row: FlowRow, refusal: Refused): void {
    this.#counts.rejected += 1;
    this.#firstRejection ??= `row ${this.#counts.rows}, ${rowText(row)}: ${refusedText(refusal)}`;
  }
}
