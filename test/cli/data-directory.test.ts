import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { DEFAULT_DATA } from "../../src/config.ts";
import { makeReportFolder } from "../../src/history/report.ts";
import { temporaryFolder } from "../support/folder.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
let count = 0;

/** A folder with a data directory of a session, which may have had something in it before. */
async function kept(name: string, before: (data: string) => void = () => {}): Promise<string> {
  count += 1;
  const data = join(folder, `project-${count}`, name);
  before(data);
  await session(data);
  return data;
}

async function session(data: string, reset = false): Promise<void> {
  const server = await serve({ data, reset });
  await trade(server.url);
  await server.close();
}

describe("the default data directory", () => {
  it("is nothing for git, and so are the reports in it", async () => {
    const data = await kept(DEFAULT_DATA);
    writeFileSync(join(data, "report.ndjson"), "");
    const project = join(data, "..");
    writeFileSync(join(project, "seen"), "");
    await promisify(execFile)("git", ["init", "-q"], { cwd: project });
    const { stdout } = await promisify(execFile)("git", ["status", "--porcelain", "-uall"], { cwd: project });
    expect(stdout).toBe("?? seen\n");
  });

  it.each(["replay", "journal", "inspect", "doctor", "report"] as const)(
    "is read by %s as any other",
    async (command) => {
      const [data, other] = [await kept(DEFAULT_DATA), await kept("data")];
      const told = async (path: string) => {
        const { code, stdout, stderr } = await run(
          command,
          [path],
          command === "report" ? { out: join(folder, "r") } : {},
        );
        return { code, stderr, lines: stdout.split("\n").length };
      };
      expect(await told(data)).toEqual(await told(other));
      expect((await told(data)).code).toBe(0);
    },
  );

  it("is opened again, and keeps what its .gitignore says", async () => {
    const data = await kept(DEFAULT_DATA);
    writeFileSync(join(data, ".gitignore"), "mine\n");
    await session(data);
    await session(data, true);
    expect(readFileSync(join(data, ".gitignore"), "utf8")).toBe("mine\n");
    expect((await run("replay", [data])).code).toBe(0);
  });

  it("is repaired into a directory of its own", async () => {
    const data = await kept(DEFAULT_DATA);
    const out = `${data}-repaired`;
    expect((await run("repair", [data], { "accept-loss": "true", out })).code).toBe(0);
    expect(readdirSync(out)).not.toContain(".gitignore");
  });

  it("may hold reports before an exchange is kept there, which --reset leaves alone", async () => {
    const data = await kept(DEFAULT_DATA, (path) => {
      makeReportFolder(join(path, "reports"));
      writeFileSync(join(path, "reports", "one.ndjson"), "");
    });
    await session(data, true);
    expect(readdirSync(join(data, "reports"))).toEqual(["one.ndjson"]);
    expect(readFileSync(join(data, ".gitignore"), "utf8")).toBe("*\n");
    expect(statSync(join(data, "reports")).mode & 0o777).toBe(0o700);
    expect((await run("doctor", [data])).stdout).toContain("only the owner");
  });
});

describe("a data directory of another name", () => {
  it("has no .gitignore: whoever named it may want it in git", async () => {
    expect(readdirSync(await kept("run-7"))).not.toContain(".gitignore");
  });

  it("is refused where it holds other things", async () => {
    await expect(
      kept("mixed", (path) => {
        mkdirSync(path, { recursive: true });
        writeFileSync(join(path, "notes.txt"), "");
      }),
    ).rejects.toThrow("holds other things, such as notes.txt");
  });
});
