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

/** The walk that judges an invariant; `live` are all live orders. */
type Judge = (state: State, live: readonly Order[]) => Invariant | Steps<Invariant>;

/**
 * All of them. `byOrders`: an order can break it while no funds move. `byDocument`: records that agree one with one can
 * break it together.
 */
const INVARIANTS: readonly { judge: Judge; byOrders?: true; byDocument?: true }[] = [
  { judge: collateralIsConserved, byDocument: true },
  { judge: sharesAreBacked, byDocument: true },
  { judge: noBalanceIsNegative, byOrders: true, byDocument: true },
  { judge: reservationsFollowOrders, byOrders: true, byDocument: true },
  { judge: booksHoldTheLiveOrders, byOrders: true, byDocument: true },
  { judge: noBookIsCrossed, byOrders: true, byDocument: true },
  { judge: queuesAreInOrderOfArrival, byOrders: true },
  { judge: fillsAddUp, byDocument: true },
  { judge: openOrdersAreListed, byOrders: true },
  { judge: chainAgreesWithLedger, byDocument: true },
  { judge: blocksHoldWhatWasMined },
];

function* judged(
  state: State,
  those = INVARIANTS,
  known: readonly Order[] | null = null,
): Steps<Invariant[]> {
  const live = known ?? (yield* liveOrders(state));
  const found: Invariant[] = [];
  for (const { judge } of those) {
    const result = judge(state, live);
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

/** Judges every invariant over the whole state, in steps; the cost of all grows with the state. */
export const invariantsInSteps = (state: State): Steps<Invariant[]> => judged(state);

/** Judges every invariant at once. */
export const invariants = (state: State): Invariant[] => finish(judged(state));

/** The invariants that do not hold. */
export const violations = (state: State): Invariant[] => broken(invariants(state));

/** The same of those that can be broken by a document whose records agree one with one; `live` are all live orders. */
export const contradictions = (state: State, live: readonly Order[]): Invariant[] =>
  broken(finish(judged(state, BY_DOCUMENT, live)));

/** The same of those that an order can break while no funds move. */
export const orderViolations = (state: State): Invariant[] => broken(finish(judged(state, BY_ORDERS)));

const BY_DOCUMENT = INVARIANTS.filter(({ byDocument }) => byDocument);
const BY_ORDERS = INVARIANTS.filter(({ byOrders }) => byOrders);
