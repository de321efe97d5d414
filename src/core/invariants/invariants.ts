import type { Order } from "../order.ts";
import type { State } from "../state.ts";
import { finish, StepCounter, type Steps } from "../steps.ts";
import {
  booksHoldTheLiveOrders,
  fillsAddUp,
  noBookIsCrossed,
  openOrdersAreListed,
  queuesAreInOrderOfArrival,
} from "./books.ts";
import type { Invariant } from "./check.ts";
import {
  blocksHoldWhatWasMined,
  chainAgreesWithLedger,
  collateralIsConserved,
  noBalanceIsNegative,
  reservationsFollowOrders,
  sharesAreBacked,
} from "./funds.ts";

/** Judges every invariant over the whole state, in steps; the cost of all grows with the state. */
export function* invariantsInSteps(state: State): Steps<Invariant[]> {
  const live = yield* liveOrders(state);
  return [
    collateralIsConserved(state),
    sharesAreBacked(state),
    noBalanceIsNegative(state),
    yield* reservationsFollowOrders(state, live),
    yield* booksHoldTheLiveOrders(state, live),
    noBookIsCrossed(state),
    yield* queuesAreInOrderOfArrival(state),
    yield* fillsAddUp(state),
    yield* openOrdersAreListed(state, live),
    yield* chainAgreesWithLedger(state),
    yield* blocksHoldWhatWasMined(state),
  ];
}

/** Judges those that an order can break while no funds move. */
function* orderInvariantsInSteps(state: State): Steps<Invariant[]> {
  const live = yield* liveOrders(state);
  return [
    noBalanceIsNegative(state),
    yield* reservationsFollowOrders(state, live),
    yield* booksHoldTheLiveOrders(state, live),
    noBookIsCrossed(state),
    yield* queuesAreInOrderOfArrival(state),
    yield* openOrdersAreListed(state, live),
  ];
}

/** Judges those of which many records are part. */
function* recordInvariantsInSteps(state: State, live: readonly Order[]): Steps<Invariant[]> {
  return [
    collateralIsConserved(state),
    sharesAreBacked(state),
    noBalanceIsNegative(state),
    yield* reservationsFollowOrders(state, live),
    yield* booksHoldTheLiveOrders(state, live),
    noBookIsCrossed(state),
    yield* chainAgreesWithLedger(state),
  ];
}

function* liveOrders({ orders }: State): Steps<Order[]> {
  const live: Order[] = [];
  const counter = new StepCounter();
  for (let number = 1; number <= orders.size; number += 1) {
    if (counter.isStep()) yield;
    const order = orders.get(number);
    if (order.status === "LIVE") live.push(order);
  }
  return live;
}

/** Judges every invariant at once. */
export const invariants = (state: State): Invariant[] => finish(invariantsInSteps(state));

/** The invariants that do not hold. */
export const violations = (state: State): Invariant[] => invariants(state).filter(({ holds }) => !holds);

/** The same of those that can be broken by a document whose records agree one with one; `live` are all live orders. */
export const contradictions = (state: State, live: readonly Order[]): Invariant[] =>
  finish(recordInvariantsInSteps(state, live)).filter(({ holds }) => !holds);

/** The same of those that an order can break while no funds move. */
export const orderViolations = (state: State): Invariant[] =>
  finish(orderInvariantsInSteps(state)).filter(({ holds }) => !holds);
