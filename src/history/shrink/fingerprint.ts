import type { DiffLine, Failure } from "../../scenario/run/result.ts";

/**
 * How something fails, apart from where and when. Two failures are the same when their keys are:
 *
 * - a broken invariant: by its name; its figures change with every order that is left out;
 * - a defect (something threw): by its message with every number and id in it replaced;
 * - a refusal that no step expects: by its code and by who is refused, whether by a step or a row of a flow; where funds
 *   are missing also by how much, else whoever loses what they start with is refused just so; a refusal with another
 *   code than expected, or none at all: by both;
 * - an expectation: by what it is of (the bids of YES, the status of an order, a balance), what it expects, and what it
 *   found instead, without the lines that both have and without how many they are. What is found is part of it: else
 *   an expected trade would be missing "in the same way" when nobody trades at all.
 *
 * Places, numbers of steps, explanations and the order of a race are no part of it.
 */
export interface FailureFingerprint {
  readonly key: string;
  /** For a person, in one line. */
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

/** The fingerprint of a failed scenario; of several expectations that fail at once, the first counts. */
export function fingerprintOf(failure: Pick<Failure, "message" | "diff" | "text">): FailureFingerprint {
  const { message, diff } = firstOf(failure);
  if (message.startsWith(INVARIANT)) return brokenInvariant(diff[0]?.text.split(": ")[0] ?? "");
  const defect = DEFECT.exec(message)?.[1];
  if (defect !== undefined) return defectOf(defect);
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

/** Of a step, or of the first row of a flow, that was refused though nothing says it should be. */
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

/** Of an invariant that does not hold. */
export const brokenInvariant = (name: string): FailureFingerprint => ({
  key: `invariant ${name}`,
  sentence: `an invariant does not hold: ${name}`,
});

/** Whether it is an invariant that does not hold. */
export const isInvariant = ({ key }: FailureFingerprint): boolean => key.startsWith("invariant ");

/** Of what a command threw. */
export const defectOf = (message: string): FailureFingerprint => ({
  key: `defect ${withoutFigures(message)}`,
  sentence: `a defect: ${message}`,
});

const UUID_OR_HEX = /0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const NUMBER = /\d+(?:[.,:]\d+)*/g;

/** A message with `#` for every number, hash and id in it. */
export const withoutFigures = (message: string): string =>
  message.replace(UUID_OR_HEX, "#").replace(NUMBER, "#");

/** The first of several mismatches: its sentence without the count of the others, and its own lines. */
function firstOf({ message, diff }: Pick<Failure, "message" | "diff">): {
  readonly message: string;
  readonly diff: readonly DiffLine[];
} {
  if (!OTHERS.test(message)) return { message, diff };
  const isHead = ({ kind, text }: DiffLine): boolean => kind === "note" && OTHER_LINE.test(text);
  const [, ...behind] = diff;
  const next = behind.findIndex(isHead);
  return { message: message.replace(OTHERS, ""), diff: next < 0 ? behind : behind.slice(0, next) };
}
