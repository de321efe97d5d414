import { parseDuration, parseIso } from "../../core/time.ts";
import { entriesBy } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import type { AdvanceStep } from "./plain-steps.ts";
import type { AtStep } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { durationAt, MOMENT_RULE, textOf } from "./values.ts";

const AT_RULE = `${MOMENT_RULE}, or expiry of ORDER`;

/** Reads `advance: 30s`. */
export function readAdvance(step: StepSource): AdvanceStep | null {
  const { page } = step.file;
  entriesBy(page, step.beside, []);
  const by = durationAt(page, step.head.value);
  return by === null ? null : { ...baseOf(step), kind: "advance", by };
}

/** Reads `at: 2026-01-01T00:05:00Z`, or `at: expiry of bid - 1ms`. */
export function readAt(step: StepSource): AtStep | null {
  const { page } = step.file;
  const { value } = step.head;
  entriesBy(page, step.beside, []);
  const text = textOf(page, value, AT_RULE);
  if (text === null || value.kind !== "text") return null;
  const line = new LineWords(page, value);
  const moment = line.takeIf("expiry") === null ? instantOf(step, text) : expiryMoment(step, line);
  return moment && { ...baseOf(step), kind: "at", moment };
}

function instantOf({ file, head }: StepSource, text: string): AtStep["moment"] | null {
  const at = parseIso(text);
  return at === null ? file.page.unexpected(head.value.start, AT_RULE, text) : { at };
}

function expiryMoment({ declared }: StepSource, line: LineWords): AtStep["moment"] | null {
  const { page } = line;
  const word = line.demand("of") && line.take("the name of an order");
  const expiryOf = word && declared.orderNamed(page, word.at, word.text);
  if (word === null || expiryOf === null) return null;
  const type = declared.orders.get(expiryOf) ?? "GTD";
  if (type !== "GTD") return page.wrong(word.at, `order ${expiryOf} is ${type} and does not expire`);
  const offset = offsetOf(line);
  return offset !== null && line.isOver() ? { expiryOf, offset } : null;
}

/** Milliseconds after, or before. */
function offsetOf(line: LineWords): number | null {
  if (line.peek() === undefined) return 0;
  const sign = line.oneOf(["+", "-"], "+, - or the end of the line");
  const length = sign && line.take("a duration such as 1ms");
  if (length === null) return null;
  const duration = parseDuration(length.text);
  if (duration === null) return line.page.unexpected(length.at, "a duration such as 1ms", length.text);
  return sign === "-" && duration !== 0 ? -duration : duration;
}
