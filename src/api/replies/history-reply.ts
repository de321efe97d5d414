import { bookFor, type Market, tokenIdIn } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { priceFor } from "./quotes.ts";
import type { View } from "./view.ts";

/** Which part of a price history is asked, in Unix seconds, bounds inclusive, and at most how many points. */
export interface HistoryQuery {
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
  readonly fidelity: number | undefined;
}

/**
 * The traded prices of an outcome, oldest first. More points than `fidelity` become that many samples at equal steps
 * from first to last, each the price in force then; the cost follows the points returned.
 */
export function historyReply(view: View, market: Market, outcome: Outcome, query: HistoryQuery): object {
  const { history } = bookFor(market, outcome);
  const first = query.startTs === undefined ? 0 : history.countBefore(query.startTs);
  const end = query.endTs === undefined ? history.size : history.countBefore(query.endTs + 1);
  const count = Math.max(0, end - first);
  const point = (t: number, index: number): object => ({
    t,
    p: view.numbers.price(priceFor(market, outcome, history.priceAt(index))),
  });
  const data: object[] = [];
  const fidelity = query.fidelity ?? count;
  if (count <= fidelity) {
    for (let index = first; index < end; index += 1) data.push(point(history.secondAt(index), index));
  } else {
    const from = history.secondAt(first);
    const span = history.secondAt(end - 1) - from;
    for (let sample = 0; sample < fidelity; sample += 1) {
      const t = fidelity === 1 ? from + span : from + Math.floor((span * sample) / (fidelity - 1));
      data.push(point(t, history.countBefore(t + 1) - 1));
    }
  }
  return { data, tokenId: tokenIdIn(market, outcome) };
}
