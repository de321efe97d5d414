import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable } from "../../../src/scenario/report/text.ts";
import { eachHostile, hostileText } from "./hostile.ts";
import { failedOf, reportOf, skippedOf } from "./suite.ts";

interface Command {
  readonly kind: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

const decoded = (text: string): string =>
  text.replace(/%(25|0D|0A|3A|2C)/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Parses the workflow commands before the totals like GitHub's runner: by the first `::`, commas and equals signs. */
function commandsOf(text: string): Command[] {
  const lines = text.split(/\r?\n|\r/);
  expect(lines.pop()).toBe("");
  expect(lines.pop()).toMatch(/^0 passed, 1 failed, 1 skipped in \S+ m?s$/);
  return lines.map((line) => {
    const end = line.indexOf("::", 2);
    expect(line.startsWith("::") && end > 0).toBe(true);
    const head = line.slice(2, end);
    const space = head.indexOf(" ");
    const properties = head.slice(space + 1).split(",");
    return {
      kind: head.slice(0, space),
      properties: Object.fromEntries(
        properties.map((property) => {
          const at = property.indexOf("=");
          return [property.slice(0, at), decoded(property.slice(at + 1))];
        }),
      ),
      message: decoded(line.slice(end + 2)),
    };
  });
}

describe("github", () => {
  it("keeps any text, except characters that XML 1.0 forbids", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, message, file) => {
        const place = { file: `a${file}`, line: 2, column: 3 };
        const text = reportOf("github", [
          failedOf({ name: `a${name}` }, { place, message }),
          skippedOf({ name: `a${name}`, reason: message, place }),
        ]);
        const [failed, skipped] = commandsOf(text);
        const properties = { file: printable(place.file), line: "2", col: "3", title: printable(`a${name}`) };
        expect(failed).toMatchObject({ kind: "error", properties });
        expect(failed?.message.startsWith(`${printable(message)}\nstep 4`)).toBe(true);
        const notice = { kind: "notice", properties, message: `skipped: ${printable(message)}` };
        expect(skipped).toEqual(notice);
      }),
      eachHostile,
    );
  });
});
