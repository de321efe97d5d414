import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { DEFAULT_DATA } from "../../src/config.ts";
import { saveReport } from "../../src/history/report.ts";
import { TestFolder } from "../support/folder.ts";
import { run, tradeIn } from "./tools.ts";

const [project, other] = [new TestFolder(), new TestFolder()];

describe("the default data directory", () => {
  it("is ignored by git with all reports in it", async () => {
    await tradeIn(project.at(DEFAULT_DATA));
    project.write(`${DEFAULT_DATA}/report.ndjson`, "");
    project.write("seen", "");
    await promisify(execFile)("git", ["init", "-q"], { cwd: project.path });
    const status = ["status", "--porcelain", "-uall"];
    const { stdout } = await promisify(execFile)("git", status, { cwd: project.path });
    expect(stdout).toBe("?? seen\n");
  });

  it("may have reports before it has an exchange, and --reset keeps them", async () => {
    const data = other.at(DEFAULT_DATA);
    const reports = other.at(`${DEFAULT_DATA}/reports`);
    saveReport(reports, "one", () => Buffer.alloc(0));
    await tradeIn(data, { reset: true });
    expect(readdirSync(reports)).toEqual(["one.ndjson"]);
    expect(other.read(`${DEFAULT_DATA}/.gitignore`)).toBe("*\n");
    expect(statSync(reports).mode & 0o777).toBe(0o700);
    expect((await run("doctor", [data])).stdout).toContain("only the owner");
  });
});

it.skipIf(process.platform === "win32")(
  "a directory whose state file cannot be read can be repaired",
  async () => {
    const data = other.at("unreadable");
    await tradeIn(data);
    const state = other.at("unreadable/db.json");
    rmSync(state);
    symlinkSync("db.json", state);
    const out = other.at("repaired");
    const { code, stdout } = await run("repair", [data], { "accept-loss": "true", out });
    expect([code, stdout]).toEqual([0, expect.stringContaining("nothing is lost: no line is damaged")]);
    expect(readdirSync(out)).toEqual(["journal.ndjson"]);
  },
);
