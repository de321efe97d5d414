import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { hex8 } from "../../src/engine/checksum.ts";

/** A line as its text has it, without its own check. */
export type TextLine = Readonly<Record<string, unknown>>;

/** The lines of a journal, each without its check. */
export const linesIn = (journal: string): TextLine[] =>
  journal
    .trimEnd()
    .split("\n")
    .map((text) => {
      const { c: _, ...line } = JSON.parse(text) as TextLine;
      return line;
    });

/**
 * A journal of some lines whose checks are right, whatever the lines hold: as a person makes it who can compute a
 * CRC-32. A line may be given as its text, without the closing brace.
 */
export function resealed(lines: readonly (TextLine | string)[]): string {
  let before = "00000000";
  return lines
    .map((line) => {
      const body = typeof line === "string" ? line : JSON.stringify(line).slice(0, -1);
      const start = `${body.replace(/"p":"[0-9a-f]{8}"/, `"p":"${before}"`)},"c":"`;
      before = hex8(crc32(Buffer.from(start, "utf8")));
      return `${start}${before}"}\n`;
    })
    .join("");
}
