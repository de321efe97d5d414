import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile, watch } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { save } from "../../src/cli/output.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useProgram } from "../support/program.ts";
import { refused, run, says } from "./tools.ts";

const folder = temporaryFolder();
const path = join(folder, "out.csv");
const clobsim = await useProgram();

function* failing(): Generator<string> {
  yield "half of the content";
  throw new RangeError("no more");
}

describe("a file that a command writes", () => {
  it("is as before if its content cannot be completed", async () => {
    writeFileSync(path, "earlier");
    await expect(save(path, failing())).rejects.toThrow("no more");
    expect(readFileSync(path, "utf8")).toBe("earlier");
    expect(readdirSync(folder)).toEqual(["out.csv"]);
  });

  it("replaces an earlier one, but not a link", async () => {
    const link = join(folder, "link.csv");
    symlinkSync(path, link);
    await save(link, ["one, ", "two"]);
    expect(readFileSync(path, "utf8")).toBe("one, two");
    await save(path, "three");
    expect(readFileSync(link, "utf8")).toBe("three");
    expect(readdirSync(folder).sort()).toEqual(["link.csv", "out.csv"]);
  });

  it.runIf(process.platform === "linux")("ends the command with 4 if the disk is full", async () => {
    for (const command of ["flow", "world"] as const) {
      const message = "/dev/full cannot be written (ENOSPC)";
      expect(await run(command, [], { out: "/dev/full" })).toEqual(refused(message, 4));
    }
    for (const command of ["world", "--version"]) {
      const redirected = `"${process.execPath}" "${clobsim.entry}" ${command} >/dev/full`;
      const { status, stderr } = spawnSync("sh", ["-c", redirected], { encoding: "utf8" });
      const message = expect.stringMatching(/^clobsim: the output cannot be written: ENOSPC.*\n$/);
      expect([status, stderr]).toEqual([4, message]);
    }
  });
});

it.each([
  ["EMFILE", 2, "raise the limit of open files, ulimit -n"],
  ["EBUSY", 2, "EBUSY: no"],
  ["ENOENT", 2, "ENOENT: no"],
  ["EFBIG", 4, "EFBIG: no"],
  ["Unknown system error -116", 4, "-116: no"],
  ["EBADF", 70, "this is a defect"],
])("%s, an error of the system, ends a command with %d", async (code, expected, words) => {
  const error = Object.assign(new Error(`${code}: no`), { code, syscall: "open" });
  expect(await run(() => Promise.reject(error), [])).toEqual(refused(says(words), expected));
});

it("a file may have a name as long as the system allows", async () => {
  const name = `${"a".repeat(250)}.json`;
  await save(join(folder, name), "content");
  expect(readFileSync(join(folder, name), "utf8")).toBe("content");
});

describe.skipIf(process.platform === "win32")("a disk that takes no more bytes", () => {
  /** Runs a command whose files may have no byte. */
  const runFull = (...args: string[]) => {
    const limited = ["-c", 'ulimit -f 0 && exec "$@"', "sh", process.execPath, clobsim.entry, ...args];
    return spawnSync("sh", limited, { cwd: clobsim.folder, encoding: "utf8" });
  };

  it.each([
    ["a golden file", "golden: g.txt", "g.txt"],
    ["a state hash in a scenario", `stateHash: "v2:${"0".repeat(64)}"`, "a.yaml"],
  ])("leaves %s as it was before run --update", (_what, expectation, failing) => {
    const scenario = `scenario: a\nsteps: [{ expect: { ${expectation} } }]\n`;
    const before = { "a.yaml": scenario, "g.txt": "earlier\n" };
    for (const [name, text] of Object.entries(before)) clobsim.write(`update/${name}`, text);
    const { status, stderr } = runFull("run", "update/a.yaml", "--update");
    const message = expect.stringMatching(`^clobsim: .*update/${failing} cannot be written: E[A-Z]+: .*\n$`);
    expect([status, stderr]).toEqual([4, message]);
    expect(clobsim.files("update")).toEqual(before);
  });

  it("leaves a project as it was before init, so that init can be tried again", () => {
    clobsim.write("project/.gitignore", "mine\n");
    clobsim.write("project/scenarios/own.yaml", "");
    expect(runFull("init", "project").status).not.toBe(0);
    expect(readdirSync(clobsim.path("project")).sort()).toEqual([".gitignore", "scenarios"]);
    expect(clobsim.files("project/scenarios")).toEqual({ "own.yaml": "" });
  });
});

it.skipIf(process.platform === "win32")("the page of the inspector is written to a pipe", async () => {
  execFileSync("mkfifo", [clobsim.path("page.html")]);
  clobsim.write("bad.yaml", "scenario: bad\nsteps: [{ expect: { quote: { YES: { bid: 0.5 } } } }]\n");
  await clobsim.run(["run", "bad.yaml", "--report", "reports"]);
  const [page, { code }] = await Promise.all([
    readFile(clobsim.path("page.html"), "utf8"),
    clobsim.run(["inspect", "reports/bad.ndjson", "--html", "page.html"]),
  ]);
  expect(code).toBe(0);
  expect(page).toContain("<title>clobsim inspector</title>");
});

describe("a signal while a command writes a file", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves it as before: %s", async (signal, expected) => {
    clobsim.write("flows/a.csv", "earlier");
    const changes = watch(clobsim.path("flows"));
    const { end } = clobsim.launch(["flow", "--orders", "10000000", "--out", "flows/a.csv"]);
    for await (const { filename } of changes) if (filename?.endsWith(".draft")) break;
    const { code } = await end(signal);
    expect(code).toBe(expected);
    expect(clobsim.files("flows")).toEqual({ "a.csv": "earlier" });
  });
});
