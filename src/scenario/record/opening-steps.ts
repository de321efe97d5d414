import { baseFeeOf, confirmationsOf, QUIET_BASE_FEE } from "../../core/chain/chain.ts";
import { CERTAIN } from "../../core/chain/settlement-fault.ts";
import { marketOfToken } from "../../core/market.ts";
import { type Order, remainingOf } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { bookEntries } from "./expectations.ts";
import { faultStep, sayableTerms } from "./fault-step.ts";
import type { ObservedSession } from "./observed-session.ts";
import type { Script } from "./script.ts";
import type { ToldSession } from "./told-session.ts";
import type { TouchedMarket } from "./touched-markets.ts";
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
export function tellOpening(script: Script, { session, words, names, markets }: ToldSession): void {
  const { twin } = script;
  const resting = restingBefore(session.opening, markets);
  for (const order of resting) {
    const left = remainingOf(order);
    const account = words.account(order.account);
    const attempt = twin.place(account, order, words.market(marketOfToken(order.token)), left);
    script.done(0, attempt, [account, words.order(order, left, names.get(order.number))]);
  }
  for (const { name, number, before } of markets) {
    const market = twin.marketNumber(name);
    if (before?.status === "CLOSED") {
      script.done(0, twin.submit({ kind: "closeMarket", market }), ["close", name]);
    } else if (before?.status === "RESOLVED" && before.winningOutcome !== null) {
      const { winningOutcome } = before;
      const attempt = twin.submit({ kind: "resolveMarket", market, winningOutcome });
      script.done(0, attempt, ["resolve", `${winningOutcome}${words.inMarket(number)}`]);
    }
  }
  tellChain(script, session);
  if (resting.length === 0) return;
  const stood = markets.flatMap(({ before }) => (before === null ? [] : [before]));
  script.say(["expect", map([["book", map(bookEntries(words, stood))]])]);
}

/** What has been reported is final, there are blocks for a reorganization to replace, and the base fee is what it was. */
function tellChain(script: Script, { opening, acts }: ObservedSession): void {
  const { twin, state } = script;
  const most = confirmationsOf(opening.config.settlement);
  const isReplaced = acts.some(({ command }) => command.kind === "reorganizeChain");
  const count = most === 0 ? 0 : state.chain.pending > 0 ? most + 1 : isReplaced ? most : 0;
  if (count > 0) script.done(0, twin.submit({ kind: "mineBlocks", count }), ["mine", String(count)]);
  const baseFee = baseFeeOf(opening.chain);
  if (baseFee === QUIET_BASE_FEE) return;
  const spike = sayableTerms({
    fault: "gasSpike",
    probability: CERTAIN,
    times: null,
    blocks: 0,
    baseFee,
    reason: null,
  });
  script.done(0, twin.submit({ kind: "setSettlementFault", ...spike }), ...faultStep(spike));
}
