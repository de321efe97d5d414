import { entriesBy } from "./fields.ts";
import { jsonOf } from "./json-value.ts";
import { LineWords } from "./line-words.ts";
import { readRejects } from "./own-expectations.ts";
import { readHeaders, readTamper } from "./request-headers.ts";
import type { RequestStep } from "./scenario.ts";
import { checkStandIns, inRound, STAND_IN_RULE } from "./stand-ins.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { textOf } from "./values.ts";
import { type Entry, isNothing, type Node } from "./yaml-tree.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const SHAPE = "a method and a path, such as DELETE /order";
const PREFIXED = /^\/(?:clob|api|sim|chain)(?:[/?]|$)/;
/** What can stand in a path outside of braces. */
const PATH = /^\/(?:[\x21-\x7a|~]|\{[^{}]*\})*$/;

/** Reads `request: DELETE /order` with what stands beside it. */
export function readRequest(step: StepSource): RequestStep | null {
  const { file, head, beside, declared } = step;
  const { page } = file;
  const fields = entriesBy(page, beside, ["as", "body", "headers", "tamper", "rejects", "answers"]);
  const target = targetOf(step, head.value);
  const as = fields.as === undefined ? null : signerOf(step, fields.as);
  const headers = fields.headers === undefined ? {} : readHeaders(step, fields.headers.value);
  if (fields.answers !== undefined) checkStandIns(page, fields.answers.value, declared);
  const answers = fields.answers && {
    value: jsonOf(page, fields.answers.value),
    place: page.placeOf(fields.answers.value),
  };
  const rejects = readRejects(file, fields.rejects);
  if (fields.body !== undefined) checkStandIns(page, fields.body.value, declared);
  const body = fields.body === undefined ? undefined : jsonOf(page, fields.body.value);
  if (target === null || as === undefined || headers === null) return null;
  const sent = { ...target, as, body, headers };
  const tamper = fields.tamper === undefined ? null : readTamper(step, fields.tamper, sent);
  const said = { ...sent, tamper, answers: answers ?? null };
  return { ...baseOf(step), kind: "request", rejects, ...inRound(said, declared.rounds) };
}

function targetOf({ file, declared }: StepSource, value: Node): Pick<RequestStep, "method" | "path"> | null {
  const { page } = file;
  if (textOf(page, value, SHAPE) === null || value.kind !== "text") return null;
  const line = new LineWords(page, value);
  const method = line.oneOf(METHODS, SHAPE);
  const first = method && line.peek();
  if (method === null) return null;
  if (first === undefined || first === null) return line.ends("a path after the method");
  const path = line.rest();
  if (!PATH.test(path)) return page.unexpected(first.at, "a path such as /order", path);
  if (!checkStandIns(page, value, declared)) return null;
  const strange = /\{(?!(?:token|market|order|address) )[^{}]*\}/.exec(path)?.[0];
  if (strange !== undefined) return page.unexpected(first.at, STAND_IN_RULE, strange);
  return { method, path: PREFIXED.test(path) ? path : `/clob${path}` };
}

/** Who signs; null for nobody, undefined with a problem. */
function signerOf({ file, declared }: StepSource, { value }: Entry): string | null | undefined {
  if (isNothing(value)) return null;
  const name = textOf(file.page, value, "the name of an account");
  if (name === null) return undefined;
  return declared.demandAccount(file.page, value.start, name) ? name : undefined;
}
