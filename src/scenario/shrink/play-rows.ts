import { priceText, sizeText } from "../../core/format.ts";
import { millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { refusedText, rowText } from "../run/words.ts";
import type { Attempt, FlowOutcome, OrderKey, Venue } from "../venue/venue.ts";
import type { PlayedRow } from "./flow-steps.ts";

/**
 * Plays the rows of a flow one by one, as steps of a scenario would, and tells `note` what became of each. Behind the
 * last that is wanted it stops.
 */
export async function playNoting(
  venue: Venue,
  rows: AsyncIterable<readonly FlowRow[]>,
  market: string,
  last: number,
  note: (played: PlayedRow) => void,
): Promise<FlowOutcome> {
  const player = new Player(venue, market, await venue.now());
  for await (const batch of rows) {
    for (const row of batch) {
      if (player.outcome.rows === last) return player.outcome;
      await player.play(row, note);
    }
  }
  return player.outcome;
}

class Player {
  readonly #venue: Venue;
  readonly #market: string;
  readonly #start: number;
  readonly #orders = new Map<string, { readonly key: OrderKey; readonly order: number }>();
  readonly #counts = { rows: 0, placed: 0, canceled: 0, rejected: 0 };
  #firstRejection: string | null = null;

  constructor(venue: Venue, market: string, start: number) {
    this.#venue = venue;
    this.#market = market;
    this.#start = start;
  }

  get outcome(): FlowOutcome {
    return { ...this.#counts, firstRejection: this.#firstRejection, broken: null };
  }

  /** A row that makes the exchange throw is told of before that is thrown. */
  async play(row: FlowRow, note: (played: PlayedRow) => void): Promise<void> {
    const at = millis(this.#start + row.at);
    this.#counts.rows += 1;
    const known = (row.op === "cancel" ? this.#orders.get(row.ref)?.order : undefined) ?? 0;
    let outcome: PlayedRow["outcome"] = "done";
    let order = known;
    try {
      if (at > (await this.#venue.now())) await this.#venue.advanceTo(at);
      const attempt = await this.#attempt(row);
      if (attempt.ok) {
        outcome = attempt.value ? "done" : "nothing";
        if (row.op === "place") order = this.#counts.placed;
      } else {
        outcome = "refused";
        this.#counts.rejected += 1;
        this.#firstRejection ??= `row ${this.#counts.rows}, ${rowText(row)}: ${refusedText(attempt)}`;
      }
    } finally {
      note({ row, at, outcome, order, fills: this.#venue.fillCount() });
    }
  }

  /** Whether it did something. */
  async #attempt(row: FlowRow): Promise<Attempt<boolean>> {
    const venue = this.#venue;
    const { account } = row;
    const market = row.market ?? this.#market;
    if (row.op === "fund") {
      const { asset, amount } = row;
      const funding = asset === "USDC" ? { asset, amount } : { asset: { market, outcome: asset }, amount };
      return did(await venue.fund(account, funding), true);
    }
    if (row.op === "place") return this.#place(row, market);
    const key = row.op === "cancel" ? (this.#orders.get(row.ref)?.key ?? row.ref) : null;
    const attempt = await (key === null ? venue.cancelAll(account) : venue.cancel(account, key));
    if (!attempt.ok) return attempt;
    const { length } = attempt.value.canceled;
    this.#counts.canceled += length;
    return did(attempt, length > 0);
  }

  async #place(row: Extract<FlowRow, { op: "place" }>, market: string): Promise<Attempt<boolean>> {
    const { side, outcome, expiresIn, type } = row;
    const expiry = expiresIn === null ? null : { after: expiresIn };
    const words = {
      side,
      outcome,
      type,
      market,
      expiry,
      size: sizeText(row.size),
      price: priceText(row.price),
    };
    const exact = { side, outcome, market, expiry, size: row.size, price: row.price, orderType: type };
    const attempt = await this.#venue.place(row.account, words, exact);
    if (!attempt.ok) return attempt;
    this.#counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, { key: attempt.value.key, order: this.#counts.placed });
    return did(attempt, true);
  }
}

const did = (attempt: Attempt<unknown>, value: boolean): Attempt<boolean> =>
  attempt.ok ? { ok: true, value } : attempt;
