import type { Observation, ObservationLog } from "../../../src/fuzz/http/observation.ts";

/** The log in a file that `logText` made. */
export function readLog(text: string): ObservationLog {
  const [facts, ...observations] = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
  return { ...(facts as Omit<ObservationLog, "observations">), observations: observations as Observation[] };
}
