import type { PositionChange } from "../../api/position-transaction.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS } from "../../core/chain/contracts.ts";
import type { SettlementFault } from "../../core/chain/settlement-fault.ts";
import { type Command, type CommandOf, isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { sizeText } from "../../core/format.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import type { State } from "../../core/state.ts";
import type { Steps } from "../../core/steps.ts";
import { type Millis, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import type { OrderState } from "../../scenario/language/scenario.ts";

/** Why a session cannot be recorded. */
type RecordingErrorCode = "SESSION_TOO_LONG" | "SESSION_NOT_RECORDABLE";

/** A session that no scenario can express; the message is a sentence for the user. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  readonly code: RecordingErrorCode;

  constructor(code: RecordingErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** One accepted command of a session with what it caused. */
export interface ObservedCommand {
  readonly sequence: number;
  readonly at: Millis;
  readonly command: Command;
  readonly events: readonly DomainEvent[];
  /** The order that it placed as it stood when all that follows at once was done, and its number; null where it placed none. */
  readonly placed: { readonly order: number; readonly look: OrderState } | null;
  /** Whether some order waited for its expiration when the command came. */
  readonly isTimed: boolean;
  /** The settlement faults in force before it. */
  readonly faults: readonly SettlementFault[];
}

/** A session as it happened once more. */
export interface ObservedSession {
  /** Where it began, and what the exchange knew then. */
  readonly start: Millis;
  readonly opening: State;
  readonly commands: readonly ObservedCommand[];
  /** What the exchange knows at its end. */
  readonly end: State;
}

/**
 * Repeats a session in a fresh exchange that stands at its opening, a step for each command, and notes what it caused.
 * @throws RecordingError when the commands are not such a session's.
 */
export function* observeSession(exchange: Exchange, entries: readonly Entry[]): Steps<ObservedSession> {
  const { state: opening, now: start } = exchange.snapshot();
  const commands: ObservedCommand[] = [];
  let isTimed = anyExpires(exchange);
  let { faults } = opening.chain;
  const unwatch = exchange.watch((_sequence, at, events) => {
    const entry = entries[commands.length];
    if (entry === undefined || entry.at !== at) throw astray(entry);
    const { sequence, command } = entry;
    commands.push({
      sequence,
      at,
      command,
      events,
      placed: placedIn(exchange.state, events),
      isTimed,
      faults,
    });
    isTimed = anyExpires(exchange);
    ({ faults } = exchange.state.chain);
  });
  for (const entry of entries) {
    yield;
    // What expires does so on the way.
    exchange.advanceTo(entry.at);
    if (isCausedByTime(entry.command)) continue;
    const next = commands.length;
    if (!exchange.submit(entry.command).ok) throw astray(entry);
    const observed = commands[next];
    if (observed !== undefined)
      commands[next] = { ...observed, placed: placedIn(exchange.state, observed.events) };
  }
  unwatch();
  if (commands.length !== entries.length) throw astray(entries[commands.length]);
  return { start, opening, commands, end: exchange.state };
}

const anyExpires = ({ state }: Exchange): boolean => state.expiries.first() !== 0;

function placedIn(state: State, events: readonly DomainEvent[]): ObservedCommand["placed"] {
  for (const event of events) {
    if (event.kind !== "orderPlaced") continue;
    const { status, matched, size, cancelReason: reason } = state.orders.get(event.order);
    return { order: event.order, look: { status, matched, size, reason } };
  }
  return null;
}

/** What was decided by the rules of an earlier version comes out otherwise in a scenario, which has today's alone. */
const astray = (entry: Entry | undefined): RecordingError =>
  new RecordingError(
    "SESSION_NOT_RECORDABLE",
    entry === undefined
      ? "repeated by the rules of this version, the session does more than it did"
      : `repeated by the rules of this version, the session differs from sequence ${entry.sequence} on: ${entry.command.kind}`,
  );

/**
 * The commands of a session, with each transaction that came before an earlier nonce of its wallet right behind the one that
 * fills the gap: a wallet of a scenario sends in order, and before that no block looks at it.
 */
export function inOrderOfNonces(commands: readonly ObservedCommand[], opening: State): ObservedCommand[] {
  const gaps = new Map<string, Gaps>();
  const ordered: ObservedCommand[] = [];
  for (const observed of commands) {
    const [sent] = observed.events;
    if (sent?.kind !== "transactionSent") {
      ordered.push(observed);
      continue;
    }
    const { from, nonce } = sent.content;
    const own = gaps.get(from) ?? new Gaps(opening, from);
    gaps.set(from, own);
    for (const ready of own.take(nonce, observed))
      ordered.push({ ...ready, at: observed.at, isTimed: observed.isTimed });
  }
  // Nothing comes of those behind a gap that nobody fills.
  const last = commands.at(-1);
  for (const own of gaps.values()) {
    for (const observed of own.left) ordered.push({ ...observed, at: last?.at ?? observed.at });
  }
  return ordered;
}

/** What a wallet has sent ahead of its nonces. */
class Gaps {
  readonly #waiting = new Map<number, ObservedCommand>();
  /** The nonces that were sent before the session and not mined. */
  readonly #before: ReadonlySet<number>;
  #next: number;

  constructor({ chain }: State, from: string) {
    const wallet = chain.wallets.get(from);
    this.#before = new Set(wallet?.pending.keys() ?? []);
    this.#next = wallet?.mined ?? 0;
    this.#skip();
  }

  get left(): Iterable<ObservedCommand> {
    return this.#waiting.values();
  }

  /** The commands whose turn it is now. One of the same nonce takes the place of another. */
  take(nonce: number, observed: ObservedCommand): ObservedCommand[] {
    if (nonce < this.#next) return [observed];
    this.#waiting.set(nonce, observed);
    const ready: ObservedCommand[] = [];
    for (let next = this.#waiting.get(this.#next); next !== undefined; next = this.#waiting.get(this.#next)) {
      ready.push(next);
      this.#waiting.delete(this.#next);
      this.#next += 1;
      this.#skip();
    }
    return ready;
  }

  #skip(): void {
    while (this.#before.has(this.#next)) this.#next += 1;
  }
}

/**
 * A session without the wallets' transactions that no step needs to say, and how many these are. Left out is what
 * changes nothing that a scenario sees: what reverted, was replaced or never came to a block, for it moved nothing (what
 * waits for its first block is written); approvals, for a settlement that failed for want of one is written as failed;
 * transfers of the native currency and gas, for wallets of scenarios have enough; transfers of nothing, or to oneself.
 * @throws RecordingError when one of them moved what no step can move.
 */
export function withoutIdleCalls(session: ObservedSession): {
  commands: readonly ObservedCommand[];
  left: number;
} {
  const moved = new Set<number>();
  for (const observed of session.commands) {
    for (const event of observed.events) {
      if (event.kind !== "callExecuted" || event.isRepeated || event.effect.moves.length === 0) continue;
      refuseOlder(session, observed, event);
      moved.add(event.transaction);
    }
  }
  let left = 0;
  const commands = session.commands.filter((observed) => {
    const { command, events } = observed;
    if (command.kind === "setNativeBalance") left += 1;
    if (command.kind !== "sendTransaction") return true;
    const [sent] = events;
    if (sent?.kind !== "transactionSent") throw new Error("a transaction was sent and is not there");
    const isTold = moved.has(sent.transaction) || isWaiting(session, sent.transaction);
    const isSayable =
      session.end.accountByAddress.has(command.from) && positionIn(session.end, command) !== null;
    if (isTold && isSayable) return true;
    if (moved.has(sent.transaction)) throw unsayable(observed, command);
    left += 1;
    return false;
  });
  return { commands, left };
}

function refuseOlder(
  { opening }: ObservedSession,
  { sequence }: ObservedCommand,
  { transaction }: EventOf<"callExecuted">,
): void {
  if (transaction > opening.chain.transactions.size) return;
  throw new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `at sequence ${sequence} a block carried out what a wallet had sent before the session began, and a scenario begins with nothing pending`,
  );
}

/** Whether a transaction waits at the end for the first block that could have it, with no earlier nonce missing. */
export function isWaiting({ end }: Pick<ObservedSession, "end">, number: number): boolean {
  const { status, oddity, content } = end.chain.transactions.get(number);
  if (status !== "PENDING" || oddity !== null || content?.kind !== "call") return false;
  return content.nonce < nextNonce(end.chain, content.from);
}

/** What a call that is no step does, in words. */
const DEEDS: Readonly<Record<CommandOf<"sendTransaction">["call"]["kind"], string>> = {
  send: "a payment of native currency",
  approve: "an approval",
  transfer: "a transfer of USDC",
  transferFrom: "a transfer of USDC",
  setApprovalForAll: "an approval",
  safeTransfer: "a transfer of shares",
  split: "a split of its own kind",
  merge: "a merge of its own kind",
  redeem: "a redemption of one outcome alone",
  unknown: "a call",
};

const unsayable = (
  { sequence }: ObservedCommand,
  { from, call }: CommandOf<"sendTransaction">,
): RecordingError =>
  new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `sequence ${sequence} is ${DEEDS[call.kind]} by the wallet ${from} on the chain, and no step of a scenario says that; all later balances depend on it`,
  );

/** What a wallet does with its position in a market, by the market's number. */
export interface Position {
  readonly market: number;
  readonly change: PositionChange;
}

/** What a wallet's transaction asks of full sets, as a step of a scenario can say it; null when none can. */
export function positionIn(
  state: State,
  { call }: Pick<CommandOf<"sendTransaction">, "call">,
): Position | null {
  if (call.kind !== "split" && call.kind !== "merge" && call.kind !== "redeem") return null;
  const market = state.marketByConditionId.get(call.condition);
  if (market === undefined || call.parent !== NO_PARENT || call.collateral !== CONTRACTS.collateral)
    return null;
  const sets = call.kind === "redeem" ? call.indexSets : call.partition;
  if (sets.length !== 2 || !["1", "2"].every((set) => sets.includes(set))) return null;
  if (call.kind === "redeem") return { market, change: { kind: call.kind } };
  const shares = Number(call.amount) / TOKEN_UNITS;
  const isSayable = Number.isSafeInteger(shares) && shares > 0;
  return isSayable ? { market, change: { kind: call.kind, size: size(shares) } } : null;
}

/** `split 10`, `merge 10` or `redeem`. */
export const positionText = (change: PositionChange): string =>
  change.kind === "redeem" ? change.kind : `${change.kind} ${sizeText(change.size)}`;
