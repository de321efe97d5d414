import { columnOf, type Span, shifted } from "./cut.ts";
import type { Draft, Part } from "./draft.ts";

/** Where a step stands with its dash, and how far from the left; null of a step in brackets. */
export function lineOf(
  { text }: Draft,
  { collection, span }: Part,
): (Span & { readonly column: number }) | null {
  if (collection.flow === true) return null;
  const column = columnOf(text, span.start);
  const end = text[span.end - 1] === "\n" ? span.end - 1 : span.end;
  return { start: span.start, end, column };
}

/** What a step says without its dash, as it would stand behind another dash so far from the left. */
export function bodyAt({ text }: Draft, { collection, span }: Part, column: number): string {
  const whole = text.slice(span.start, span.end).trimEnd();
  const dash = collection.flow === true ? 0 : (/^-\s+/.exec(whole)?.[0].length ?? 0);
  const body = whole.slice(dash);
  return shifted(body, column + 2 - columnOf(text, span.start + dash));
}

/** Steps one below the other, each behind a dash so far from the left, the first of which begins the text. */
export const listed = (bodies: readonly string[], column: number): string =>
  bodies.map((body) => `- ${body}`).join(`\n${" ".repeat(column)}`);
