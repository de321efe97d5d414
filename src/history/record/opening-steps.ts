import { baseFeeOf, CERTAIN, confirmationsOf, DEFAULT_BASE_FEE } from "../../core/chain/chain.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import { type Order, remainingOf, reservationOf } from "../../core/order.ts";
import { closingCommandOf } from "../../core/rules/markets.ts";
import type { State } from "../../core/state.ts";
import { map } from "../scenario-text.ts";
import type { Trace } from "../trace.ts";
import { Funds, type TouchedMarket } from "../vocabulary.ts";
import { bookEntries } from "./expectations.ts";
import type { Script } from "./script.ts";

/**
 * Returns the funds in a scenario's header, by account. An actor has its balances at the start of the session and what
 * the faucet gave it later; another owner of a resting order has what its orders reserve.
 */
export function startingFunds(
  { opening, commands }: Trace,
  markets: readonly TouchedMarket[],
  actors: readonly number[],
  resting: readonly Order[],
): Map<number, Funds> {
  const funds = new Map<number, Funds>();
  for (const account of actors) funds.set(account, balancesOf(opening, account, markets));
  for (const { command, events } of commands) {
    for (const event of events) {
      if (event.kind === "collateralIssued" && command.kind === "deriveCredentials") {
        funds.get(event.account)?.add(0, event.amount);
      } else if (event.kind === "grantMinted" && raisedIn(command, events).length === 0) {
        funds.get(event.account)?.add(tokenOf(event.market, "YES"), event.size);
        funds.get(event.account)?.add(tokenOf(event.market, "NO"), event.size);
      }
    }
  }
  const isActor = new Set(actors);
  for (const order of [...resting].sort((a, b) => a.account - b.account)) {
    if (isActor.has(order.account)) continue;
    const reserved = funds.get(order.account) ?? new Funds();
    funds.set(order.account, reserved);
    const { feeRateBps } = opening.markets.get(marketOfToken(order.token));
    const token = order.side === "BUY" ? 0 : order.token;
    reserved.add(token, reservationOf(order, remainingOf(order), feeRateBps));
  }
  return funds;
}

function balancesOf(state: State, number: number, markets: readonly TouchedMarket[]): Funds {
  const funds = new Funds();
  const account = state.accounts.find(number);
  funds.add(0, account?.collateral.balance ?? 0);
  for (const { number: market } of markets) {
    const holding = account?.holdings.get(market);
    funds.add(tokenOf(market, "YES"), holding?.yes.balance ?? 0);
    funds.add(tokenOf(market, "NO"), holding?.no.balance ?? 0);
  }
  return funds;
}

/** Returns the grants minted because a funding raised them. Steps give them, not the header. */
export const raisedIn = (command: Command, events: readonly DomainEvent[]): EventOf<"grantMinted">[] =>
  command.kind === "fundAccount" && command.everyMarket > 0
    ? events.filter((event) => event.kind === "grantMinted")
    : [];

/** Returns the orders that rested in some markets when a session began, oldest first. */
export function restingBefore(opening: State, markets: readonly TouchedMarket[]): Order[] {
  const touched = new Set(markets.map(({ number }) => number));
  return [...opening.orders].filter(
    ({ status, token }) => status === "LIVE" && touched.has(marketOfToken(token)),
  );
}

/**
 * Writes the steps that bring a scenario's markets to their state at the start of the session. Remainders of orders are
 * placed in the order of arrival, so that every queue is the same; an expectation checks the books.
 */
export function writeOpening(script: Script): void {
  const { session, words, names, markets } = script.described;
  const resting = restingBefore(session.opening, markets);
  for (const order of resting) {
    const text = words.order({ ...order, size: remainingOf(order) }, order.token, names.get(order.number));
    script.rest(order, [[words.account(order.account), text]]);
  }
  for (const { number, before } of markets) {
    const command = before === null ? null : closingCommandOf(before);
    if (command === null) continue;
    script.submit({ ...command, market: script.markets.get(number) ?? 0 }, 0, [words.oneStep(command)]);
  }
  writeChain(script, session);
  if (resting.length === 0) return;
  const before = markets.flatMap((market) => market.before ?? []);
  script.addStep(["expect", map([["book", map(bookEntries(words, before))]])]);
}

/** Mines until settlements are final and a later reorganization has blocks to replace, and restores the base fee. */
function writeChain(script: Script, { opening, commands }: Trace): void {
  const confirmations = confirmationsOf(opening.config.settlement);
  const isReorganized = commands.some(({ command }) => command.kind === "reorganizeChain");
  const needed = script.state.chain.pending > 0 ? confirmations + 1 : isReorganized ? confirmations : 0;
  const count = confirmations === 0 ? 0 : needed;
  if (count > 0) script.submit({ kind: "mineBlocks", count }, 0, [["mine", String(count)]]);
  const baseFee = baseFeeOf(opening.chain);
  if (baseFee === DEFAULT_BASE_FEE) return;
  script.fault({ fault: "gasSpike", probability: CERTAIN, times: null, blocks: 0, baseFee, reason: null });
}
