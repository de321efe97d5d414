import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CommandName } from "../../src/cli/commands.ts";
import { EXIT } from "../../src/cli/process.ts";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { linesIn, type TextLine, withChecksums } from "./journal-lines.ts";
import { run, says, serve, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const file = join(folder, "report.ndjson");

/** Lines of an exchange that has traded, and of one that was opened from its state. */
const [lines, fromState] = await tradedLines();

async function tradedLines() {
  await tradeIn(data);
  const second = join(folder, "second");
  await (await serve({ data: second, world: join(data, "db.json") })).close();
  return [data, second].map((path) => linesIn(readFileSync(join(path, "journal.ndjson"), "utf8"))) as [
    TextLine[],
    TextLine[],
  ];
}

type Data = Record<string, unknown>;

/** Returns the lines with the data of one changed. */
function withData(all: readonly TextLine[], number: number, change: (data: Data) => void): TextLine[] {
  const d = structuredClone(all[number - 1]?.d) as Data;
  change(d);
  return all.map((line) => (line.n === number ? { ...line, d } : line));
}

/** Returns the lines with one more at the end. */
const withLine = (k: string, d: unknown, more: object = {}): TextLine[] => {
  const n = lines.length + 1;
  return [...lines, { n, p: "00000000", s: 0, t: lines.at(-1)?.t, k, d, r: "00000000", ...more }];
};

const textsOf = (texts: object, file = Object.keys(texts)[0]) => ({ file, texts });

const LONG = `${"a".repeat(300)}.yaml`;

type Case = [what: string, of: () => readonly TextLine[], words: string];

/** Runs commands on a report. Each must name the line and the problem. */
async function expectRefused(
  report: readonly (TextLine | string)[],
  words: string,
  commands: readonly CommandName[],
): Promise<void> {
  writeFileSync(file, withChecksums(report));
  for (const command of commands) {
    const { code, stdout, stderr } = await run(command, [file]);
    const isRepair = command === "repair";
    expect(isRepair ? [EXIT.usage, EXIT.corrupt] : [EXIT.corrupt], command).toContain(code);
    const message = (isRepair ? stdout : stderr).split("\n").find((line) => line.includes(words)) ?? stderr;
    expect(message, command).toContain(words);
    expect(message, command).toMatch(
      /\breport\.ndjson\b.*\bline \d+\b.*\(sed -n \d+p .*report\.ndjson prints it\)/,
    );
  }
}

describe("a line with a valid checksum that clobsim would not write", () => {
  const KIND = "k: expected the kind of a command or of a control record, found";
  const PATHS = "d.texts: expected paths of files in the scenario's folder";
  const ADDED = rowsOf(`
    restores a line that does not exist          | restore     | {"line":999} | d.line: expected an earlier line, found 999
    has an unknown kind                          | takeOver    | {}           | ${KIND} "takeOver"
    has a kind that is a property of Object      | constructor | {}           | k: expected the kind
    has an unknown field                         | closeMarket | {"market":1,"__proto__":{}} | d: expected only the fields market, found "__proto__"
    has the kind twice                           | closeMarket | {"kind":"bumpFees","market":1} | only the fields market, found "kind"
    mines too many blocks                        | mineBlocks  | {"count":1e12} | d.count: expected an integer from 1 to 100000, found 1000000000000
    has a file with a NUL in its name            | scenario    | {"file":"a\\u0000.yaml","texts":{"a\\u0000.yaml":""}} | ${PATHS}
    has a file in a parent folder                | scenario    | {"file":"../a.yaml","texts":{"../a.yaml":""}} | found "../a.yaml"
    has a file with an absolute path             | scenario    | {"file":"/a.yaml","texts":{"/a.yaml":""}}   | found "/a.yaml"
    has a file with too long a name              | scenario    | {"file":"${LONG}","texts":{"${LONG}":""}}   | found "aaa
    has a file below another file                | scenario    | {"file":"a","texts":{"a":"","a/b.yaml":""}} | found "a/b.yaml"
    has no file of the scenario's name           | scenario    | {"file":"b.yaml","texts":{"a.yaml":""}}     | d.file: expected the path of one of the texts, found "b.yaml"
  `).map(
    ([what = "", kind = "", data = "", words = ""]): Case => [
      what,
      () => withLine(kind, JSON.parse(data)),
      words,
    ],
  );

  const COMMANDS = ["replay", "journal", "repair"] as const;
  const inBase = (all: readonly TextLine[], more: object) =>
    withData(all, 1, (d) => Object.assign(d.base as Data, more));
  const inContent = (all: readonly TextLine[], more: object) =>
    withData(all, 1, (d) => Object.assign((d.base as Data).content as Data, more));
  const opening = (): TextLine[] => withLine("opening", lines[0]?.d);
  const unopened = (): TextLine[] =>
    lines.map((line) => (line.n === 1 ? { ...line, k: "reset", d: {} } : line));
  const early = (): TextLine[] => withData(lines, 1, (d) => Object.assign(d, { start: 5 }));
  const EARLY = "d.base.content: the start 1970-01-01T00:00:00.005Z leaves no room";
  const MOON = 'd.base.kind: expected one of world, state, found "moon"';
  const DEV = "d.base.content: devAccounts[0]: expected an address";

  it.each<Case>([
    ...ADDED,
    ["opens another exchange", opening, 'expected no other opening, found "opening"'],
    ["has no opening", unopened, 'k: expected opening, found "reset"'],
    ["has another number", () => withLine("bumpFees", {}, { n: 99 }), "n: expected "],
    ["has a base of an unknown kind", () => inBase(lines, { kind: "moon" }), MOON],
    ["has an invalid world", () => inContent(lines, { devAccounts: ["0x1"] }), DEV],
    ["has a start that is too early for its world", early, EARLY],
  ])("%s: exits with 3 and names what was expected", async (_case, of, words) => {
    await expectRefused(of(), words, [...COMMANDS, "shrink"]);
  });

  it.each([
    ["an invalid state", { orders: [null] }, "orders[0]"],
    ["a state without a header", { clobsim: null }, "clobsim"],
  ])("has %s: exits with 3", async (_case, more, field) => {
    const words = `d.base.content: ${field}: expected an object, found null`;
    await expectRefused(inContent(fromState, more), words, COMMANDS);
  });

  it("goes back in another format than clobsim writes: exits with 3", async () => {
    const text = JSON.stringify(withLine("restore", { line: 3 }).at(-1))
      .slice(0, -1)
      .replace('"k":', '"k": ');
    writeFileSync(file, withChecksums([...lines, text]));
    const stderr = says(
      /line \d+: d\.line: expected an earlier line, formatted as clobsim writes it, found 3/,
    );
    expect(await run("replay", [file])).toMatchObject({ code: 3, stderr });
  });

  const unknown = (): TextLine[] => withLine("executeTransaction", { transaction: 99 });
  const FAILS = /outcome +accepted +fails: transaction 99 cannot be executed now/;
  const BACK = /fails: cannot set the time back to 5: it is/;
  it.each<[what: string, of: () => TextLine[], words: RegExp]>([
    [
      "names a market that does not exist",
      () => withLine("closeMarket", { market: 99 }),
      /refused, MARKET_NOT_FOUND/,
    ],
    ["makes the program fail", unknown, FAILS],
    ["seals a block that is not open", () => withLine("sealBlock", {}), /fails: no block is being assembled/],
    ["has an earlier time", () => withLine("bumpFees", {}, { t: 5 }), BACK],
  ])("%s: exits with 7, without a stack trace", async (_case, of, words) => {
    writeFileSync(file, withChecksums(of()));
    for (const command of ["replay", "journal", "shrink"] as const) {
      const { code, stderr } = await run(command, [file]);
      expect([code, stderr], command).toEqual([7, says(words)]);
      expect(stderr, command).toMatch(
        /^clobsim: line \d+ of .*report\.ndjson, \w+, has another outcome than recorded\n/,
      );
      expect(stderr, command).not.toMatch(/\n\s+at /);
    }
    rmSync(join(folder, "broken"), { recursive: true, force: true });
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken/journal.ndjson"), withChecksums(of()));
    await expect(serve({ data: join(folder, "broken") })).rejects.toMatchObject({ name: "ReplayDiffers" });
  });

  it("has a scenario that cannot be read: exits with 3 and names the line", async () => {
    writeFileSync(file, withChecksums(withLine("scenario", textsOf({ "a.yaml": "scenario: [" }))));
    const { code, stderr } = await run("shrink", [file]);
    const words = `clobsim: line ${lines.length + 1} of ${file} has a scenario that cannot be read\n`;
    expect([code, stderr]).toEqual([3, says(words)]);
  });
});
