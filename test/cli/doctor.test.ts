import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, says, serve, tradeIn } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const journal = join(data, "journal.ndjson");

beforeAll(() => tradeIn(data));

describe("clobsim doctor", () => {
  it("prints the time of a sync, and that everything is in order", async () => {
    const { code, stdout } = await run("doctor", [data]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/disk +a sync takes \d+\.\d{3} ms/);
    expect(stdout).toMatch(/journal +\d+ lines, \d+ bytes, up to .*stopped cleanly/);
    expect(stdout).toMatch(/db\.json +the state after line \d+, its SHA-256 is correct/);
    expect(stdout).toMatch(/modes +only the owner/);
  });

  it("accepts a directory that does not exist yet", async () => {
    expect((await run("doctor", [join(folder, "none")])).code).toBe(0);
  });

  it("names the process that uses the directory, and exits with 5", async () => {
    const server = await serve({ data });
    const ended = await run("doctor", [data]);
    await server.close();
    expect(ended).toMatchObject({ code: 5, stdout: says(`process ${process.pid}`) });
  });

  it("warns about modes that give others access, but exits with 0", async () => {
    chmodSync(journal, 0o644);
    const { code, stdout } = await run("doctor", [data]);
    chmodSync(journal, 0o600);
    expect([code, stdout]).toEqual([0, says(`chmod 0600 ${journal}`)]);
  });

  it("exits with 0 if the journal is damaged before the state, and names the command that says more", async () => {
    const bytes = readFileSync(journal);
    const at = bytes.indexOf('{"n":4,') + 30;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(journal, bytes);
    const { code, stdout } = await run("doctor", [data]);
    expect([code, stdout]).toEqual([0, says(`cannot be replayed: clobsim repair ${data} says why`)]);
  });

  it("exits with 3 if no state file is later than the damage", async () => {
    rmSync(join(data, "db.json"));
    rmSync(join(data, "db.previous.json"), { force: true });
    const { code, stdout } = await run("doctor", [data]);
    expect([code, stdout]).toEqual([3, says("clobsim repair")]);
  });

  it("exits with 2 for a directory with other files", async () => {
    expect((await run("doctor", [folder])).code).toBe(2);
  });
});
