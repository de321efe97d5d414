import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile, watch } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { save } from "../../src/cli/output.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useProgram } from "../support/program.ts";
import { refused, run } from "./tools.ts";

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
    const redirected = `"${process.execPath}" "${clobsim.entry}" world >/dev/full`;
    const { status, stderr } = spawnSync("sh", ["-c", redirected], { encoding: "utf8" });
    expect([status, stderr]).toEqual([4, expect.stringContaining("the output cannot be written: ENOSPC")]);
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
