import type { Order } from "../order.ts";
import type { State } from "../state.ts";
import { booksHoldTheLiveOrders, noBookIsCrossed, queuesAreInOrderOfArrival } from "./book-invariants.ts";
import { blocksHoldWhatWasMined, chainAgreesWithLedger } from "./chain-invariants.ts";
import type { Invariant } from "./judgement.ts";
import {
  collateralIsConserved,
  noBalanceIsNegative,
  reservationsFollowOrders,
  sharesAreBacked,
} from "./ledger-invariants.ts";
import { fillsAddUp, openOrdersAreListed } from "./order-invariants.ts";

/** Judges every invariant over the whole state; its cost grows with the state. */
export function invariants(state: State): Invariant[] {
  const live = liveOrders(state);
  return [
    collateralIsConserved(state),
    sharesAreBacked(state),
    noBalanceIsNegative(state),
    reservationsFollowOrders(state, live),
    booksHoldTheLiveOrders(state, live),
    noBookIsCrossed(state),
    queuesAreInOrderOfArrival(state),
    fillsAddUp(state),
    openOrdersAreListed(state, live),
    chainAgreesWithLedger(state),
    blocksHoldWhatWasMined(state),
  ];
}

function liveOrders({ orders }: State): readonly Order[] {
  const live: Order[] = [];
  for (const order of orders) if (order.status === "LIVE") live.push(order);
  return live;
}

/** The invariants that do not hold. */
export const violations = (state: State): Invariant[] => invariants(state).filter(({ holds }) => !holds);
