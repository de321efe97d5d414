import type { CommandOf } from "../../core/commands.ts";
import type { EventOf } from "../../core/events.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import type { State } from "../../core/state.ts";
import { positionIn, type Trace, type TracedCommand } from "../trace.ts";

/** A session that no scenario can express; the message is a sentence for the user. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  readonly code: "SESSION_TOO_LONG" | "SESSION_NOT_RECORDABLE";

  constructor(message: string, code: RecordingError["code"] = "SESSION_NOT_RECORDABLE") {
    super(message);
    this.code = code;
  }
}

/**
 * The commands of a session, with each transaction that came before an earlier nonce of its wallet right behind the one that
 * fills the gap: a wallet of a scenario sends in order, and before that no block looks at it.
 */
export function inOrderOfNonces(
  commands: readonly TracedCommand[],
  { chain: { wallets } }: State,
): TracedCommand[] {
  const ordered: TracedCommand[] = [];
  /** What each wallet has sent ahead, by nonce, and the nonce that is next; one of the same nonce takes the place of another. */
  const ahead = new Map<string, { waiting: Map<number, TracedCommand>; next: number }>();
  for (const traced of commands) {
    const [sent] = traced.events;
    if (sent?.kind !== "transactionSent") {
      ordered.push(traced);
      continue;
    }
    const { from, nonce } = sent.content;
    const wallet = wallets.get(from);
    const own = ahead.get(from) ?? { waiting: new Map(), next: wallet?.mined ?? 0 };
    ahead.set(from, own);
    // What was sent before the session and is not mined has its nonce.
    while (wallet?.pending.has(own.next)) own.next += 1;
    if (nonce < own.next) ordered.push(traced);
    else own.waiting.set(nonce, traced);
    for (let ready = own.waiting.get(own.next); ready !== undefined; ready = own.waiting.get(own.next)) {
      ordered.push({ ...ready, at: traced.at, before: { ...ready.before, isTimed: traced.before.isTimed } });
      own.waiting.delete(own.next);
      do own.next += 1;
      while (wallet?.pending.has(own.next));
    }
  }
  // Nothing comes of those behind a gap that nobody fills.
  const last = commands.at(-1);
  for (const { waiting } of ahead.values()) {
    for (const traced of waiting.values()) ordered.push({ ...traced, at: last?.at ?? traced.at });
  }
  return ordered;
}

/**
 * A session without the wallets' transactions that no step needs to say, and how many these are. Left out is what
 * changes nothing that a scenario sees: what reverted, was replaced or never came to a block, for it moved nothing (what
 * waits for its first block is written); approvals, for a settlement that failed for want of one is written as failed;
 * transfers of the native currency and gas, for wallets of scenarios have enough; transfers of nothing, or to oneself.
 * @throws RecordingError when one of them moved what no step can move.
 */
export function withoutIdleCalls(session: Trace): {
  commands: readonly TracedCommand[];
  left: number;
} {
  const moved = new Set<number>();
  for (const traced of session.commands) {
    for (const event of traced.events) {
      if (event.kind !== "callExecuted" || event.isRepeated || event.effect.moves.length === 0) continue;
      refuseOlder(session, traced, event);
      moved.add(event.transaction);
    }
  }
  let left = 0;
  const commands = session.commands.filter((traced) => {
    const { command, events } = traced;
    if (command.kind === "setNativeBalance") left += 1;
    if (command.kind !== "sendTransaction") return true;
    const [sent] = events;
    if (sent?.kind !== "transactionSent") throw new Error("a transaction was sent and is not there");
    const isTold = moved.has(sent.transaction) || isWaiting(session, sent.transaction);
    const isSayable =
      session.end.accountByAddress.has(command.from) && positionIn(session.end, command) !== null;
    if (isTold && isSayable) return true;
    if (moved.has(sent.transaction)) throw unsayable(traced, command);
    left += 1;
    return false;
  });
  return { commands, left };
}

function refuseOlder(
  { opening }: Trace,
  { sequence }: TracedCommand,
  { transaction }: EventOf<"callExecuted">,
): void {
  if (transaction > opening.chain.transactions.size) return;
  throw new RecordingError(
    `at sequence ${sequence} a block carried out what a wallet had sent before the session began, and a scenario begins with nothing pending`,
  );
}

/** Whether a transaction waits at the end for the first block that could have it, with no earlier nonce missing. */
export function isWaiting({ end }: Pick<Trace, "end">, number: number): boolean {
  const { status, exception, content } = end.chain.transactions.get(number);
  if (status !== "PENDING" || exception !== null || content?.kind !== "call") return false;
  return content.nonce < nextNonce(end.chain, content.from);
}

const unsayable = (
  { sequence }: TracedCommand,
  { from, call }: CommandOf<"sendTransaction">,
): RecordingError =>
  new RecordingError(
    `sequence ${sequence} is a transaction of its own (${call.kind}) by the wallet ${from} on the chain, and no step of a scenario says that; all later balances depend on it`,
  );
