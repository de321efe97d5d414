import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_WORLD } from "../support/http.ts";
import { Program } from "../support/program.ts";

let program: Program;
beforeAll(async () => {
  program = await Program.built(["--log-level", "silent"]);
  const served = await program.serve(["--world", TINY_WORLD, "--data", program.path("original")]);
  await served.end("SIGTERM");
});
afterAll(() => program.dispose());

/** Things that are not regular files, and how to create them. */
const SPECIAL: readonly (readonly [what: string, create: (path: string) => void])[] = [
  ["a named pipe", (path) => void execFileSync("mkfifo", [path])],
  ["a device", (path) => symlinkSync("/dev/zero", path)],
  ["a directory", (path) => void mkdirSync(path)],
];

const SCENARIO = "scenario: a\naccounts: { alice: { USDC: 1 } }\nsteps:\n  - alice: BUY 1 YES @ 0.5\n";

describe.skipIf(process.platform === "win32")("a special file or a directory", () => {
  it.each(SPECIAL)("is refused with 2 on the command line: %s", async (what, create) => {
    const path = program.path("odd");
    rmSync(path, { recursive: true, force: true });
    create(path);
    const good = program.path("good.yaml");
    writeFileSync(good, SCENARIO);
    const message = `${path}: expected a file, found ${what}\n`;
    const named: [args: string[], message: string][] = [
      [["serve", "--ephemeral", "--port", "0", "--world", path], `clobsim: --world ${message}`],
      [["run", good, "--target", "http://127.0.0.1:1", "--wallets", path], `clobsim: --wallets ${message}`],
    ];
    // A directory may be a data directory.
    if (what !== "a directory")
      for (const tool of ["replay", "record", "shrink"]) named.push([[tool, path], `clobsim: ${message}`]);
    for (const [args, words] of named) {
      const { code, stdout, stderr } = await program.run(args);
      expect([code, stdout, stderr], args[0]).toEqual([2, "", words]);
    }
  });

  it.each(SPECIAL)("is refused with 2 in a scenario: %s", async (what, create) => {
    const folder = program.path(`scenarios with ${what}`);
    mkdirSync(folder);
    create(join(folder, "odd.csv"));
    const file = join(folder, "a.yaml");
    for (const step of ["include: odd.csv", "replay: odd.csv", "expect: { golden: odd.csv }"]) {
      writeFileSync(file, `scenario: a\nsteps:\n  - ${step}\n`);
      const { code, stderr } = await program.run(["run", file]);
      expect([code, stderr], step).toEqual([
        2,
        expect.stringMatching(/a\.yaml:\d+:\d+: .*expected a (?:file|path)/),
      ]);
    }
  });

  it.each(
    ["journal.ndjson", "db.json", "lock"].flatMap((name) =>
      SPECIAL.map(([what, create]) => [name, what, create] as const),
    ),
  )("is refused with 3 in a data directory: %s is %s", async (name, what, create) => {
    const data = program.path("damaged");
    rmSync(data, { recursive: true, force: true });
    cpSync(program.path("original"), data, { recursive: true });
    rmSync(join(data, name), { force: true });
    create(join(data, name));
    const before = readdirSync(data);
    const words = `${join(data, name)}: expected a file, found ${what}\n`;
    const served = await program.run(["serve", "--port", "0", "--data", data]);
    expect([served.code, served.stdout, served.stderr]).toEqual([3, "", `clobsim: ${words}`]);
    const examined = await program.run(["doctor", data]);
    expect([examined.code, examined.stdout]).toEqual([3, expect.stringContaining(words)]);
    expect(readdirSync(data)).toEqual(before);
  });
});

it.each(["file/below", "loop", "a".repeat(300)])(
  "an invalid path is refused in a line, not as a defect: %s",
  async (name) => {
    writeFileSync(program.path("file"), "");
    rmSync(program.path("loop"), { force: true });
    symlinkSync("loop", program.path("loop"));
    for (const tool of ["replay", "record", "shrink", "run", "report", "doctor"]) {
      const { code, stdout, stderr } = await program.run([tool, program.path(name)]);
      expect([code, stdout + stderr], tool).toEqual([
        2,
        expect.stringMatching(/^(?:✓ disk .*\n)?(?:✗|clobsim:) .*\n$/),
      ]);
    }
  },
);

it("a file that is too large is refused before it is read", async () => {
  const path = program.path("large");
  writeFileSync(path, "{");
  truncateSync(path, 600 * 1024 * 1024);
  const { code, stderr } = await program.run(["serve", "--ephemeral", "--port", "0", "--world", path]);
  const message = `clobsim: --world ${path}: expected at most 524288000 bytes, found more\n`;
  expect([code, stderr]).toEqual([2, message]);
});
