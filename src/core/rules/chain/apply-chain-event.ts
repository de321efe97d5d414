import type { ChainEvent } from "../../chain/chain-events.ts";
import type { State } from "../../state.ts";
import type { Millis } from "../../units.ts";
import { unreachable } from "../../unreachable.ts";
import { askBlocks, mineBlocks, openBlock, sealBlock } from "./apply-blocks.ts";
import { setNativeBalance } from "./apply-calls.ts";
import { bumpFees, endFault, setFault } from "./apply-faults.ts";
import {
  executeCall,
  failSettlement,
  holdTransaction,
  loseSettlement,
  mineTransaction,
  revertCall,
} from "./apply-outcomes.ts";
import { reorganize } from "./apply-reorganization.ts";
import { takeIn } from "./apply-transactions.ts";

/** Writes what has happened on the settlement chain into the state. */
export function applyChainEvent(state: State, event: ChainEvent, at: Millis): void {
  switch (event.kind) {
    case "blocksMined":
      mineBlocks(state, event, at);
      break;
    case "transactionSent":
      takeIn(state, event, at);
      break;
    case "blocksAsked":
      askBlocks(state, event);
      break;
    case "blockOpened":
      openBlock(state, event, at);
      break;
    case "blockSealed":
      sealBlock(state, event, at);
      break;
    case "chainReorganized":
      reorganize(state, event, at);
      break;
    case "settlementFaultSet":
      setFault(state, event);
      break;
    case "settlementFaultEnded":
      endFault(state, event, at);
      break;
    case "feesBumped":
      bumpFees(state, event, at);
      break;
    case "nativeBalanceSet":
      setNativeBalance(state, event);
      break;
    default:
      applyOutcome(state, event, at);
  }
}

/** What became of a transaction. */
type Outcome = Extract<ChainEvent, { readonly transaction: number }>;

function applyOutcome(
  state: State,
  event: Exclude<Outcome, { readonly kind: "transactionSent" }>,
  at: Millis,
): void {
  switch (event.kind) {
    case "transactionMined":
      mineTransaction(state, event);
      break;
    case "transactionHeld":
      holdTransaction(state, event);
      break;
    case "settlementLost":
      loseSettlement(state, event, at);
      break;
    case "settlementFailed":
      failSettlement(state, event, at);
      break;
    case "callExecuted":
      executeCall(state, event);
      break;
    case "callReverted":
      revertCall(state, event, at);
      break;
    default:
      throw unreachable(event);
  }
}
