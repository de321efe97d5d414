import { priceText, sizeText } from "../../core/format.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow, PlaceRow } from "../../simulation/flow.ts";

import type { OrderWords } from "../language/order-words.ts";
import { refusedText, rowText } from "../run/words.ts";
import type { RowJudge } from "../watch/flow-judge.ts";
import type { Venue } from "./venue.ts";
import type { Attempt, Canceled, FlowOutcome, Refused, Soon } from "./views.ts";

/** Plays the rows of one flow, each at its moment counted from the start, and counts what became of them. */
export abstract class FlowPlayer {
  rows = 0;
  protected readonly counts = { placed: 0, canceled: 0, rejected: 0 };
  #firstRejection: string | null = null;

  abstract play(row: FlowRow): Soon<void>;

  get outcome(): FlowOutcome {
    return { rows: this.rows, ...this.counts, firstRejection: this.#firstRejection, broken: null };
  }

  protected refused(row: FlowRow, refusal: () => Refused): void {
    this.counts.rejected += 1;
    this.#firstRejection ??= `row ${this.rows}, ${rowText(row)}: ${refusedText(refusal())}`;
  }
}

/** Plays rows up to the first after which something does not hold where they are judged. */
export async function playFlow(
  player: FlowPlayer,
  rows: AsyncIterable<readonly FlowRow[]>,
  judge: RowJudge | null,
): Promise<FlowOutcome> {
  for await (const batch of rows) {
    for (const row of batch) {
      // Nothing is awaited where the answer is there at once: a flow in this process has a million rows a second.
      const played = player.play(row);
      if (played instanceof Promise) await played;
      if (judge === null) continue;
      const judged = judge.after(player.rows);
      const violations = judged instanceof Promise ? await judged : judged;
      if (violations.length > 0) {
        return { ...player.outcome, broken: { row: player.rows, text: rowText(row), violations } };
      }
    }
  }
  return player.outcome;
}

/** Plays rows on any venue, as the clients of its accounts would. */
export class VenuePlayer extends FlowPlayer {
  readonly #venue: Venue;
  readonly #market: string;
  readonly #start: Millis;
  readonly #orders = new Map<string, string>();

  constructor(venue: Venue, market: string, start: Millis) {
    super();
    this.#venue = venue;
    this.#market = market;
    this.#start = start;
  }

  async play(row: FlowRow): Promise<void> {
    const at = millis(this.#start + row.at);
    if (at > (await this.#venue.now())) await this.#venue.advanceTo(at);
    this.rows += 1;
    switch (row.op) {
      case "place":
        return this.#place(row);
      case "cancel":
        return this.#canceled(
          row,
          await this.#venue.cancel(row.account, this.#orders.get(row.ref) ?? row.ref),
        );
      case "cancel-all":
        return this.#canceled(row, await this.#venue.cancelAll(row.account));
      case "fund": {
        const { asset, amount } = row;
        const market = row.market ?? this.#market;
        const funding = asset === "USDC" ? { asset, amount } : { asset: { market, outcome: asset }, amount };
        const attempt = await this.#venue.fund(row.account, funding);
        if (!attempt.ok) this.refused(row, () => attempt);
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
    const attempt = await this.#venue.place(row.account, words);
    if (!attempt.ok) {
      this.refused(row, () => attempt);
      return;
    }
    this.counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, attempt.value.key);
  }

  #canceled(row: FlowRow, attempt: Attempt<Canceled>): void {
    if (attempt.ok) this.counts.canceled += attempt.value.canceled.length;
    else this.refused(row, () => attempt);
  }
}
