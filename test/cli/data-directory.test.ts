import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { DEFAULT_DATA } from "../../src/config.ts";
import { saveReport } from "../../src/history/report.ts";
import { temporaryFolder } from "../support/folder.ts";
import { run, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
let count = 0;

/** Makes a data directory with a session. `before` may put something into it first. */
async function dataDirectory(name: string, before: (data: string) => void = () => {}): Promise<string> {
  count += 1;
  const data = join(folder, `project-${count}`, name);
  before(data);
  await tradeIn(data);
  return data;
}

describe("the default data directory", () => {
  it("is ignored by git with all reports in it", async () => {
    const data = await dataDirectory(DEFAULT_DATA);
    writeFileSync(join(data, "report.ndjson"), "");
    const project = join(data, "..");
    writeFileSync(join(project, "seen"), "");
    await promisify(execFile)("git", ["init", "-q"], { cwd: project });
    const { stdout } = await promisify(execFile)("git", ["status", "--porcelain", "-uall"], { cwd: project });
    expect(stdout).toBe("?? seen\n");
  });

  it("is opened again without a change of its .gitignore", async () => {
    const data = await dataDirectory(DEFAULT_DATA);
    writeFileSync(join(data, ".gitignore"), "mine\n");
    await tradeIn(data);
    await tradeIn(data, { reset: true });
    expect(readFileSync(join(data, ".gitignore"), "utf8")).toBe("mine\n");
    expect((await run("replay", [data])).code).toBe(0);
  });

  it("may have reports before it has an exchange, and --reset keeps them", async () => {
    const data = await dataDirectory(DEFAULT_DATA, (path) => {
      saveReport(join(path, "reports"), "one", () => Buffer.alloc(0));
    });
    await tradeIn(data, { reset: true });
    expect(readdirSync(join(data, "reports"))).toEqual(["one.ndjson"]);
    expect(readFileSync(join(data, ".gitignore"), "utf8")).toBe("*\n");
    expect(statSync(join(data, "reports")).mode & 0o777).toBe(0o700);
    expect((await run("doctor", [data])).stdout).toContain("only the owner");
  });
});

describe("a data directory of another name", () => {
  it("has no .gitignore because its owner may want it in git", async () => {
    expect(readdirSync(await dataDirectory("run-7"))).not.toContain(".gitignore");
  });

  it("is refused if it has other files", async () => {
    await expect(
      dataDirectory("mixed", (path) => {
        mkdirSync(path, { recursive: true });
        writeFileSync(join(path, "notes.txt"), "");
      }),
    ).rejects.toThrow("has other files, such as notes.txt");
  });
});
