import { defectOf } from "../../history/shrink/signature.ts";
import { Claims } from "./claims.ts";
import { type Finding, ofHistory } from "./finding.ts";
import type { Journal } from "./journal.ts";
import type { ObservationLog } from "./observation.ts";
import { checkRealTime } from "./real-time.ts";
import { ReplayCheck } from "./replay-check.ts";

/**
 * Proves that what clients saw of an exchange is one history: the journal, decided again, answers each request at the
 * sequence of its answer as it was answered, byte by byte; each accepted command was asked for once; no answer is older
 * than what was known before its request was sent, nor newer than what had been asked for when it came. Answers the
 * first that is wrong, or null. Reads nothing but its arguments.
 */
export async function check(journal: Journal, log: ObservationLog): Promise<Finding | null> {
  if (journal.trouble !== null) return ofHistory(defectOf(journal.trouble), log.observations.length - 1);
  const { finding, known } = checkRealTime(log);
  if (finding !== null) return finding;
  const claims = new Claims(journal.history.session, log.observations, known);
  return new ReplayCheck(journal, log, claims).run();
}
