import type { Scenario } from "../language/scenario.ts";

const PLAIN = /^[\w./:@%+=-]+$/;

/** An argument as a POSIX shell reads it back. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The command line that runs a scenario again where it was run, as the flags say, up to a step. */
export function repeatLine({ place, seed }: Scenario, flags: readonly string[], step: number | null): string {
  const parts = ["clobsim", "run", shellWord(place.file), "--seed", shellWord(seed)];
  parts.push(...flags.map(shellWord));
  if (step !== null) parts.push("--step", String(step));
  return parts.join(" ");
}
