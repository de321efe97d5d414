import type { CommandOf } from "../../core/commands.ts";
import type { EventOf } from "../../core/events.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import type { State } from "../../core/state.ts";
import { positionCallIn, type Trace, type TracedCommand } from "../trace.ts";

/** No scenario can express the session; the message is a sentence for the user. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  readonly code: "SESSION_TOO_LONG" | "SESSION_NOT_RECORDABLE";

  constructor(message: string, code: RecordingError["code"] = "SESSION_NOT_RECORDABLE") {
    super(message);
    this.code = code;
  }
}

/**
 * Orders a session's commands so that each wallet sends in the order of its nonces, as wallets of scenarios do: a
 * transaction that was sent too early comes right after the one that closes the gap, because no block includes it before.
 */
export function inNonceOrder(
  commands: readonly TracedCommand[],
  { chain: { wallets } }: State,
): TracedCommand[] {
  const ordered: TracedCommand[] = [];
  /** Transactions that each wallet sent too early, by nonce, and its next nonce. A later one of the same nonce replaces another. */
  const early = new Map<string, { waiting: Map<number, TracedCommand>; next: number }>();
  for (const traced of commands) {
    const [sent] = traced.events;
    if (sent?.kind !== "transactionSent") {
      ordered.push(traced);
      continue;
    }
    const { from, nonce } = sent.content;
    const wallet = wallets.get(from);
    const sender = early.get(from) ?? { waiting: new Map(), next: wallet?.mined ?? 0 };
    early.set(from, sender);
    const { waiting } = sender;
    // Transactions pending since before the session use these nonces.
    while (wallet?.pending.has(sender.next)) sender.next += 1;
    if (nonce < sender.next) ordered.push(traced);
    else waiting.set(nonce, traced);
    for (let ready = waiting.get(sender.next); ready !== undefined; ready = waiting.get(sender.next)) {
      const before = { ...ready.before, hasExpiries: traced.before.hasExpiries };
      ordered.push({ ...ready, at: traced.at, before });
      waiting.delete(sender.next);
      do sender.next += 1;
      while (wallet?.pending.has(sender.next));
    }
  }
  // Transactions after a gap that is never closed have no effect.
  const last = commands.at(-1);
  for (const { waiting } of early.values()) {
    for (const traced of waiting.values()) ordered.push({ ...traced, at: last?.at ?? traced.at });
  }
  return ordered;
}

/**
 * Removes the transactions of wallets that a scenario does not need, and counts them. These are transactions that
 * reverted, were replaced or were never mined (one that can be mined next is kept); approvals, because a settlement that
 * failed without one is recorded as failed; transfers of the native currency and gas, because wallets of scenarios have
 * enough; transfers of nothing, or to oneself.
 * @throws RecordingError if one of them moved a balance that no step can move.
 */
export function withoutIrrelevantCalls(session: Trace): {
  commands: readonly TracedCommand[];
  removed: number;
} {
  const moved = new Set<number>();
  for (const traced of session.commands) {
    for (const event of traced.events) {
      if (event.kind !== "callExecuted" || event.isRepeated || event.effect.moves.length === 0) continue;
      assertSentInSession(session, traced, event);
      moved.add(event.transaction);
    }
  }
  let removed = 0;
  const commands = session.commands.filter((traced) => {
    const { command, events } = traced;
    if (command.kind === "setNativeBalance") removed += 1;
    if (command.kind !== "sendTransaction") return true;
    const [sent] = events;
    if (sent?.kind !== "transactionSent") throw new Error("sendTransaction without transactionSent");
    const isNeeded = moved.has(sent.transaction) || isMineable(session, sent.transaction);
    const hasStep =
      session.end.accountByAddress.has(command.from) && positionCallIn(session.end, command) !== null;
    if (isNeeded && hasStep) return true;
    if (moved.has(sent.transaction)) throw unsupportedCall(traced, command);
    removed += 1;
    return false;
  });
  return { commands, removed };
}

function assertSentInSession(
  { opening }: Trace,
  { sequence }: TracedCommand,
  { transaction }: EventOf<"callExecuted">,
): void {
  if (transaction > opening.chain.transactions.size) return;
  throw new RecordingError(
    `at sequence ${sequence} a block mined a transaction that a wallet sent before the session began, but a scenario begins with nothing pending`,
  );
}

/** Whether a transaction is pending at the end and can be in the next block, because no earlier nonce is missing. */
export function isMineable({ end }: Pick<Trace, "end">, number: number): boolean {
  const { status, exception, content } = end.chain.transactions.get(number);
  if (status !== "PENDING" || exception !== null || content?.kind !== "call") return false;
  return content.nonce < nextNonce(end.chain, content.from);
}

const unsupportedCall = (
  { sequence }: TracedCommand,
  { from, call }: CommandOf<"sendTransaction">,
): RecordingError =>
  new RecordingError(
    `sequence ${sequence} is a transaction (${call.kind}) that the wallet ${from} sent on the chain, and no step of a scenario can express it; all later balances depend on it`,
  );
