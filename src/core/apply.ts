import type { ChainEvent, DomainEvent } from "./events.ts";
import {
  issueCollateral,
  issueSets,
  mintGrant,
  noteDerivation,
  openAccount,
  raiseGrant,
} from "./rules/accounts.ts";
import { endOrder, openOrder, restOrder, settleTrade } from "./rules/apply-trading.ts";
import { askBlocks, mineBlocks, openBlock, reorganize, sealBlock } from "./rules/blocks.ts";
import { callExecuted, callReverted, setNativeBalance } from "./rules/calls.ts";
import { addEvent, addMarket, endMarket } from "./rules/markets.ts";
import {
  endFault,
  failSettlement,
  holdTransaction,
  loseSettlement,
  mineTransaction,
  raiseFees,
  setFault,
} from "./rules/settlement.ts";
import { takeIn } from "./rules/transactions.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";
import { unreachable } from "./unreachable.ts";

/** Writes what has happened into the state. Never refuses: what cannot be applied is a defect and throws. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  switch (event.kind) {
    case "orderPlaced":
      openOrder(state, event, at);
      break;
    case "orderTraded":
      settleTrade(state, event, at);
      break;
    case "orderRested":
      restOrder(state, event, at);
      break;
    case "orderCanceled":
    case "orderExpired":
      endOrder(state, event, at);
      break;
    case "grantMinted":
      mintGrant(state, event, at);
      break;
    case "accountOpened":
      openAccount(state, event);
      break;
    case "collateralIssued":
      issueCollateral(state, event, at);
      break;
    case "setsIssued":
      issueSets(state, event, at);
      break;
    case "grantRaised":
      raiseGrant(state, event);
      break;
    case "credentialsDerived":
      noteDerivation(state, event);
      break;
    case "eventCreated":
      addEvent(state, event, at);
      break;
    case "marketCreated":
      addMarket(state, event, at);
      break;
    case "marketClosed":
    case "marketResolved":
      endMarket(state, event, at);
      break;
    default:
      applyChainEvent(state, event, at);
  }
}

/** Writes what has happened on the settlement chain into the state. */
function applyChainEvent(state: State, event: ChainEvent, at: Millis): void {
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
      raiseFees(state, event, at);
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
      callExecuted(state, event);
      break;
    case "callReverted":
      callReverted(state, event, at);
      break;
    default:
      throw unreachable(event);
  }
}
