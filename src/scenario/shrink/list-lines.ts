import type { Expectation, Step } from "../language/scenario.ts";
import { fillText, levelText, tradeText } from "../run/words.ts";
import type { Part } from "./draft.ts";
import type { Signature } from "./signature.ts";

/**
 * The lines of lists (trades, fills, levels of a book) that are expected and are not found any more since something else
 * is gone, when that is all that is different; null when it is not. Without them the list differs as it did.
 */
export function linesToDrop(
  part: Part,
  step: Step,
  wanted: Signature,
  seen: Signature,
  gone: ReadonlySet<Part>,
): readonly Part[] | null {
  const [wantedHead, ...wantedLines] = wanted.key.split("\n");
  const [seenHead, ...extra] = seen.key.split("\n");
  if (wantedHead !== seenHead) return null;
  for (const line of wantedLines) {
    const index = extra.indexOf(line);
    if (index < 0) return null;
    extra.splice(index, 1);
  }
  const left = listLines(part, step).filter(([line]) => !gone.has(line));
  const dropped: Part[] = [];
  for (const line of extra) {
    const index = left.findIndex(([, text]) => `- ${text}` === line);
    if (index < 0) return null;
    dropped.push(...left.splice(index, 1).map(([found]) => found));
  }
  return dropped.length === 0 ? null : dropped;
}

type Line = readonly [part: Part, text: string];

/** Every line of a list that a step expects, as a difference shows it. */
function listLines(part: Part, step: Step): Line[] {
  if (step.kind === "order") {
    const texts = step.expects.fills?.value.map(({ value }) => fillText(value)) ?? [];
    return paired(childNamed(part, "fills"), texts);
  }
  if (step.kind === "expect") return expectedLines(childNamed(part, "expect"), step.expectations);
  return step.kind === "race" ? expectedLines(childNamed(part, "after"), step.after) : [];
}

function expectedLines(part: Part | undefined, expectations: readonly Expectation[]): Line[] {
  const books = childNamed(part, "book")?.children ?? [];
  const lines: Line[] = [];
  let book = 0;
  for (const expectation of expectations) {
    if (expectation.kind === "trades") {
      const texts = expectation.trades.map(({ value }) => tradeText(value));
      lines.push(...paired(childNamed(part, "trades"), texts));
    } else if (expectation.kind === "book") {
      const sides = books[book];
      book += 1;
      for (const side of ["bids", "asks"] as const) {
        const texts = expectation[side]?.map((level) => `${side.slice(0, -1)} ${levelText(level)}`) ?? [];
        lines.push(...paired(childNamed(sides, side), texts));
      }
    }
  }
  return lines;
}

const childNamed = (part: Part | undefined, name: string): Part | undefined =>
  part?.children.find((child) => child.name === name);

const paired = (list: Part | undefined, texts: readonly string[]): Line[] =>
  list === undefined || list.children.length !== texts.length
    ? []
    : list.children.map((line, index) => [line, texts[index] ?? ""]);
