import type { SendTransaction } from "../../core/commands.ts";
import type { CallExecuted } from "../../core/events.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import type { Act, ObservedSession } from "./observed-session.ts";
import { positionIn } from "./position-change.ts";
import { RecordingError } from "./recording-error.ts";

/**
 * A session without the wallets' transactions that no step needs to say, and how many these are. Left out is what
 * changes nothing that a scenario sees: what reverted, was replaced or never came to a block, for it moved nothing (what
 * waits for its first block is told); approvals, for a settlement that failed for want of one is told as failed;
 * transfers of the native currency and gas, for wallets of scenarios have enough; transfers of nothing, or to oneself.
 * @throws RecordingError when one of them moved what no step can move.
 */
export function withoutIdleCalls(session: ObservedSession): { acts: readonly Act[]; left: number } {
  const moved = new Set<number>();
  for (const act of session.acts) {
    for (const event of act.events) {
      if (event.kind !== "callExecuted" || event.isRepeated || event.effect.moves.length === 0) continue;
      refuseOlder(session, act, event);
      moved.add(event.transaction);
    }
  }
  let left = 0;
  const acts = session.acts.filter((act) => {
    const { command, events } = act;
    if (command.kind === "setNativeBalance") left += 1;
    if (command.kind !== "sendTransaction") return true;
    const [sent] = events;
    if (sent?.kind !== "transactionSent") throw new Error("a transaction was sent and is not there");
    const isTold = moved.has(sent.transaction) || isWaiting(session, sent.transaction);
    const isSayable =
      session.end.accountByAddress.has(command.from) && positionIn(session.end, command) !== null;
    if (isTold && isSayable) return true;
    if (moved.has(sent.transaction)) throw unsayable(act, command);
    left += 1;
    return false;
  });
  return { acts, left };
}

function refuseOlder({ opening }: ObservedSession, { sequence }: Act, { transaction }: CallExecuted): void {
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
const DEEDS: Readonly<Record<SendTransaction["call"]["kind"], string>> = {
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

const unsayable = ({ sequence }: Act, { from, call }: SendTransaction): RecordingError =>
  new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `sequence ${sequence} is ${DEEDS[call.kind]} by the wallet ${from} on the chain, and no step of a scenario says that; all later balances depend on it`,
  );
