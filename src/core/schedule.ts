import type { Building, Chain } from "./chain/chain.ts";
import type { Command, Stamped, TimedCommand } from "./commands.ts";
import type { State } from "./state.ts";
import { countAtMost } from "./table.ts";
import { type Millis, millis } from "./units.ts";

/** Command that time alone causes, with the moment it is due. */
export type Due = Stamped<TimedCommand>;

const PRODUCE: TimedCommand = { kind: "produceBlock" };
const SEAL: TimedCommand = { kind: "sealBlock" };

/**
 * Returns the next command due by a moment; null if none is. A block being assembled continues first, then commands
 * follow in order of time; orders expire before a block of the same moment is mined, in order of creation.
 */
export function nextDue(state: State, by: Millis): Due | null {
  const { chain } = state;
  const { building } = chain;
  if (building !== null) {
    const transaction = successorOf(chain, building) || nextCandidate(chain, building);
    const command: TimedCommand = transaction === 0 ? SEAL : { kind: "executeTransaction", transaction };
    return { at: building.at, command };
  }
  if (chain.asked > 0) return { at: by, command: PRODUCE };
  const expiry = nextExpiry(state);
  const { nextBlockAt } = chain;
  if (expiry !== null && expiry <= by && (nextBlockAt === null || expiry <= nextBlockAt)) {
    return { at: expiry, command: { kind: "expireOrder", order: state.expiries.first() } };
  }
  return nextBlockAt !== null && nextBlockAt <= by ? { at: nextBlockAt, command: PRODUCE } : null;
}

/** Returns when the next command is due; null if none is. @throws Error while a block is being assembled. */
export function nextDueAt(state: State): Millis | null {
  if (isInBlock(state)) throw new Error("a block is incomplete");
  const { nextBlockAt } = state.chain;
  const expiry = nextExpiry(state);
  if (expiry === null || nextBlockAt === null) return expiry ?? nextBlockAt;
  return millis(Math.min(expiry, nextBlockAt));
}

/** Whether a block is being assembled or requested blocks remain to be mined; such a state must not be exposed. */
export const isInBlock = ({ chain: { building, asked } }: State): boolean => building !== null || asked > 0;

/** Whether the previous command made something due at the same moment. */
export const isUnfinished = (state: State, now: Millis): boolean =>
  (state.chain.nextBlockAt !== null && state.chain.nextBlockAt <= now) || isInBlock(state);

function nextExpiry(state: State): Millis | null {
  const order = state.expiries.first();
  if (order === 0) return null;
  const at = state.orders.get(order).expiration;
  if (at === null) throw new Error(`order ${order} in the expiry queue has no expiration`);
  return at;
}

/** Returns the first executable pending transaction after the cursor, or 0. */
function nextCandidate({ deferred, firstUnprocessed, transactions }: Chain, building: Building): number {
  const isCandidate = (number: number): boolean => {
    const { status, exception } = transactions.get(number);
    return status === "PENDING" && (exception?.notBefore ?? 0) <= building.height;
  };
  for (let index = countAtMost(deferred, building.cursor); index < deferred.length; index += 1) {
    const number = deferred[index] as number;
    if (isCandidate(number)) return number;
  }
  const first = Math.max(firstUnprocessed, building.cursor + 1);
  for (let number = first; number <= transactions.size; number += 1) if (isCandidate(number)) return number;
  return 0;
}

/** Returns the call that this block deferred because its nonce follows that of the call just mined, or 0; it goes first. */
function successorOf({ transactions, wallets }: Chain, { cursor, height }: Building): number {
  const content = transactions.find(cursor)?.content;
  const wallet = content?.kind === "call" ? wallets.get(content.from) : undefined;
  const next = wallet?.pending.get(wallet.mined) ?? 0;
  const exception = transactions.find(next)?.exception;
  return exception?.hold === "NONCE_GAP" && exception.notBefore > height ? next : 0;
}

/** Agents that submit commands as time passes, such as bots. The rules apply to their commands as to any other. */
export interface Agents {
  /** Returns the next moment after `moment` at which an agent acts; null if none will. */
  nextAfter(moment: Millis): Millis | null;
  /** Yields the commands of the moment returned last; each is made after the one before has been decided. */
  act(): Iterable<Command>;
}
