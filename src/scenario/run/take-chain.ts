import { unreachable } from "../../core/unreachable.ts";
import type { CallStep, ChainStep, ReorgStep, SettlementFaultStep } from "../language/chain-steps.ts";
import { expected } from "./diff.ts";
import { fail, type Session } from "./session.ts";
import { refused, type Strictness } from "./take-order.ts";

/** Does a step of the settlement chain. */
export async function takeChainStep(
  session: Session,
  step: ChainStep,
  strictness: Strictness,
): Promise<void> {
  const { chain } = session.venue;
  const log = (outcome: string): void => session.log(`${step.number}. ${step.text}${outcome}`);
  switch (step.kind) {
    case "split":
    case "merge":
    case "redeem":
    case "reorg":
      return takeAttempt(session, step, strictness);
    case "mine": {
      await chain.mine(step.blocks);
      return log(` → block ${(await chain.view()).head}`);
    }
    case "failSettlement":
    case "chainFault":
      return takeFault(session, step, strictness);
    case "bump": {
      const raised = await chain.bumpFees();
      return log(` → ${raised} raised`);
    }
    default:
      throw unreachable(step);
  }
}

/** What may be refused, and says so. */
async function takeAttempt(
  session: Session,
  step: CallStep | ReorgStep,
  strictness: Strictness,
): Promise<void> {
  const { chain } = session.venue;
  const attempt =
    step.kind === "reorg"
      ? await chain.reorganize(step.depth)
      : await chain.call(step.account, session.marketOf(step.market), step.change);
  if (!attempt.ok) {
    refused(session, step, attempt, step.rejects, strictness);
    return;
  }
  session.log(`${step.number}. ${step.text}`);
  if (step.rejects === null) return;
  const { place, value } = step.rejects;
  fail(place, `accepted, expected to be refused with ${value}`, [expected(value)]);
}

async function takeFault(session: Session, step: SettlementFaultStep, strictness: Strictness): Promise<void> {
  const { chain } = session.venue;
  if (step.fault === null) {
    await chain.endFaults(step.kind === "failSettlement" ? "fail" : "all");
  } else {
    const attempt = await chain.setFault(step.fault);
    if (!attempt.ok) {
      refused(session, step, attempt, null, strictness);
      return;
    }
  }
  session.log(`${step.number}. ${step.text}`);
}
