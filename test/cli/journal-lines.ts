import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { hex8 } from "../../src/core/hash.ts";

/** A line of a journal without its checksum. */
export type TextLine = Readonly<Record<string, unknown>>;

/** Parses the lines of a journal, without their checksums. */
export const linesIn = (journal: string): TextLine[] =>
  journal
    .trimEnd()
    .split("\n")
    .map((text) => {
      const { c: _, ...line } = JSON.parse(text) as TextLine;
      return line;
    });

/** Formats lines as a journal with valid checksums. A line may be given as its text, without the closing brace. */
export function withChecksums(lines: readonly (TextLine | string)[]): string {
  let previous = "00000000";
  return lines
    .map((line) => {
      const body = typeof line === "string" ? line : JSON.stringify(line).slice(0, -1);
      const start = `${body.replace(/"p":"[0-9a-f]{8}"/, `"p":"${previous}"`)},"c":"`;
      previous = hex8(crc32(Buffer.from(start, "utf8")));
      return `${start}${previous}"}\n`;
    })
    .join("");
}
