import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const journal = join(data, "journal.ndjson");

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  await server.close();
});

describe("clobsim doctor", () => {
  it("says what a sync costs, and that all is well", async () => {
    const { code, stdout } = await run("doctor", [data]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/disk +a sync takes \d+\.\d{3} ms/);
    expect(stdout).toMatch(/journal +\d+ lines, \d+ bytes, up to .*stopped in good order/);
    expect(stdout).toMatch(/db\.json +the state after line \d+, its SHA-256 is right/);
    expect(stdout).toMatch(/modes +only the owner/);
  });

  it("finds nothing wrong with a directory that is not there yet", async () => {
    expect((await run("doctor", [join(folder, "none")])).code).toBe(0);
  });

  it("names the process that has the directory, and ends with 5", async () => {
    const server = await serve({ data });
    const { code, stdout } = await run("doctor", [data]);
    await server.close();
    expect({ code, isTold: stdout.includes(`process ${process.pid}`) }).toEqual({ code: 5, isTold: true });
  });

  it("advises on modes that let others in, which no start would fail for", async () => {
    chmodSync(journal, 0o644);
    const { code, stdout } = await run("doctor", [data]);
    chmodSync(journal, 0o600);
    expect({ code, isTold: stdout.includes(`chmod 0600 ${journal}`) }).toEqual({ code: 0, isTold: true });
  });

  it("ends with 3 where the journal is damaged and no state stands behind the damage", async () => {
    rmSync(join(data, "db.json"));
    rmSync(join(data, "db.previous.json"), { force: true });
    const bytes = readFileSync(journal);
    const at = bytes.indexOf('{"n":4,') + 30;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(journal, bytes);
    const { code, stdout } = await run("doctor", [data]);
    expect({ code, isTold: stdout.includes("clobsim repair") }).toEqual({ code: 3, isTold: true });
  });

  it("ends with 2 at a directory of other things", async () => {
    expect((await run("doctor", [folder])).code).toBe(2);
  });
});
