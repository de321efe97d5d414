import type { Page } from "./page.ts";

/** The largest file, in bytes; no text in it has more characters. */
export const MOST_BYTES = 1_048_576;

/** In characters. */
const LONGEST_LINE = 65_536;

/** What no text holds: controls other than tab and line feed. */
const CONTROL = /[^\P{Cc}\t\n]/u;

/** Whether a text is none that a person wrote: too long, with a line too long, or with controls in it. */
export function exceedsLimits(page: Page): boolean {
  const { text } = page.source;
  if (text.length > MOST_BYTES) {
    page.wrong(0, `expected at most ${MOST_BYTES} bytes, found more`);
    return true;
  }
  const control = text.search(CONTROL);
  if (control >= 0) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, "0");
    page.wrong(control, `expected text, found the control character U+${code}`);
    return true;
  }
  const line = endlessLine(text);
  if (line >= 0) page.wrong(line, `expected lines of at most ${LONGEST_LINE} characters, found a longer one`);
  return line >= 0;
}

/** Where a line exceeds the limit, or -1. */
function endlessLine(text: string): number {
  for (let start = 0; text.length - start > LONGEST_LINE; ) {
    const end = text.indexOf("\n", start);
    if (end < 0 || end - start > LONGEST_LINE) return start + LONGEST_LINE;
    start = end + 1;
  }
  return -1;
}
