import { Buffer } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/process.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import type { Command } from "../../src/core/commands.ts";
import { money, size } from "../../src/core/units.ts";
import { nodeDisk } from "../../src/engine/disk.ts";
import { LineWriter } from "../../src/engine/journal-codec.ts";
import type { ControlKind, ControlRecords } from "../../src/engine/journal-line.ts";
import { openConfigured } from "../../src/engine/open-exchange.ts";
import { checkDataDir } from "../../src/history/journal-files.ts";
import { mustSubmit } from "../bench/funded-exchange.ts";
import { linesIn, type TextLine, withChecksums } from "../cli/journal-lines.ts";
import { type CommandResult, run } from "../cli/tools.ts";
import { at, changed, type Json, type Path, placesOf, removed } from "../core/document/damaged-documents.ts";
import { JOURNAL, openOn } from "../engine/support/persisted.ts";
import {
  addressOf,
  callCommand,
  commandIn,
  eventCommand,
  fundCommand,
  marketCommand,
} from "../support/commands.ts";
import { temporaryFolder } from "../support/folder.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const report = join(folder, "report.ndjson");
const GOLDEN = new URL("../../fixtures/journals/", import.meta.url);

/** Values, as JSON, that no field or not every field may have. */
const WRONG: Readonly<Record<string, string>> = {
  null: "null",
  "a negative number": "-1",
  "a fraction": "1.5",
  "a number beyond all": "1e999",
  "a number that is not exact": "9007199254740993",
  "an empty text": '""',
  "a text": '"constructor"',
  "a NUL": '"a\\u0000b"',
  "a list of lists": "[[[1]]]",
  "an object with a prototype": '{"__proto__":{"kind":"world"}}',
  "something nested deeply": `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
};

/** A journal with one changed or missing field. */
interface DamagedJournal {
  readonly lines: readonly (TextLine | string)[];
  readonly number: number;
  readonly what: string;
  /** Whether the change has another type than the field, so that it must be refused. */
  readonly isOfOtherType: boolean;
}

/** Whether a path leads to no item of a list but the first. */
const isFirst = (path: Path): boolean => path.every((key) => typeof key === "string" || key === 0);

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value;

/** Returns the text of a line without its end. */
const begunWith = (line: Json): string => JSON.stringify(line).slice(0, -1);

const MARK = "a unique text";
/** Number of lines after the damaged one, which include the end of a report. */
const LINES_AFTER = 5;

function* damagedJournals(
  lines: readonly TextLine[],
  index: number,
  paths: readonly Path[],
): Generator<DamagedJournal> {
  const line = lines[index] as TextLine & Json;
  const number = index + 1;
  const withLine = (text: string) => [
    ...lines.slice(0, index),
    text,
    ...lines.slice(index + 1, index + LINES_AFTER),
  ];
  for (const path of paths) {
    const place = path.join(".");
    const isItem = typeof path.at(-1) === "number";
    const before = at(line, path);
    const marked = begunWith(
      changed(line, path, (object, key) => {
        object[key] = MARK;
      }),
    );
    for (const [what, json] of Object.entries(WRONG)) {
      const after: unknown = JSON.parse(json);
      yield {
        lines: withLine(marked.replace(JSON.stringify(MARK), () => json)),
        number,
        what: `${what} in ${place}`,
        isOfOtherType:
          before !== null &&
          after !== null &&
          typeOf(before) !== typeOf(after) &&
          // A refused request may have had any type.
          !(place.startsWith("d.asked.body.") && typeof after !== "object"),
      };
    }
    if (isItem) continue;
    const without = begunWith(removed(line, path));
    // A report may have any files, and a refused request may lack any field.
    const isOfOtherType = !/^d\.(?:texts|asked\.(?:body|query))\./.test(place);
    yield { lines: withLine(without), number, what: `nothing in ${place}`, isOfOtherType };
  }
}

/** Returns each line that has fields which no line of its kind before it has, with its journal and these fields. */
function* linesOfEachKind(
  journals: readonly (readonly TextLine[])[],
): Generator<[journal: readonly TextLine[], index: number, paths: readonly Path[]]> {
  const seen = new Set<string>();
  for (const lines of journals) {
    for (const [index, line] of lines.entries()) {
      const paths = [...placesOf(line as Json)].filter((path) => {
        if (!isFirst(path)) return false;
        // Fields that every line has are changed in some kinds only.
        if (path[0] !== "d" && !["opening", "start", "order", "placeOrder"].includes(String(line.k)))
          return false;
        const { kind } = (at(line as Json, path.slice(0, 2)) ?? {}) as { kind?: unknown };
        const field = [line.k, kind, typeOf(at(line as Json, path)), ...path].join();
        return !seen.has(field) && seen.add(field);
      });
      if (paths.length > 0) yield [lines, index, paths];
    }
  }
}

/** Returns a report with the kinds of lines that no golden journal has. */
async function reportOfOtherKinds(): Promise<TextLine[]> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, {}, []);
  const { exchange } = opened;
  const address = addressOf("ann");
  const words = (text: string) => text.split("; ").map((each) => commandIn(each, 1) as Command);
  const commands: readonly Command[] = [
    eventCommand("event"),
    marketCommand("market"),
    ...words("ether ann wei=1000000000000000000; nonce ann to=4"),
    callCommand(address, { kind: "send" }, { to: addressOf("ben"), value: "1" }),
    { kind: "dropTransaction", transaction: 2 },
    { kind: "setBlockTerms", miner: address, gasLimit: 1_000_000 },
    fundCommand(address, { collateral: money(5_000_000), everyMarket: size(7) }),
    ...words(
      'mining auto; base-fee 1; fault delay times=3 probability=0.5 blocks=2 reason="r"; end 1; close',
    ),
  ];
  for (const command of commands) mustSubmit(exchange, command);
  await opened.close();
  const lines = linesIn(Buffer.from(disk.image.get(JOURNAL) ?? []).toString("utf8"));
  const writer = new LineWriter(lines.length);
  const control = <Kind extends ControlKind>(kind: Kind, record: ControlRecords[Kind]): void =>
    writer.control(kind, record, exchange.now, 0);
  const refused = {
    ...{ path: "/clob/order", address, isProven: true, status: 400 },
    ...({ method: "POST", code: "INVALID_TICK_SIZE", field: "price" } as const),
  };
  const body = { tokenId: "1", side: "BUY", price: 0.555, size: 10 };
  const texts = { "a.yaml": "scenario: passes\nsteps:\n  - expect: {}\n", "parts/b.yaml": "steps: []\n" };
  control("defect", { command: null, message: "boom" });
  control("refused", { ...refused, asked: { kind: "request", body, query: { id: "1" }, isCut: false } });
  control("refused", {
    ...refused,
    asked: { kind: "command", command: { kind: "cancelAllOrders", address } },
  });
  control("refusedFull", { noted: 5_000 });
  control("report", { hash: exchange.hash, reason: "r", engine: "0.1.0", node: "20", replay: "r" });
  control("scenario", { file: "a.yaml", texts });
  control("defect", { command: { kind: "closeMarket", market: 2 }, message: "boom" });
  return [...lines, ...linesIn(Buffer.from(writer.buffer.bytes).toString("utf8"))];
}

/** Opens the directory as `clobsim serve`. Returns the exit code. */
const serve = async (): Promise<number> => {
  const opened = await openConfigured({ ...DEFAULT_CONFIG, clock: { mode: "frozen" }, data }, () => {});
  await opened.close();
  return EXIT.ok;
};

/** Runs the checks of `clobsim doctor` without measuring the disk. */
const checkData = async (): Promise<number> => {
  const findings = checkDataDir(nodeDisk, data);
  process.stdout.write(findings.map(({ text }) => `${text}\n`).join(""));
  const problem = findings.find(({ problem }) => problem !== null)?.problem ?? null;
  return problem === null ? EXIT.ok : EXIT[problem];
};

/** Every command that reads a journal. */
const READERS: Readonly<Record<string, () => Promise<CommandResult>>> = {
  serve: () => run(serve, []),
  doctor: () => run(checkData, []),
  replay: () => run("replay", [report]),
  journal: () => run("journal", [report]),
  inspect: () => run("inspect", [data], { all: "true" }),
  "inspect --order": () => run("inspect", [report], { order: "1" }),
  "journal --grep": () => run("journal", [data], { grep: "^4acfce73-8b67-80ed-9cc2-000000000001$" }),
  repair: () => run("repair", [data]),
  report: () => run("report", [data], { out: join(folder, "out.ndjson") }),
  record: () => run("record", [report]),
  shrink: () => run("shrink", [report], { budget: "1s" }),
  "shrink --expect": () => run("shrink", [report], { budget: "1s", expect: "trades: []" }),
};

function write(lines: readonly (TextLine | string)[]): void {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { mode: 0o700 });
  const text = withChecksums(lines);
  writeFileSync(join(data, "journal.ndjson"), text);
  writeFileSync(report, text);
}

/** The shortest first, because each case replays the lines before its own. */
const GOLDEN_LINES = readdirSync(GOLDEN)
  .map((name) => linesIn(readFileSync(new URL(name, GOLDEN), "utf8")))
  .sort((one, other) => one.length - other.length);
const OTHER_KINDS = await reportOfOtherKinds();
const CASES = [...linesOfEachKind([OTHER_KINDS, ...GOLDEN_LINES])].map(
  ([lines, index, paths]) => [String(lines[index]?.k), index + 1, lines, paths] as const,
);

type LineKind = Command["kind"] | ControlKind | "order" | "cancel";

/** All kinds of lines. */
const KINDS = [
  ...(["opening", "start", "clock", "restore", "reset", "close", "defect", "scenario"] as const),
  ...(["refused", "refusedFull", "report", "order", "cancel", "createEvent", "createMarket"] as const),
  ...(["closeMarket", "resolveMarket", "fundAccount", "deriveCredentials", "placeOrder"] as const),
  ...(["cancelOrder", "cancelAllOrders", "expireOrder", "sendTransaction", "mineBlocks"] as const),
  ...(["reorganizeChain", "setSettlementFault", "endSettlementFault", "bumpFees"] as const),
  ...(["setNativeBalance", "setNonce", "dropTransaction", "setMining", "setBlockTerms"] as const),
  ...(["setNextBaseFee", "produceBlock", "executeTransaction", "sealBlock"] as const),
] satisfies readonly LineKind[];
/** Does not compile if a kind is missing. */
const hasAllKinds: Exclude<LineKind, (typeof KINDS)[number]> extends never ? true : false = true;

/** Requires that no defect is reported, and that an error names a line. */
function assertMessage({ code, stdout, stderr }: CommandResult, number: number | null, what: string): void {
  const output = `${stdout}${stderr}`;
  expect(code, `${what}: ${output}`).not.toBe(EXIT.defect);
  expect(output, what).not.toMatch(/\n\s+at /);
  if (number === null && (code === EXIT.ok || code === EXIT.failed || code === EXIT.usage)) return;
  expect(output, what).toMatch(number === null ? /\bline \d+/ : new RegExp(`\\bline ${number}\\b`));
}

describe("a journal with valid checksums", () => {
  it("is tested with every kind of line", () => {
    expect(hasAllKinds).toBe(true);
    expect(new Set(CASES.map(([kind]) => kind))).toEqual(new Set(KINDS));
  });

  it.each(CASES)(
    "and a damaged line of kind %s is refused (line %i)",
    async (_kind, number, lines, paths) => {
      const names = Object.keys(READERS);
      let turn = number;
      for (const wrong of damagedJournals(lines, number - 1, paths)) {
        const name = names[turn % names.length] as string;
        turn += 1;
        write(wrong.lines);
        const ran = await (READERS[name] as () => Promise<CommandResult>)();
        const what = `${name} of ${wrong.what}`;
        assertMessage(ran, wrong.isOfOtherType ? wrong.number : null, what);
        if (wrong.isOfOtherType) {
          expect(ran.code, what).toBe(name === "repair" && number > 1 ? EXIT.usage : EXIT.corrupt);
          expect(`${ran.stdout}${ran.stderr}`, what).toMatch(/: expected .*, found |has been changed since/);
        }
      }
    },
  );
});
