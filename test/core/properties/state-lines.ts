import { ASK, BID } from "../../../src/core/book/book.ts";
import { NEWER, NO_SLOT, OLDER } from "../../../src/core/book/order-pool.ts";
import { SettlementFault } from "../../../src/core/chain/chain.ts";
import { TransactionContent } from "../../../src/core/chain/transaction.ts";
import { priceAtPoint, secondOf } from "../../../src/core/market.ts";
import { nextDueAt } from "../../../src/core/schedule.ts";
import type { State } from "../../../src/core/state.ts";
import { canonicalLines } from "../../../src/core/state-document.ts";

/**
 * Returns all data of a state, one line each: its canonical document, queues by slot, lists of orders and fills, the
 * chain by transaction, and the next due moment.
 */
export function stateLines(state: State): string[] {
  const lines = [...canonicalLines(state), `next due at ${nextDueAt(state)}`];
  for (const { number, books, trades, yesTrades } of state.markets) {
    lines.push(`market ${number}: ${[...trades]} of which YES ${[...yesTrades]}`);
    for (const { book, history } of books) {
      for (const point of history) lines.push(`${secondOf(point)}: ${priceAtPoint(point)}`);
      for (const direction of [BID, ASK] as const) {
        book?.depth(direction, (...level) => void lines.push(`level ${level}`));
        book?.queue(direction, (slot) => {
          const { pool } = state;
          lines.push(
            `slot ${slot}: order ${pool.orderIn(slot)} at ${book.tickOf(slot)}, ${pool.openIn(slot)} open`,
          );
        });
      }
    }
  }
  const { pool } = state;
  const orderAt = (slot = NO_SLOT): number => (slot === NO_SLOT ? 0 : pool.orderIn(slot));
  for (const { number, oldestOpen, newestOpen, openCount, fills } of state.accounts) {
    const open = `${openCount} open from ${orderAt(oldestOpen)} to ${orderAt(newestOpen)}`;
    lines.push(`account ${number}: ${open}, fills ${[...fills]}`);
  }
  for (const { number, slot, lastTrade } of state.orders) {
    const [older, newer] = slot === NO_SLOT ? [] : [pool.cells[slot + OLDER], pool.cells[slot + NEWER]];
    lines.push(
      `order ${number}: slot ${slot}, trade ${lastTrade}, between ${orderAt(older)} and ${orderAt(newer)}`,
    );
  }
  for (const { number, takerPrevious, makerPrevious } of state.trades) {
    lines.push(`trade ${number}: after ${takerPrevious} and ${makerPrevious}`);
  }
  const {
    transactions,
    // Not persisted.
    overwritten: _overwritten,
    blocks,
    heights,
    mined,
    digest,
    building,
    wallets: _,
    signed,
    faults,
    ...counters
  } = state.chain;
  for (const { content, ...transaction } of transactions)
    lines.push(JSON.stringify(transaction) + (content && TransactionContent.write(content)));
  for (const block of blocks) lines.push(JSON.stringify(block));
  lines.push(`chain ${[...heights]} of ${[...mined]}, ${digest.words}, ${[...signed]}`);
  lines.push(JSON.stringify({ ...counters, building }), ...faults.map(SettlementFault.write));
  return lines;
}

/** Returns the indexes of a state, and the fills by token. */
export const indexesOf = (state: State): unknown[] => [
  [state.accountByAddress, state.tokenById, state.marketByConditionId].map((index) => [...index]),
  [state.eventBySlug, state.marketBySlug].map((index) => [...index]),
  [...state.accounts].map(({ holdings }) =>
    [...holdings]
      .sort(([a], [b]) => a - b)
      .map(([market, { yesFills, noFills }]) => [market, yesFills && [...yesFills], noFills && [...noFills]]),
  ),
];
