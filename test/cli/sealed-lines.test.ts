import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CommandName } from "../../src/cli/commands.ts";
import { EXIT } from "../../src/cli/exit-code.ts";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { linesIn, resealed, type TextLine } from "./resealed.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const file = join(folder, "report.ndjson");

/** The lines of an exchange that has traded, and of one that began from its state. */
let lines: readonly TextLine[] = [];
let fromState: readonly TextLine[] = [];

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  await server.close();
  lines = linesIn(readFileSync(join(data, "journal.ndjson"), "utf8"));
  const second = join(folder, "second");
  await (await serve({ data: second, world: join(data, "db.json") })).close();
  fromState = linesIn(readFileSync(join(second, "journal.ndjson"), "utf8"));
});

type Data = Record<string, unknown>;

/** The lines with the data of one changed. */
function withData(all: readonly TextLine[], number: number, change: (data: Data) => void): TextLine[] {
  const d = structuredClone(all[number - 1]?.d) as Data;
  change(d);
  return all.map((line) => (line.n === number ? { ...line, d } : line));
}

/** The lines with one more at the end. */
const withLine = (k: string, d: unknown, more: object = {}): TextLine[] => {
  const n = lines.length + 1;
  return [...lines, { n, p: "00000000", s: 0, t: lines.at(-1)?.t, k, d, r: "00000000", ...more }];
};

const content = (d: Data): Data => (d.base as Data).content as Data;
const textsOf = (texts: object, file = Object.keys(texts)[0]) => ({ file, texts });

const inOpening = (change: (data: Data) => void): TextLine[] => withData(lines, 1, change);
const LONG = `${"a".repeat(300)}.yaml`;

type Sealed = [what: string, of: () => readonly TextLine[], words: string];

/** Tries commands on a report, each of which must name its line and what is wrong there. */
async function expectRefused(
  report: readonly (TextLine | string)[],
  words: string,
  commands: readonly CommandName[],
): Promise<void> {
  writeFileSync(file, resealed(report));
  for (const command of commands) {
    const { code, stdout, stderr } = await run(command, [file]);
    const isRepair = command === "repair";
    expect(isRepair ? [EXIT.usage, EXIT.corrupt] : [EXIT.corrupt], command).toContain(code);
    const said = (isRepair ? stdout : stderr).split("\n").find((line) => line.includes(words)) ?? stderr;
    expect(said, command).toContain(words);
    expect(said, command).toMatch(
      /\breport\.ndjson\b.*\bline \d+\b.*\(sed -n \d+p .*report\.ndjson prints it\)/,
    );
  }
}

describe("a line whose check is right, and which no program has written", () => {
  const KIND = "k: expected the kind of a command or of a control record, found";
  const PATHS = "d.texts: expected paths of files in the scenario's folder";
  const ADDED = rowsOf(`
    goes back to a line that is not there        | restore     | {"line":999} | d.line: expected an earlier line, found 999
    is of no kind                                | takeOver    | {}           | ${KIND} "takeOver"
    is of a kind that every object has           | constructor | {}           | k: expected the kind
    has a field of nobody's                      | closeMarket | {"market":1,"__proto__":{}} | d: expected only the fields market, found "__proto__"
    says the kind twice                          | closeMarket | {"kind":"bumpFees","market":1} | only the fields market, found "kind"
    mines for ever                               | mineBlocks  | {"count":1e12} | d.count: expected an integer from 1 to 100000, found 1000000000000
    carries a file with a NUL in its name        | scenario    | {"file":"a\\u0000.yaml","texts":{"a\\u0000.yaml":""}} | ${PATHS}
    carries a file for elsewhere                 | scenario    | {"file":"../a.yaml","texts":{"../a.yaml":""}} | found "../a.yaml"
    carries a file for anywhere                  | scenario    | {"file":"/a.yaml","texts":{"/a.yaml":""}}   | found "/a.yaml"
    carries a file with too long a name          | scenario    | {"file":"${LONG}","texts":{"${LONG}":""}}   | found "aaa
    carries a file below another                 | scenario    | {"file":"a","texts":{"a":"","a/b.yaml":""}} | found "a/b.yaml"
    carries no file of the scenario's name       | scenario    | {"file":"b.yaml","texts":{"a.yaml":""}}     | d.file: expected the path of one of the texts, found "b.yaml"
  `).map(
    ([what = "", kind = "", data = "", words = ""]): Sealed => [
      what,
      () => withLine(kind, JSON.parse(data)),
      words,
    ],
  );

  it.each<Sealed>([
    ...ADDED,
    [
      "opens another exchange",
      () => withLine("opening", lines[0]?.d),
      'expected no other opening, found "opening"',
    ],
    [
      "opens none",
      () => lines.map((line) => (line.n === 1 ? { ...line, k: "reset", d: {} } : line)),
      'k: expected opening, found "reset"',
    ],
    ["has another number", () => withLine("bumpFees", {}, { n: 99 }), "n: expected "],
    [
      "has a base of no kind",
      () => inOpening((d) => Object.assign(d.base as Data, { kind: "moon" })),
      'd.base.kind: expected one of world, state, found "moon"',
    ],
    [
      "has a world whose text does not hold",
      () => inOpening((d) => Object.assign(content(d), { devAccounts: ["0x1"] })),
      "d.base.content: devAccounts[0]: expected an address",
    ],
    [
      "has no room for its world",
      () => inOpening((d) => Object.assign(d, { start: 5 })),
      "d.base.content: the start 1970-01-01T00:00:00.005Z leaves no room",
    ],
  ])("%s: it ends with 3 and says what was expected there", async (_what, of, words) => {
    await expectRefused(of(), words, ["replay", "journal", "shrink", "repair"]);
  });

  it.each<Sealed>([
    [
      "has a state that does not hold",
      () => withData(fromState, 1, (d) => Object.assign(content(d), { orders: [null] })),
      "d.base.content: orders[0]: expected an object, found null",
    ],
    [
      "has a state that begins nowhere",
      () => withData(fromState, 1, (d) => Object.assign(content(d), { clobsim: null })),
      "d.base.content: clobsim: expected an object, found null",
    ],
  ])("%s: it ends with 3, too", async (_what, of, words) => {
    await expectRefused(of(), words, ["replay", "journal", "repair"]);
  });

  it("goes back in words that clobsim does not write, and is told, too", async () => {
    const text = JSON.stringify(withLine("restore", { line: 3 }).at(-1))
      .slice(0, -1)
      .replace('"k":', '"k": ');
    writeFileSync(file, resealed([...lines, text]));
    const { code, stderr } = await run("replay", [file]);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/line \d+: d\.line: expected an earlier line, told as clobsim does, found 3/),
    ]);
  });

  it.each<[what: string, of: () => TextLine[], words: RegExp]>([
    [
      "speaks of a market that is not there",
      () => withLine("closeMarket", { market: 99 }),
      /refused, MARKET_NOT_FOUND/,
    ],
    [
      "makes the program fail",
      () => withLine("executeTransaction", { transaction: 99 }),
      /outcome +accepted +fails: transaction 99 cannot be executed now/,
    ],
    [
      "ends a block that nobody has begun",
      () => withLine("sealBlock", {}),
      /fails: no block is being assembled/,
    ],
    [
      "is of an earlier moment",
      () => withLine("bumpFees", {}, { t: 5 }),
      /fails: 5 is over: time has passed up to/,
    ],
  ])("%s: it ends with 7, without a trace of the program", async (_what, of, words) => {
    writeFileSync(file, resealed(of()));
    for (const command of ["replay", "journal", "shrink"] as const) {
      const { code, stderr } = await run(command, [file]);
      expect([code, stderr], command).toEqual([7, expect.stringMatching(words)]);
      expect(stderr, command).toMatch(
        /^clobsim: line \d+ of .*report\.ndjson, \w+, has another outcome than recorded\n/,
      );
      expect(stderr, command).not.toMatch(/\n\s+at /);
    }
    rmSync(join(folder, "broken"), { recursive: true, force: true });
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken/journal.ndjson"), resealed(of()));
    await expect(serve({ data: join(folder, "broken") })).rejects.toMatchObject({ name: "ReplayDiffers" });
  });

  it("carries a scenario that cannot be read, and is named", async () => {
    writeFileSync(file, resealed(withLine("scenario", textsOf({ "a.yaml": "scenario: [" }))));
    const { code, stderr } = await run("shrink", [file]);
    const words = `clobsim: line ${lines.length + 1} of ${file} has a scenario that cannot be read\n`;
    expect([code, stderr]).toEqual([3, expect.stringContaining(words)]);
  });
});
