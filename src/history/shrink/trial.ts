import { withoutFigures, withoutIds } from "../../core/format.ts";
import type { Problem } from "../../scenario/language/page.ts";
import { readScenario, type WorldMarkets, worldMarkets } from "../../scenario/language/read-scenario.ts";
import type { Scenario } from "../../scenario/language/steps.ts";
import type { Cause, DiffLine, Failure, Mismatch } from "../../scenario/run/result.ts";
import { type RunOptions, runScenario } from "../../scenario/run/run-scenario.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { Venue } from "../../scenario/venue/venue.ts";
import type { Checks, MaybePromise, Refused } from "../../scenario/venue/views.ts";
import { Draft } from "./draft.ts";

/** Result of trying a text. */
export type TrialResult =
  | { readonly kind: "unreadable"; readonly problems: readonly Problem[]; readonly draft: Draft | null }
  | { readonly kind: "stopped" | "passed" }
  | Failed;

/** A text that failed, as it was read. */
export interface Failed {
  readonly kind: "failed";
  readonly scenario: Scenario;
  readonly failure: Failure;
  readonly fingerprint: FailureFingerprint;
  readonly draft: Draft;
  /** Time to read and run it, in milliseconds. */
  readonly ms: number;
}

/** Returns what made a text fail; undefined for a compared value. */
export const causeOf = ({ failure }: Failed): Cause["kind"] | undefined => failure.mismatches[0]?.cause?.kind;

/** Environment in which the texts of a scenario are tried. */
export interface Environment {
  /** The scenario's file, as the user named it. */
  readonly file: string;
  /** Folder to which paths in it are relative. */
  readonly folder: string;
  /** Opens an exchange for one scenario. */
  readonly open: (scenario: Scenario) => MaybePromise<Venue>;
}

/** Runs variants of one scenario file. */
export class Trial {
  readonly environment: Environment;
  /** Whether a run is to be stopped; called often. */
  stop: () => boolean = () => false;
  readonly #worlds = new Map<string, readonly string[]>();

  constructor(environment: Environment) {
    this.environment = environment;
  }

  async run(text: string, checks: Checks = "all"): Promise<TrialResult> {
    if (this.stop()) return { kind: "stopped" };
    const start = performance.now();
    const { file, folder } = this.environment;
    const options = { folder, worldMarkets: this.#worldMarkets };
    const { scenario, problems, root } = readScenario(file, text, options);
    const draft = root && new Draft(root);
    if (scenario === null || draft === null) return { kind: "unreadable", problems, draft };
    try {
      const failure = await this.failureOf(scenario, { checks });
      if (failure === null) return { kind: "passed" };
      const fingerprint = fingerprintOf(failure.mismatches);
      return { kind: "failed", scenario, failure, fingerprint, draft, ms: performance.now() - start };
    } catch (error) {
      if (error instanceof RunStopped) return { kind: "stopped" };
      throw error;
    }
  }

  /** Runs a scenario and returns its failure; null if it passes. @throws RunStopped */
  async failureOf(scenario: Scenario, options: Partial<RunOptions> = {}): Promise<Failure | null> {
    const { open } = this.environment;
    const { result } = await runScenario(scenario, { open, stop: this.stop, ...options });
    return result.failure;
  }

  readonly #worldMarkets: WorldMarkets = (path) => {
    const known = this.#worlds.get(path) ?? worldMarkets(path);
    this.#worlds.set(path, known);
    return known;
  };
}

/**
 * Identifies a kind of failure. Two failures are the same if their keys are equal. The key has:
 *
 * - of a broken invariant: its name, because its figures change with every order that is left out;
 * - of a defect (something threw): its message without numbers and ids;
 * - of an unexpected refusal: its code and the refused account, in a step or in a row of a flow; the amounts if funds are
 *   missing, because without its initial funds an account is always refused with that code; if another refusal is
 *   expected, both codes;
 * - of an expectation: its subject (the bids of YES, the status of an order, a balance), and the lines expected and found,
 *   without common lines and counts. Found lines matter: otherwise an expected trade would be missing "in the same way"
 *   without any trades.
 *
 * It has no places, numbers of steps, explanations, or the order of a race.
 */
export interface FailureFingerprint {
  readonly key: string;
  /** Description in one line. */
  readonly sentence: string;
}

/** Returns the fingerprint of a failed scenario; of several mismatches, the first counts. */
export function fingerprintOf([first]: readonly Mismatch[]): FailureFingerprint {
  if (first === undefined) throw new Error("a failure without a mismatch");
  const { message, diff, cause } = first;
  if (cause?.kind === "invariant") return invariantFingerprint(cause.name);
  if (cause?.kind === "defect") return defectFingerprint(cause.message);
  if (cause?.kind === "refused") return refusalFingerprint(cause.who, cause.refusal);
  if (cause?.kind === "unfunded")
    return { key: `unfunded ${cause.code}`, sentence: `an account cannot be funded: ${cause.code}` };
  const sentence = message.replace(/: \d+ expected, \d+ found$/, "");
  const lines = differingLines(diff);
  if (lines.length === 0) return { key: `other ${withoutFigures(sentence)}`, sentence };
  return { key: [`expectation ${sentence}`, ...lines].join("\n"), sentence };
}

/** Returns the lines of a diff that only one side has, those expected after `-`, those found after `+`. */
export const differingLines = (diff: readonly DiffLine[]): string[] =>
  diff.flatMap(({ kind, text }) => (kind === "expected" ? `- ${text}` : kind === "found" ? `+ ${text}` : []));

export function refusalFingerprint(who: string, { code, message }: Refused): FailureFingerprint {
  const figures = code === "INSUFFICIENT_BALANCE" ? `: ${withoutIds(message)}` : "";
  const sentence = `${who} is refused with ${code}, unexpectedly`;
  return { key: `refused ${who} ${code}${figures}`, sentence };
}

export const invariantFingerprint = (name: string): FailureFingerprint => ({
  key: `invariant ${name}`,
  sentence: `an invariant does not hold: ${name}`,
});

export const defectFingerprint = (message: string): FailureFingerprint => ({
  key: `defect ${withoutFigures(message)}`,
  sentence: `a defect: ${message}`,
});
