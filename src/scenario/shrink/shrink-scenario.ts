import type { Scenario } from "../language/scenario.ts";
import type { Failure } from "../run/result.ts";
import { Shrinking } from "./shrinking.ts";
import type { Signature } from "./signature.ts";
import { type Place, Trial } from "./trial.ts";

/** How far a reduction goes, and who is told. */
export interface ShrinkOptions {
  /** Told of how many steps are left, each time that there are fewer. */
  readonly progress?: (steps: number) => void;
  /** Whether the time is over but for so many milliseconds, which are kept for what must still be done. */
  readonly isOver?: (reserveMs: number) => boolean;
  /** Writes the text where it will lie, and reads it as whoever runs it will; default: reads the text as it is. */
  readonly written?: (text: string) => Promise<Scenario | null>;
}

/** A scenario that fails as another one does. */
export interface ShrunkScenario {
  /** Its file's YAML. */
  readonly text: string;
  /** How it fails. */
  readonly signature: Signature;
  readonly failure: Failure;
  /**
   * How many steps there were, and are, never more, as runs number them: rows of flows count where they became steps, each
   * round of what is repeated, and the steps of races.
   */
  readonly before: number;
  readonly steps: number;
  /** Whether nothing more can be left out on its own; false where time was over. */
  readonly isMinimal: boolean;
  /** Absolute paths of the files that it still speaks of. */
  readonly files: readonly string[];
  /** What could not be reduced, a sentence each. */
  readonly remarks: readonly string[];
}

/** The first run and the last, without which there is no result, may take so much longer. */
const GRACE_MS = 700;

/** The time was over before a scenario had come to its end once: nobody knows whether it fails. */
export class NotRunInTime extends Error {
  override readonly name = "NotRunInTime";
}

/**
 * Reduces the text of a scenario that fails to one that fails in the same way and in which nothing can be left out.
 * What remains keeps its words, comments and layout. What comes out has been run as it is written. Null when the text
 * does not fail, or is no scenario.
 * @throws NotRunInTime
 */
export async function shrinkScenario(
  text: string,
  place: Place,
  options: ShrinkOptions = {},
): Promise<ShrunkScenario | null> {
  const trial = new Trial(place);
  const { isOver = () => false, written = async (result) => trial.read(result) } = options;
  trial.stop = () => isOver(-GRACE_MS);
  const hasWindowsEnds = text.includes("\r\n");
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const outcome = await trial.run(plain);
  if (outcome.kind === "stopped") throw new NotRunInTime("the time was over before it had failed once");
  if (outcome.kind !== "failed") return null;
  const results = await new Shrinking(trial, plain, outcome, options).results();
  trial.judges = "all";
  trial.stop = () => isOver(-GRACE_MS);
  for (const result of results) {
    const final = hasWindowsEnds ? result.text.replaceAll("\n", "\r\n") : result.text;
    const scenario = await written(final);
    const again = scenario === null ? null : await trial.runScenario(scenario);
    const isSame = again?.kind === "failed" && again.signature.key === result.signature.key;
    // Each of them has been run already; where time has run out all the same, that must do.
    if (isSame || again?.kind === "stopped") return { ...result, text: final };
  }
  throw new Error("a scenario that failed does not fail again");
}
