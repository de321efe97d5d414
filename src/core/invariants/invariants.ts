import type { Order } from "../order.ts";
import type { State } from "../state.ts";
import { runSteps, StepCounter, type Steps } from "../steps.ts";
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

/** Checks an invariant; `live` are all live orders. */
type Check = (state: State, live: readonly Order[]) => Invariant | Steps<Invariant>;

/**
 * All invariants. `byOrders`: an order can break it without moving funds. `byDocument`: records that are consistent in
 * pairs can break it together.
 */
const INVARIANTS: readonly { check: Check; byOrders?: true; byDocument?: true }[] = [
  { check: collateralIsConserved, byDocument: true },
  { check: sharesAreBacked, byDocument: true },
  { check: noBalanceIsNegative, byOrders: true, byDocument: true },
  { check: reservationsFollowOrders, byOrders: true, byDocument: true },
  { check: booksHoldTheLiveOrders, byOrders: true, byDocument: true },
  { check: noBookIsCrossed, byOrders: true, byDocument: true },
  { check: queuesAreInOrderOfArrival, byOrders: true },
  { check: fillsAddUp, byDocument: true },
  { check: openOrdersAreListed, byOrders: true },
  { check: chainAgreesWithLedger, byDocument: true },
  { check: blocksHoldWhatWasMined },
];

function* checkAll(
  state: State,
  selected = INVARIANTS,
  known: readonly Order[] | null = null,
): Steps<Invariant[]> {
  const live = known ?? (yield* liveOrders(state));
  const found: Invariant[] = [];
  for (const { check } of selected) {
    const result = check(state, live);
    found.push("next" in result ? yield* result : result);
  }
  return found;
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

const broken = (found: readonly Invariant[]): Invariant[] => found.filter(({ holds }) => !holds);

/** Checks all invariants in steps; the cost grows with the state. */
export const invariantsInSteps = (state: State): Steps<Invariant[]> => checkAll(state);

/** Checks all invariants synchronously. */
export const invariants = (state: State): Invariant[] => runSteps(checkAll(state));

/** Returns the broken invariants. */
export const violations = (state: State): Invariant[] => broken(invariants(state));

/** Returns the broken invariants among those that a document can break; `live` are all live orders. */
export const contradictions = (state: State, live: readonly Order[]): Invariant[] =>
  broken(runSteps(checkAll(state, BY_DOCUMENT, live)));

/** Returns the broken invariants among those that an order can break without moving funds. */
export const orderViolations = (state: State): Invariant[] => broken(runSteps(checkAll(state, BY_ORDERS)));

const BY_DOCUMENT = INVARIANTS.filter(({ byDocument }) => byDocument);
const BY_ORDERS = INVARIANTS.filter(({ byOrders }) => byOrders);
