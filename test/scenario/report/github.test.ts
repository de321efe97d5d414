import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable } from "../../../src/scenario/report/text.ts";
import { HOSTILE, hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, wrongReportOf } from "./suite.ts";

interface Command {
  readonly kind: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

const decoded = (text: string): string =>
  text.replace(/%(25|0D|0A|3A|2C)/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Parses workflow commands like GitHub's runner: by the first `::`, commas and equals signs. */
function commandsOf(text: string): Command[] {
  const lines = text.split(/\r?\n|\r/);
  expect(lines.pop()).toBe("");
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
  it("writes an error for a failure, a notice for a skipped scenario, nothing for a passed one", () => {
    expect(reportOf("github", [resultOf(), failedOf(), skippedOf()])).toBe(
      [
        "::error file=scenarios/orders/cancel.yaml,line=12,col=7,title=a cancel frees the reservation::the bids of",
        " YES are not as expected%0Astep 4: expect: book%0A  bid 0.56 x 10%0A- bid 0.55 x 60%0A+ bid 0.55 x 100%0A",
        "# 2 more lines%0Arepeat: clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4\n",
        "::notice file=scenarios/orders/partial.yaml,line=1,col=1,title=a busy server is asked again::",
        "skipped: needs control plane\n",
      ].join(""),
    );
  });

  it("writes an error for each problem of a file, at its place", () => {
    expect(wrongReportOf("github")).toBe(
      [
        '::error file=scenarios/wrong.yaml,line=5,col=5,title=wrong scenario file::unknown key "stauts" (did you mean status?)\n',
        "::error file=scenarios/_part.yaml,line=2,col=19,title=wrong scenario file::expected a price, found nothing\n",
        "::error file=scenarios/none.yaml,line=1,col=1,title=wrong scenario file::expected a scenario, found a list\n",
      ].join(""),
    );
  });

  it("points to the scenario if its failure has no details", () => {
    expect(commandsOf(reportOf("github", [failedOf({ failure: null })]))).toEqual([
      {
        kind: "error",
        properties: {
          file: "scenarios/orders/cancel.yaml",
          line: "1",
          col: "1",
          title: "a cancel frees the reservation",
        },
        message: "failed",
      },
    ]);
  });

  it.each([
    ["100%", "title=100%25:", "100%25%0A"],
    ["a:b,c", "title=a%3Ab%2Cc:", "a:b,c%0A"],
    ["a\r\nb", "title=a%0D%0Ab:", "a%0D%0Ab%0A"],
    ["%0A", "title=%250A:", "%250A%0A"],
  ])("escapes %j in properties and in messages", (text, property, message) => {
    const written = reportOf("github", [failedOf({ name: text }, { message: text })]);
    expect(written).toContain(property);
    expect(written).toContain(`::${message}`);
  });

  it.each(HOSTILE.map((text) => [text]))("keeps %j", (text) => {
    const [command] = commandsOf(
      reportOf("github", [failedOf({ name: `a${text}` }, { message: text, diff: [] })]),
    );
    expect(command?.properties.title).toBe(printable(`a${text}`));
    expect(command?.message.startsWith(`${printable(text)}\nstep 4`)).toBe(true);
  });

  it("keeps any text, except characters that XML 1.0 forbids", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, message, file) => {
        const place = { file: `a${file}`, line: 2, column: 3 };
        const text = reportOf("github", [
          failedOf({ name: `a${name}` }, { place, message }),
          skippedOf({ name: `a${name}`, reason: message, place }),
        ]);
        const [failed, skipped] = commandsOf(text);
        const properties = {
          file: printable(place.file),
          line: "2",
          col: "3",
          title: printable(`a${name}`),
        };
        expect(failed).toMatchObject({ kind: "error", properties });
        expect(failed?.message.startsWith(`${printable(message)}\nstep 4`)).toBe(true);
        const notice = { kind: "notice", properties, message: `skipped: ${printable(message)}` };
        expect(skipped).toEqual(notice);
      }),
    );
  });
});
