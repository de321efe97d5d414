import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { ExchangeConfig } from "../../src/core/state.ts";
import { type Disk, nodeDisk } from "../../src/engine/disk.ts";
import { JOURNAL_FILE, LOCK_FILE, STATE_FILE } from "../../src/engine/files.ts";
import type { DataFileError } from "../../src/engine/journal.ts";
import type { Line } from "../../src/engine/journal-line.ts";
import { openConfigured } from "../../src/engine/open-exchange.ts";
import { loadOrigin, requireSameOrigin } from "../../src/engine/origin.ts";
import { checkDataDir } from "../../src/history/journal-files.ts";
import { flagOf } from "../../src/setting.ts";
import type { World } from "../../src/simulation/world.ts";
import { linesIn, withChecksums } from "../cli/journal-lines.ts";
import { type CommandResult, runLine } from "../cli/tools.ts";
import type { MarketPage } from "../server/replies.ts";
import { fetchJson, TINY_WORLD, yesOf } from "../support/http.ts";
import { Program } from "../support/program.ts";
import { persistedConfig } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

let program: Program;
let count = 0;

beforeAll(async () => {
  program = await Program.built(["--log-level", "silent"]);
  const config = persistedConfig({ data: program.path("intact") });
  for (let start = 0; start < 2; start += 1) {
    const opened = await openConfigured(config, () => {});
    takeSteps(opened, 12);
    await opened.close();
  }
});
afterAll(() => program.dispose());

/** Returns a changed copy of a directory that was stopped cleanly. */
async function changedCopy(change: (data: string) => Promise<unknown>): Promise<string> {
  count += 1;
  const data = program.path(`copy-${count}`);
  await cp(program.path("intact"), data, { recursive: true });
  await change(data);
  return data;
}

const filesIn = (data: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(data).map((name) => [name, readFileSync(join(data, name), "latin1")]));

/** Runs `serve`, which must fail, in this process. */
const serve = (args: readonly string[]): Promise<CommandResult> =>
  runLine(["serve", "--port", "0", "--log-level", "silent", ...args], program.folder);

/** Starts the program with a directory, which it must refuse and not change. */
async function refused(data: string, args: readonly string[] = []): Promise<[code: number, stderr: string]> {
  const before = filesIn(data);
  const { code, stderr, stdout } = await serve(["--data", data, ...args]);
  expect(stdout).toBe("");
  expect(filesIn(data)).toEqual(before);
  return [code, stderr];
}

const sentence = (...parts: readonly string[]) =>
  expect.stringMatching(new RegExp(`^clobsim: [^\\n]*${parts.join("[^\\n]*")}[^\\n]*\\n`));

const journalIn = (data: string): string => join(data, "journal.ndjson");

/** A line as written in the file. */
type TextLine = Omit<Line, "p" | "r" | "c"> & Readonly<Record<"p" | "r" | "c", string>>;

/** Changes lines of a journal, with correct checksums, and removes its state files. */
async function rewrite(data: string, change: (line: TextLine) => object): Promise<void> {
  const lines = linesIn(await readFile(journalIn(data), "utf8"));
  const changed = lines.map((line) => ({ ...line, ...change(line as never) }));
  await writeFile(journalIn(data), withChecksums(changed));
  await removeStates(data);
}

async function removeStates(data: string): Promise<void> {
  for (const name of ["db.json", "db.previous.json"]) await rm(join(data, name), { force: true });
}

/** Settings that differ from those of the directory. */
const OTHERS: readonly [args: [flag: string, value: string], words: string][] = [
  [["--seed", "8"], "--seed kept, found --seed 8"],
  [["--settlement", "manual"], "--settlement auto, found --settlement manual"],
  [["--balances", "settled"], "--balances optimistic"],
  [["--faucet", "5"], "--faucet 10000, found --faucet 5"],
  [["--approvals", "required"], "--approvals granted, found --approvals required"],
  [["--credentials", "once"], "--credentials rotate, found --credentials once"],
  [["--start", "2030-01-01T00:00:00Z"], "--start 2026-01-01T00:00:00.000Z"],
  [["--world", TINY_WORLD], "was made from another world than --world asks for"],
];

describe("a directory is refused and not changed", () => {
  it("for each setting that decides rules", () => {
    const flags = Object.keys(ExchangeConfig.fields).map((name) => `--${flagOf(name)}`);
    expect(OTHERS.map(([[flag]]) => flag)).toEqual(expect.arrayContaining(flags));
  });

  it.each(OTHERS)("with 2 for another setting: $0.0", async (args, words) => {
    expect(await refused(program.path("intact"), args)).toEqual([2, sentence(words, "--reset")]);
  });

  it("but not for the same world with its keys in another order", async () => {
    const config = readConfig({ flags: { world: [TINY_WORLD] }, environment: {} });
    const origin = await loadOrigin(config, Date.now());
    const turned = Object.fromEntries(Object.entries(origin.base.content).reverse());
    const other = { ...origin, base: { kind: "world", content: turned as unknown as World } } as const;
    await expect(requireSameOrigin(config, other, "data", async () => origin)).resolves.toBeUndefined();
  });

  it("with 2 if it has other files, or is a file", async () => {
    const data = program.path("of-others");
    await mkdir(data);
    await writeFile(join(data, "thesis.txt"), "all of it");
    expect(await refused(data)).toEqual([2, sentence("has other files, such as thesis.txt")]);
    expect(await refused(data, ["--reset"])).toEqual([2, sentence("thesis.txt")]);
    const file = join(data, "thesis.txt");
    const { code, stderr } = await serve(["--data", file]);
    expect([code, stderr]).toEqual([2, sentence("is a file, expected a directory")]);
  });

  const DAMAGED_FIRST = "journal\\.ndjson is damaged at byte 0, where line 1 should begin";
  it.each<[string, (data: string) => Promise<unknown>, string]>([
    ["its journal is missing", (data) => rm(journalIn(data)), "db.json, but nothing in journal.ndjson"],
    ["its journal is empty", (data) => edit(data, () => []), "nothing in journal.ndjson"],
    ["its journal was cut", (data) => edit(data, (old) => old.subarray(0, -300)), "was durable up to byte"],
    ["its journal's first line is damaged", (data) => damage(data, 20), "damaged at byte 0"],
    ["that line is damaged, and its state is intact", (data) => damage(data, 20, false), DAMAGED_FIRST],
    [
      "that line is cut, and its state is intact",
      (data) => edit(data, (old) => old.subarray(0, 300)),
      `${DAMAGED_FIRST}: it is incomplete, but was complete when db\\.json was written`,
    ],
    ["its journal is damaged in the middle", (data) => damage(data, 2_000), "has been changed since"],
    [
      "the line ends of its journal were converted",
      (data) => edit(data, (old) => Buffer.from(old.toString().replaceAll("\n", "\r\n"))),
      `${DAMAGED_FIRST}: it ends with CR LF`,
    ],
    ["a part of its journal is zeroed", (data) => damage(data, 2_000, true, 0), "line \\d+ is complete"],
    ["its journal is not that of its state", (data) => rewriteKeepingState(data), "another line"],
    ["there is text after a clean stop", (data) => edit(data, (old) => [...old, 120]), "stopped cleanly"],
  ])("with 3 if %s", async (_case, change, words) => {
    expect(await refused(await changedCopy(change))).toEqual([3, sentence(words)]);
  });

  it("with 6 if a newer program wrote to it, even if its state is intact", async () => {
    const newer = (line: TextLine): object =>
      line.k === "start" ? { d: { ...(line.d as object), engine: "99.0.0" } } : {};
    const inJournal = await changedCopy((data) => rewrite(data, newer));
    expect(await refused(inJournal)).toEqual([6, sentence("written by version 99.0.0")]);
    const other = (line: TextLine): object =>
      line.k === "opening" ? { d: { ...(line.d as object), format: "clobsim-journal/2" } } : {};
    const ofFormat = await changedCopy((data) => rewrite(data, other));
    expect(await refused(ofFormat)).toEqual([6, sentence("clobsim-journal/2")]);
    const inState = await changedCopy(async (data) => {
      const text = (await readFile(join(data, "db.json"), "utf8")).replace(
        /"engine":"[^"]+"/,
        '"engine":"99.0.0"',
      );
      const content = text.slice(0, text.lastIndexOf('"sha256"'));
      const sha256 = createHash("sha256").update(content).digest("hex");
      await writeFile(join(data, "db.json"), `${content}"sha256":"${sha256}"\n}\n`);
    });
    expect(await refused(inState)).toEqual([6, sentence("written by version 99.0.0")]);
  });

  it("with 7 if a command has another result than recorded, and names the first", async () => {
    const change = (line: TextLine): object =>
      line.n >= 9 && line.r !== "00000000" ? { r: "12345678" } : {};
    const data = await changedCopy((data) => rewrite(data, change));
    expect(await refused(data)).toEqual([7, sentence("\\b(?:line|command) (?:9|10)\\b")]);
  });
});

async function edit(data: string, change: (journal: Buffer) => Iterable<number>): Promise<void> {
  await writeFile(journalIn(data), Buffer.from([...change(await readFile(journalIn(data)))]));
}

async function damage(data: string, at: number, isAlone = true, byte?: number): Promise<void> {
  await edit(data, (journal) => journal.fill(byte ?? (journal[at] as number) ^ 1, at, at + 1));
  if (isAlone) await removeStates(data);
}

async function rewriteKeepingState(data: string): Promise<void> {
  const state = await readFile(join(data, "db.json"));
  await rewrite(data, ({ n, t }) => (n === 8 ? { t: t + 1 } : {}));
  await writeFile(join(data, "db.json"), state);
}

describe("a directory that is not refused", () => {
  it("starts again with --reset, which prints the removed files", async () => {
    const data = await changedCopy(async () => {});
    const served = await program.serve(["--data", data, "--reset", "--world", TINY_WORLD]);
    const { stdout } = await served.end("SIGTERM");
    expect(stdout).toContain("new; removed db.json, db.previous.json, journal.ndjson");
  });

  it("keeps its files if --reset is given with an unreadable world", async () => {
    const data = await changedCopy(async () => {});
    expect(await refused(data, ["--reset", "--world", "nowhere.json"])).toEqual([
      2,
      sentence("nowhere.json"),
    ]);
  });

  it("is recovered from the journal if its state is damaged, with a warning", async () => {
    const data = await changedCopy(async (data) => {
      for (const name of ["db.json", "db.previous.json"]) await writeFile(join(data, name), "null");
    });
    const served = await program.serve(["--data", data]);
    expect((await served.end("SIGTERM")).stderr).toContain("db.json was changed");
  });

  it("serves a copied state file as a world, also one edited by hand", async () => {
    const copy = program.path("copied.json");
    await cp(program.path("intact", "db.json"), copy);
    const bookOf = async (file: string): Promise<unknown> => {
      const served = await program.serve(["--ephemeral", "--clock", "frozen", "--world", file]);
      const [market] = (await fetchJson<MarketPage>(served.url, "/api/markets")).data;
      const book = await fetchJson(served.url, `/clob/book?token_id=${yesOf(market)}`);
      const shown = { question: market?.question, book };
      await served.end("SIGTERM");
      return shown;
    };
    const resumed = await program.serve(["--data", await changedCopy(async () => {})]);
    await resumed.end("SIGTERM");
    const before = await bookOf(copy);
    expect(before).toMatchObject({ question: "market", book: { bids: expect.any(Array) } });
    const text = await readFile(copy, "utf8");
    await writeFile(copy, text.replaceAll('"question":"market"', '"question":"changed by hand"'));
    expect(await bookOf(copy)).toEqual({ ...(before as object), question: "changed by hand" });
  });
});

describe("a directory that the system does not create", () => {
  const refusing = (code: string): Disk => ({
    ...nodeDisk,
    makeFolder: (path) => {
      throw Object.assign(new Error(`${code}: no, mkdir '${path}'`), { code, syscall: "mkdir", path });
    },
  });

  it.each([
    ["EACCES", "usage", "name another directory with --data, or use --ephemeral"],
    ["EPERM", "usage", "EPERM: no, mkdir"],
    ["EROFS", "usage", "EROFS: no, mkdir"],
    ["ELOOP", "usage", "ELOOP: no, mkdir"],
    ["ENAMETOOLONG", "usage", "ENAMETOOLONG: no, mkdir"],
    ["EEXIST", "usage", "EEXIST: no, mkdir"],
    ["ENOSPC", "disk", "cannot be used: ENOSPC"],
  ])("with %s is a problem of the kind %s", async (code, problem, sentence) => {
    const config = persistedConfig({ data: program.path("refused") });
    const machine = { disk: refusing(code), wallNow: Date.now };
    const error = await openConfigured(config, () => {}, machine).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ problem, message: expect.stringContaining(sentence) });
  });

  it.each([
    ["EACCES", STATE_FILE],
    ["EIO", STATE_FILE],
    ["EACCES", LOCK_FILE],
    ["EACCES", JOURNAL_FILE],
  ])("with %s of %s is found as opening reports it", async (code, name) => {
    const data = program.path(`found-${code}-${name}`);
    const open = (disk: Disk) =>
      openConfigured(persistedConfig({ data }), () => {}, { disk, wallNow: Date.now });
    await (await open(nodeDisk)).close();
    await writeFile(`${data}/${LOCK_FILE}`, "");
    const disk: Disk = {
      ...nodeDisk,
      open: (path, how) => {
        const isAllowed = how === "read" && name === JOURNAL_FILE;
        if (!path.endsWith(`/${name}`) || isAllowed) return nodeDisk.open(path, how);
        throw Object.assign(new Error(`${code}: no, open '${path}'`), { code, syscall: "open", path });
      },
    };
    const error = (await open(disk).catch((thrown: unknown) => thrown)) as DataFileError;
    const [found] = checkDataDir(disk, data).filter((finding) => finding.problem !== null);
    expect([found?.problem, found?.text]).toEqual([error.problem, error.message]);
    expect(error.message).toContain(`${data}/${name}`);
    if (name === LOCK_FILE) expect(nodeDisk.names(data)).toContain(LOCK_FILE);
  });
});
