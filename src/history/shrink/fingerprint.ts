import type { DiffLine, Failure } from "../../scenario/run/result.ts";

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

const INVARIANT = "an invariant does not hold";
const DEFECT = /^a defect of clobsim: (.*)$/s;
const OTHERS = /, and \d+ more$/;
const OTHER_LINE = /^line \d+: (.*)$/s;
const REFUSED = /^refused: ([^:]+): (.*)$/s;
const CANNOT_BE_FUNDED = / cannot be funded: ([^:]+):/;
const ROWS_REFUSED = /^\d+ rows? (?:is|are) refused, expected 0$/;
const FIRST_ROW = /^the first: row \d+, ([\w-]+): .*?: ([A-Z][A-Z_]{3,}): (.*)$/s;
const WITHOUT_FUNDS = "INSUFFICIENT_BALANCE";

/** Returns the fingerprint of a failed scenario; of several failed expectations, the first counts. */
export function fingerprintOf(failure: Pick<Failure, "message" | "diff" | "text">): FailureFingerprint {
  const { message, diff } = firstOf(failure);
  if (message.startsWith(INVARIANT)) return invariantFingerprint(diff[0]?.text.split(": ")[0] ?? "");
  const defect = DEFECT.exec(message)?.[1];
  if (defect !== undefined) return defectFingerprint(defect);
  const refusal = refusalIn(failure.text, message, diff);
  if (refusal !== null) return refusal;
  const unfunded = CANNOT_BE_FUNDED.exec(message)?.[1];
  if (unfunded !== undefined)
    return { key: `unfunded ${unfunded}`, sentence: `an account cannot be funded: ${unfunded}` };
  const compared = diff.filter(({ kind }) => kind === "expected" || kind === "found");
  const sentence = message.replace(/: \d+ expected, \d+ found$/, "");
  if (compared.length === 0) return { key: `other ${withoutFigures(sentence)}`, sentence };
  const lines = compared.map(({ kind, text }) => `${kind === "expected" ? "-" : "+"} ${text}`);
  return { key: [`expectation ${sentence}`, ...lines].join("\n"), sentence };
}

/** Returns the fingerprint of an unexpected refusal of a step, or of the first refused row of a flow; null if there is none. */
function refusalIn(step: string, message: string, diff: readonly DiffLine[]): FailureFingerprint | null {
  const row = ROWS_REFUSED.test(message) ? FIRST_ROW.exec(diff[0]?.text ?? "") : null;
  const said = REFUSED.exec(message);
  const [who, code, words] = row?.slice(1) ?? [step.split(":")[0], ...(said?.slice(1) ?? [])];
  if (who === undefined || code === undefined || words === undefined) return null;
  const figures = code === WITHOUT_FUNDS ? `: ${words.replace(UUID_OR_HEX, "#")}` : "";
  return {
    key: `refused ${who} ${code}${figures}`,
    sentence: `${who} is refused with ${code}, unexpectedly`,
  };
}

export const invariantFingerprint = (name: string): FailureFingerprint => ({
  key: `invariant ${name}`,
  sentence: `an invariant does not hold: ${name}`,
});

export const isInvariant = ({ key }: FailureFingerprint): boolean => key.startsWith("invariant ");

export const defectFingerprint = (message: string): FailureFingerprint => ({
  key: `defect ${withoutFigures(message)}`,
  sentence: `a defect: ${message}`,
});

const UUID_OR_HEX = /0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const NUMBER = /\d+(?:[.,:]\d+)*/g;

/** Replaces every number, hash and id in a message by `#`. */
export const withoutFigures = (message: string): string =>
  message.replace(UUID_OR_HEX, "#").replace(NUMBER, "#");

/** Returns the first of several mismatches: its sentence without the count of the others, and its lines. */
function firstOf({ message, diff }: Pick<Failure, "message" | "diff">): {
  readonly message: string;
  readonly diff: readonly DiffLine[];
} {
  if (!OTHERS.test(message)) return { message, diff };
  const isHead = ({ kind, text }: DiffLine): boolean => kind === "note" && OTHER_LINE.test(text);
  const [, ...rest] = diff;
  const next = rest.findIndex(isHead);
  return { message: message.replace(OTHERS, ""), diff: next < 0 ? rest : rest.slice(0, next) };
}
