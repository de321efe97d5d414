import { baseFeeOf, type Chain, confirmationsOf, headOf, isOrderly, minedAt } from "../../chain/chain.ts";
import type { MineBlocks, ReorganizeChain } from "../../chain/chain-commands.ts";
import { movesOf } from "../../chain/moves.ts";
import { awaitsBlock } from "../../chain/transaction.ts";
import { accepted, type Decision, refused } from "../../decision.ts";
import type { DomainEvent } from "../../events.ts";
import type { State } from "../../state.ts";
import { Unwinding } from "./unwind.ts";

/** Lets blocks be mined at this moment, whatever the mode: the schedule does the rest. */
export const askForBlocks = (command: MineBlocks): Decision =>
  accepted([{ kind: "blocksAsked", count: command.count }]);

/**
 * Adds the block that settles what a command has sent, when blocks are mined at once and nothing is out of the ordinary;
 * else the schedule sees to it. `last` is the number that the latest transaction will have.
 */
export function settleAtOnce({ chain, config }: State, last: number, events: DomainEvent[]): void {
  if (config.settlement !== "instant" || !isOrderly(chain)) return;
  events.push(blockOf(chain, last, 0));
}

const blockOf = (chain: Chain, lastTransaction: number, empty: number): DomainEvent => ({
  kind: "blocksMined",
  height: headOf(chain) + 1,
  lastTransaction,
  empty,
});

/** The block that is due: with all that is pending when nothing is out of the ordinary, else begun, to be put together. */
export function produceBlock(state: State): Decision {
  const { chain } = state;
  return accepted([
    isOrderly(chain)
      ? blockOf(chain, chain.transactions.size, Math.max(0, chain.asked - 1))
      : { kind: "blockOpened", height: headOf(chain) + 1, baseFee: baseFeeOf(chain) },
  ]);
}

/** Ends the block that is being put together. */
export function endBlock({ chain }: State): Decision {
  if (chain.building === null) throw new Error("no block is being put together");
  return accepted([{ kind: "blockSealed", height: chain.building.height }]);
}

/**
 * Replaces the latest blocks, as long as none of them is final. Where only what is mined can be spent, an order that was
 * to be paid with what they brought has nothing to be paid with.
 */
export function reorganizeChain(state: State, { depth }: ReorganizeChain): Decision {
  const { chain, config } = state;
  const most = Math.min(confirmationsOf(config.settlement), headOf(chain));
  if (depth > most) return refused({ code: "REORGANIZATION_TOO_DEEP", depth, most });
  const unwinding = new Unwinding(state);
  for (let height = headOf(chain) - depth + 1; height <= headOf(chain); height += 1) {
    for (const transaction of minedAt(chain, height)) {
      if (transaction.status === "MINED" && awaitsBlock(transaction)) {
        unwinding.expectAgain(movesOf(state, transaction));
      }
    }
  }
  return accepted([...unwinding.events(), { kind: "chainReorganized", depth }]);
}
