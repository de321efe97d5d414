import type { Scenario } from "../language/scenario.ts";
import type { Way } from "./result.ts";

const PLAIN = /^[\w./:@%+=-]+$/;

/** An argument as a POSIX shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The command line that runs a scenario again, up to a step. */
export function repeatLine({ place, seed }: Scenario, way: Way, step: number | null): string {
  const parts = ["clobsim", "run", shellWord(place.file), "--seed", shellWord(seed)];
  if (way === "http") parts.push("--via", "http");
  if (step !== null) parts.push("--step", String(step));
  return parts.join(" ");
}
