import { marketOfToken } from "../../core/market.ts";
import { type Order, remainingOf } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import type { Step } from "./act-steps.ts";
import { bookEntries } from "./expectations.ts";
import type { TouchedMarket } from "./touched-markets.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { map } from "./yaml-text.ts";

/** The orders that rested in some markets when a session began, oldest first. */
export function restingBefore(opening: State, markets: readonly TouchedMarket[]): Order[] {
  const touched = new Set(markets.map(({ number }) => number));
  const resting: Order[] = [];
  for (const order of opening.orders) {
    if (order.status === "LIVE" && touched.has(marketOfToken(order.token))) resting.push(order);
  }
  return resting;
}

/**
 * The steps that bring a scenario's own markets to where a session found them. What is left of each order rests in the
 * order of arrival, so that every queue is the same; the books prove it.
 */
export function openingSteps(
  words: Vocabulary,
  names: ReadonlyMap<number, string>,
  markets: readonly TouchedMarket[],
  resting: readonly Order[],
): Step[] {
  const steps = resting.map((order): Step => {
    const line = words.order(order, remainingOf(order), names.get(order.number));
    return [[words.account(order.account), line]];
  });
  for (const { name, number, before } of markets) {
    if (before?.status === "CLOSED") steps.push([["close", name]]);
    else if (before?.status === "RESOLVED")
      steps.push([["resolve", `${before.winningOutcome}${words.inMarket(number)}`]]);
  }
  if (resting.length === 0) return steps;
  const stood = markets.flatMap(({ before }) => (before === null ? [] : [before]));
  return [...steps, [["expect", map([["book", map(bookEntries(words, stood))]])]]];
}
