import type { Building, Chain } from "./chain/chain.ts";
import type { TimedCommand } from "./commands.ts";
import type { State } from "./state.ts";
import { type Millis, millis } from "./units.ts";

/** A command that time alone causes, with the moment it is due. */
export interface Due {
  readonly at: Millis;
  readonly command: TimedCommand;
}

const PRODUCE: TimedCommand = { kind: "produceBlock" };
const SEAL: TimedCommand = { kind: "sealBlock" };

/**
 * What time causes next by a moment, earliest first: a block that is being put together goes on, orders expire before
 * blocks of the same moment are mined, then by order of creation. Null when nothing is due by then.
 */
export function nextDue(state: State, by: Millis): Due | null {
  const { chain } = state;
  if (chain.building !== null) return { at: chain.building.at, command: nextOfBlock(chain) };
  if (chain.asked > 0) return { at: by, command: PRODUCE };
  const expiry = nextExpiry(state);
  const { nextBlockAt } = chain;
  if (expiry !== null && expiry <= by && (nextBlockAt === null || expiry <= nextBlockAt)) {
    return { at: expiry, command: { kind: "expireOrder", order: state.expiries.first() } };
  }
  return nextBlockAt !== null && nextBlockAt <= by ? { at: nextBlockAt, command: PRODUCE } : null;
}

/** When time alone causes something next, or null. */
export function nextDueAt(state: State): Millis | null {
  if (isInBlock(state)) throw new Error("a block is left half done");
  const { nextBlockAt } = state.chain;
  const expiry = nextExpiry(state);
  if (expiry === null || nextBlockAt === null) return expiry ?? nextBlockAt;
  return millis(Math.min(expiry, nextBlockAt));
}

/** Whether a block is being put together, or more of those that were asked for are to follow: nobody may see it so. */
export const isInBlock = ({ chain: { building, asked } }: State): boolean => building !== null || asked > 0;

/** Whether the command before has left something that is to happen at the same moment. */
export const isUnfinished = (state: State, now: Millis): boolean =>
  (state.chain.nextBlockAt !== null && state.chain.nextBlockAt <= now) || isInBlock(state);

function nextExpiry(state: State): Millis | null {
  const order = state.expiries.first();
  if (order === 0) return null;
  const at = state.orders.get(order).expiration;
  if (at === null) throw new Error(`order ${order} waits for an expiration it does not have`);
  return at;
}

/** The next transaction that the block must look at, or its end. */
function nextOfBlock(chain: Chain): TimedCommand {
  const transaction = nextCandidate(chain);
  return transaction === 0 ? SEAL : { kind: "executeTransaction", transaction };
}

/** The first pending transaction behind the cursor that may be looked at, or 0; what waited for the last one goes first. */
function nextCandidate(chain: Chain): number {
  const { building, deferred, firstUnprocessed, transactions } = chain;
  if (building === null) return 0;
  const successor = successorOf(chain, building);
  if (successor !== 0) return successor;
  const isCandidate = (number: number): boolean => {
    const { status, exception } = transactions.get(number);
    return status === "PENDING" && (exception?.notBefore ?? 0) <= building.height;
  };
  for (let index = firstAfter(deferred, building.cursor); index < deferred.length; index += 1) {
    const number = deferred[index] as number;
    if (isCandidate(number)) return number;
  }
  for (
    let number = Math.max(firstUnprocessed, building.cursor + 1);
    number <= transactions.size;
    number += 1
  ) {
    if (isCandidate(number)) return number;
  }
  return 0;
}

/** The call that this block has put off already because its nonce follows that of the call just mined; or 0. */
function successorOf({ transactions, wallets }: Chain, { cursor, height }: Building): number {
  const content = transactions.find(cursor)?.content;
  const wallet = content?.kind === "call" ? wallets.get(content.from) : undefined;
  const next = wallet?.pending.get(wallet.mined) ?? 0;
  const exception = transactions.find(next)?.exception;
  return exception?.hold === "NONCE_GAP" && exception.notBefore > height ? next : 0;
}

/** Where in an ascending list the first number greater than another stands. */
function firstAfter(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}
