import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { paintOf } from "../../src/cli/output.ts";
import { bannerText } from "../../src/cli/serve.ts";
import { type RunningServer, startServer } from "../../src/compose.ts";
import { DEFAULT_DATA, readConfig } from "../../src/config.ts";
import { startExchange } from "../../src/index.ts";
import { temporaryFolder } from "../support/folder.ts";
import { fetchJson } from "../support/http.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");
const report = join(folder, "report.ndjson");

/** Starts a server with flags of `clobsim serve`. */
function serveWith(
  flags: Readonly<Record<string, string>>,
  warn?: (message: string) => void,
): Promise<RunningServer> {
  const all = Object.entries({ port: "0", "log-level": "silent", ...flags });
  const given = Object.fromEntries(all.map(([name, text]) => [name, [text]]));
  return startServer(readConfig({ flags: given, environment: {} }, DEFAULT_DATA), warn);
}

const getJson = (server: RunningServer, path: string) => fetchJson<Record<string, unknown>>(server.url, path);

/** Returns the output of clobsim inspect for a line. */
async function inspected(at: string): Promise<{ sequence: number; time: string }> {
  const { stdout } = await run("inspect", [data], { at, json: "true", all: "true" });
  return JSON.parse(stdout) as { sequence: number; time: string };
}

/** Returns what clobsim serve prints when a server is ready. */
const bannerOf = (server: RunningServer): string =>
  bannerText(server, { simToken: null, bots: null }, paintOf({ NO_COLOR: "1" }));

let end: { state: string; time: unknown };
beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  end = {
    state: await (await fetch(`${server.url}/sim/state`)).text(),
    time: (await getJson(server, "/sim/clock")).time,
  };
  writeFileSync(report, await (await fetch(`${server.url}/sim/report`)).text());
  await server.close();
});

describe("clobsim serve --from", () => {
  it.each([
    ["a data directory", () => data],
    ["a report", () => report],
  ])("continues from the end of %s", async (_, from) => {
    const server = await serveWith({ from: from() });
    expect(await (await fetch(`${server.url}/sim/state`)).text()).toBe(end.state);
    expect(await getJson(server, "/sim/clock")).toMatchObject({ mode: "frozen", time: end.time });
    expect(server.persisted).toBeNull();
    expect(bannerOf(server)).toMatch(new RegExp(`from +${from()}, up to line \\d+\\n +data +in memory`));
    await server.close();
  });

  it.each([
    ["frozen", { mode: "frozen" }],
    ["real", { mode: "real" }],
    ["5x", { mode: "scaled", rate: 5 }],
  ])("continues with the clock of a session in memory: %s", async (clock, setting) => {
    const inMemory = await serveWith({ ephemeral: "true", clock, world: "tiny" });
    const file = join(folder, `memory-${clock}.ndjson`);
    writeFileSync(file, await (await fetch(`${inMemory.url}/sim/report`)).text());
    await inMemory.close();
    const server = await serveWith({ from: file });
    expect(await getJson(server, "/sim/clock")).toMatchObject(setting);
    await server.close();
  });

  it("warns that the last line of a report is missing, unless it ends before", async () => {
    const cut = join(folder, "cut.ndjson");
    const lines = readFileSync(report, "utf8").split("\n");
    writeFileSync(cut, `${lines.slice(0, -2).join("\n")}\n`);
    const warnings: string[] = [];
    for (const flags of [{ from: cut }, { from: cut, at: "3" }])
      await (await serveWith(flags, (message) => warnings.push(message))).close();
    expect(warnings).toEqual([`${cut}: the last line of a report is missing: the file may be cut`]);
  });

  it("opens every exchange of a pool with the same history", async () => {
    const server = await serveWith({ from: report, pool: "3" });
    const exchanges = ["/1", "/3"].map((path) => ({ ...server, url: server.url + path }));
    for (const { url } of exchanges) expect(await (await fetch(`${url}/sim/state`)).text()).toBe(end.state);
    const [one, three] = exchanges as [typeof server, typeof server];
    const before = await getJson(three, "/sim/state/hash");
    await trade(one.url);
    expect(await getJson(three, "/sim/state/hash")).toEqual(before);
    await fetch(`${one.url}/sim/reset`, { method: "POST" });
    expect(await getJson(one, "/sim/state/hash")).toEqual(before);
    await server.close();
  });

  it.each([
    ["1", /answers at \S+\/1\n/],
    ["3", /answers at \S+\/1 to \/3\n/],
  ])("says where a pool of %s answers", async (pool, where) => {
    const server = await serveWith({ from: report, pool });
    expect(bannerOf(server)).toMatch(where);
    expect(bannerOf({ ...server, devAccounts: [] })).not.toContain("Dev accounts");
    await server.close();
  });

  it("begins after the line of --at, and a reset returns there", async () => {
    const { sequence, time } = await inspected("6");
    const server = await serveWith({ from: report, at: "6" });
    expect(sequence).toBeLessThan((await inspected("9")).sequence);
    const info = await getJson(server, "/sim");
    expect(info).toMatchObject({ sequence });
    expect((await getJson(server, "/sim/clock")).time).toBe(time);
    const before = await getJson(server, "/sim/state/hash");
    await trade(server.url);
    expect(await getJson(server, "/sim/state/hash")).not.toEqual(before);
    await fetch(`${server.url}/sim/reset`, { method: "POST" });
    expect(await getJson(server, "/sim/state/hash")).toEqual(before);
    await server.close();
  });

  it("continues with the clock of --clock from the time of the history", async () => {
    const server = await serveWith({ from: data, clock: "real" });
    const { mode, time } = await getJson(server, "/sim/clock");
    expect(mode).toBe("real");
    expect(Date.parse(`${time}`) - Date.parse(`${end.time}`)).toBeLessThan(3_600_000);
    await server.close();
  });

  it("is persisted in a new directory of --data, and refused if the directory has an exchange", async () => {
    const target = join(folder, "target");
    const server = await serveWith({ from: data, data: target });
    await trade(server.url);
    const { hash } = await getJson(server, "/sim/state/hash");
    await server.close();
    const again = await serveWith({ data: target });
    expect((await getJson(again, "/sim/state/hash")).hash).toBe(hash);
    await again.close();
    const before = readFileSync(join(target, "journal.ndjson"));
    await expect(serveWith({ from: data, data: target })).rejects.toThrow(
      `${target} already contains an exchange, and --from needs a new directory: name one with --data`,
    );
    expect(readFileSync(join(target, "journal.ndjson")).equals(before)).toBe(true);
  });

  it("is an option of the library", async () => {
    const server = await startExchange({ from: report, at: 6 });
    expect(server.from).toEqual({ name: report, line: 6 });
    await server.close();
  });
});
