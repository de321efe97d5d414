import { baseFeeOf, type Chain, confirmationsOf, headOf, isOrderly } from "../../chain/chain.ts";
import type { MineBlocks, ReorganizeChain } from "../../chain/chain-commands.ts";
import { accepted, type Decision, refused } from "../../decision.ts";
import type { DomainEvent } from "../../events.ts";
import type { State } from "../../state.ts";

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

/** Replaces the latest blocks, as long as none of them is final. */
export function reorganizeChain({ chain, config }: State, { depth }: ReorganizeChain): Decision {
  const most = Math.min(confirmationsOf(config.settlement), headOf(chain));
  if (depth > most) return refused({ code: "REORGANIZATION_TOO_DEEP", depth, most });
  return accepted([{ kind: "chainReorganized", depth }]);
}
