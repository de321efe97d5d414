import { unreachable } from "../../core/unreachable.ts";
import type { Expectation } from "../language/scenario.ts";
import { type Mismatch, ScenarioFailure, type Session } from "../run/session.ts";
import { checkBalance, checkOrder } from "./check-account.ts";
import { checkBook, checkHistory, checkQuote } from "./check-book.ts";
import { checkChain, checkSettled, checkSupply } from "./check-chain.ts";
import { checkGolden, checkStateHash } from "./check-record.ts";
import { checkTrades } from "./check-trades.ts";

/** Compares everything that must be true. @throws ScenarioFailure with all that is not. */
export async function checkAll(session: Session, expectations: readonly Expectation[]): Promise<void> {
  const mismatches: Mismatch[] = [];
  for (const expectation of expectations) {
    const mismatch = await check(session, expectation);
    if (mismatch !== null) mismatches.push(mismatch);
  }
  if (mismatches.length > 0) throw new ScenarioFailure(mismatches);
}

function check(session: Session, expectation: Expectation): Promise<Mismatch | null> {
  switch (expectation.kind) {
    case "book":
      return checkBook(session, expectation);
    case "trades":
      return checkTrades(session, expectation);
    case "order":
      return checkOrder(session, expectation);
    case "balance":
      return checkBalance(session, expectation);
    case "quote":
      return checkQuote(session, expectation);
    case "history":
      return checkHistory(session, expectation);
    case "chain":
      return checkChain(session, expectation);
    case "supply":
      return checkSupply(session, expectation);
    case "settled":
      return checkSettled(session, expectation);
    case "stateHash":
      return checkStateHash(session, expectation);
    case "golden":
      return checkGolden(session, expectation);
    default:
      throw unreachable(expectation);
  }
}
