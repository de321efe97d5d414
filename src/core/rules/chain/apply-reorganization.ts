import { baseFeeOf, headOf, minedAt } from "../../chain/chain.ts";
import type { ChainReorganized } from "../../chain/chain-events.ts";
import { supplyChangesOf } from "../../chain/moves.ts";
import { awaitsBlock, type CallContent, type Transaction } from "../../chain/transaction.ts";
import type { State } from "../../state.ts";
import type { Millis } from "../../units.ts";
import { addBlock, beginBlock } from "./apply-blocks.ts";
import { undoCall } from "./apply-calls.ts";
import { settleMatch } from "./apply-inclusion.ts";
import { awaitBlock, oddityOf } from "./apply-transactions.ts";
import { addPendingMoves } from "./balances.ts";
import { changeSupply } from "./supply.ts";

/**
 * Puts empty blocks in the place of the latest ones. What those held is pending again, in its old order, and stays in
 * the ledger: the next block has it, unless something is wrong with it by then.
 */
export function reorganize(state: State, { depth }: ChainReorganized, at: Millis): void {
  const { chain, config } = state;
  const head = headOf(chain);
  const stays = head - depth;
  const returned: number[] = [];
  for (let height = head; height > stays; height -= 1) {
    for (const transaction of minedAt(chain, height).reverse()) {
      putBack(state, transaction);
      returned.push(transaction.number);
    }
  }
  const pending = returned.filter((number) => chain.transactions.get(number).status === "PENDING");
  chain.held = [...chain.held, ...pending].sort((a, b) => a - b);
  chain.reorganizations += 1;
  chain.digest.mix(chain.reorganizations);
  for (let height = stays + 1; height <= head; height += 1) {
    const parent = chain.heights.get(height);
    chain.heights.replace(
      height + 1,
      addBlock(chain, beginBlock(chain, height, baseFeeOf(chain), at), parent),
    );
  }
  if (chain.lastFilled !== null) chain.lastFilled = Math.min(chain.lastFilled, stays);
  if (pending.length > 0) awaitBlock(chain, config, at);
}

/** Takes a transaction out of its block. A settlement that had failed there has failed for good. */
function putBack(state: State, transaction: Transaction): void {
  const { content } = transaction;
  if (content === null && transaction.status === "REVERTED") {
    transaction.status = "FAILED";
  } else {
    if (content === null) settleMatch(state, transaction, -1);
    if (content?.kind === "call") putBackCall(state, transaction, content);
    transaction.status = "PENDING";
    if (awaitsBlock(transaction)) {
      state.chain.pending += 1;
      const oddity = oddityOf(transaction);
      oddity.hold = "REORGANIZED";
      oddity.notBefore = 0;
    }
  }
  transaction.block = 0;
  transaction.place = 0;
  transaction.logsBefore = 0;
  transaction.gasBefore = 0;
}

function putBackCall(state: State, transaction: Transaction, content: CallContent): void {
  const { chain, markets } = state;
  const oddity = oddityOf(transaction);
  undoCall(chain, transaction, content);
  oddity.reason = null;
  oddity.endedAt = null;
  chain.pendingCalls += 1;
  if (oddity.effect === null) return;
  addPendingMoves(state, oddity.effect.moves, 1);
  for (const change of supplyChangesOf(state, transaction))
    changeSupply(markets.get(change.market).onChain, change, -1);
}
