import type { Signature } from "../../history/shrink/signature.ts";
import type { Observation } from "./observation.ts";

/** What is wrong with what the clients of one exchange saw. */
export interface Finding {
  /** Equal where the same is wrong: without numbers and names. */
  readonly fingerprint: string;
  readonly sentence: string;
  /** Which request it showed at, from 0, in the order in which requests were sent. */
  readonly index: number;
  /** Whether the journal alone shows it, so that a history of commands can tell it. */
  readonly isOfHistory: boolean;
}

/** What was asked, for a person: `request 57 (connection 3, POST /clob/order)`. */
export const requestName = ({ client, sent, request: { method, target } }: Observation): string =>
  `request ${sent} (connection ${client}, ${method} ${target.split("?")[0]})`;

/** What was answered: `answered 200 at sequence 41`. */
export const answerName = ({ answer }: Observation): string =>
  answer === null ? "had no answer" : `answered ${answer.status} at sequence ${answer.sequence}`;

/** A finding about the answers. */
export const found = (fingerprint: string, sentence: string, index: number): Finding => ({
  fingerprint: `http: ${fingerprint}`,
  sentence,
  index,
  isOfHistory: false,
});

/** A finding that the journal shows by itself: a broken invariant, or something that was thrown. */
export const ofHistory = ({ key, sentence }: Signature, index: number): Finding => ({
  fingerprint: key,
  sentence,
  index,
  isOfHistory: true,
});
