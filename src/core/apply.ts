import type { DomainEvent, EventOf } from "./events.ts";
import { accountWrites } from "./rules/accounts.ts";
import { applyTrade, endOrder, openOrder, restOrder } from "./rules/apply-trading.ts";
import { mineBlocks, openBlock, reorganize, sealBlock } from "./rules/blocks.ts";
import { callExecuted, callReverted, takeCallBack, takeIn } from "./rules/calls.ts";
import { marketWrites } from "./rules/markets.ts";
import {
  endFault,
  failSettlement,
  holdTransaction,
  loseSettlement,
  mineTransaction,
  raiseFees,
  setFault,
} from "./rules/settlement.ts";
import { steeringWrites } from "./rules/steering.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

type Write<Kind extends DomainEvent["kind"]> = (state: State, event: EventOf<Kind>, at: Millis) => void;

const WRITES: { readonly [Kind in DomainEvent["kind"]]: Write<Kind> } = {
  ...marketWrites,
  ...accountWrites,
  ...steeringWrites,
  orderPlaced: openOrder,
  orderTraded: applyTrade,
  orderRested: restOrder,
  orderCanceled: endOrder,
  orderExpired: endOrder,
  transactionSent: takeIn,
  blocksAsked: ({ chain }, { count }) => {
    chain.asked += count;
  },
  blocksMined: mineBlocks,
  blockOpened: openBlock,
  blockSealed: sealBlock,
  transactionMined: mineTransaction,
  callExecuted,
  callReverted,
  callTakenBack: takeCallBack,
  transactionHeld: holdTransaction,
  settlementLost: loseSettlement,
  settlementFailed: failSettlement,
  chainReorganized: reorganize,
  settlementFaultSet: setFault,
  settlementFaultEnded: endFault,
  feesBumped: raiseFees,
};

/** Writes what has happened into the state. Never refuses: what cannot be applied is a defect and throws. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  const write = WRITES[event.kind] as Write<DomainEvent["kind"]>;
  write(state, event, at);
}
