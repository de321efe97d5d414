import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { refused, runLine, says } from "../cli/tools.ts";
import { fetchJson, serve, TINY_WORLD } from "../support/http.ts";
import { type Served, useProgram } from "../support/program.ts";
import { journalLines } from "./support/persisted.ts";

const program = await useProgram(["--log-level", "silent"]);

const FROZEN = ["--world", TINY_WORLD, "--clock", "frozen"];
const modeOf = async (...path: string[]): Promise<string> =>
  ((await stat(program.path(...path))).mode & 0o777).toString(8);

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

/** Waits until a process locks a directory, and returns its id. */
async function holderOf(data: string): Promise<number> {
  for (;;) {
    const text = await readFile(`${data}/lock`, "utf8").catch(() => "");
    const pid = /"pid":(\d+)/.exec(text)?.[1];
    if (pid !== undefined) return Number(pid);
    await pause();
  }
}

describe("a start that fails", () => {
  it("leaves no directory if the port is in use", async () => {
    const { port, close } = await serve({});
    const args = ["serve", ...FROZEN, "--port", String(port), "--data", "unmade"];
    expect(await runLine(args, program.folder)).toMatchObject({ code: 2, stderr: says(String(port)) });
    expect(existsSync(program.path("unmade"))).toBe(false);
    await close();
  });

  it.skipIf(process.platform === "win32")("exits with 2 in a folder that was removed", () => {
    const script = `rmdir "$PWD"; "${process.execPath}" "${program.entry}" serve --port 0`;
    const cwd = mkdtempSync(program.path("removed-"));
    const { status, stderr } = spawnSync("sh", ["-c", script], { cwd, encoding: "utf8" });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("clobsim: the current folder was removed: "),
    ]);
  });
});

it("a start that Node's permission model refuses exits with 2 and names the permission", () => {
  const flags = ["--permission", "--experimental-permission"];
  const permission = flags.find((flag) => process.allowedNodeEnvironmentFlags.has(flag)) as string;
  const args = [permission, "--no-warnings", "--allow-fs-read=*", program.entry];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...args, "serve", "--port", "0", "--data", "denied"],
    {
      cwd: program.folder,
      encoding: "utf8",
    },
  );
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^clobsim: .*restricted.* \(FileSystemWrite\)\n$/),
  ]);
});

it("a directory that cannot be created exits with 4 and a sentence, at any depth", async () => {
  for (const data of ["/proc/nowhere", "/proc/nowhere/below"]) {
    const refusal = says(/^clobsim: \/proc\/.* cannot be used: E[A-Z]+: .*\n$/);
    const args = ["serve", "--port", "0", "--data", data];
    expect(await runLine(args, program.folder)).toEqual(refused(refusal, 4));
  }
});

describe("processes with the same directory", () => {
  it("the second exits with 5 and names the first, which continues", async () => {
    const data = program.path("wanted");
    const served = await program.serve([...FROZEN, "--data", data]);
    const second = await runLine(["serve", "--port", "0", "--data", data], program.folder);
    expect(second).toMatchObject({ code: 5, stderr: says(`in use by process ${served.pid}:`) });
    expect(await fetchJson(served.url, "/sim")).toMatchObject({ name: "clobsim" });
    expect((await served.end("SIGTERM")).code).toBe(0);
  });

  it("of five that start at once over the lock of a dead one, exactly one starts", async () => {
    const data = program.path("contested");
    await (await program.serve([...FROZEN, "--data", data])).end("SIGKILL");
    expect(await readFile(`${data}/lock`, "utf8")).toContain('"pid"');
    const starting = Array.from({ length: 5 }, () => program.serve([...FROZEN, "--data", data]));
    const outcomes = await Promise.allSettled(starting);
    const serving = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const refusals = outcomes.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    expect([serving.length, refusals.length]).toEqual([1, 4]);
    for (const refusal of refusals) expect(refusal).toContain("ended with 5 ");
    expect((await (serving[0] as Served).end("SIGTERM")).code).toBe(0);
  });

  it.runIf(existsSync("/proc/self/stat"))(
    "a killed one does not hold the lock, even as a zombie",
    async () => {
      const data = program.path("unnoticed");
      const command = [process.execPath, program.entry, "serve", "--port", "0", "--data", data];
      const parent = spawn("sh", ["-c", '"$@" & exec sleep 600', "sh", ...command, ...FROZEN], {
        stdio: "ignore",
      });
      try {
        const pid = await holderOf(data);
        process.kill(pid, "SIGKILL");
        while (!(await readFile(`/proc/${pid}/stat`, "latin1")).includes(") Z ")) await pause();
        expect((await (await program.serve([...FROZEN, "--data", data])).end("SIGTERM")).code).toBe(0);
      } finally {
        parent.kill("SIGKILL");
      }
    },
  );

  it("a lock without the id of a process is free", async () => {
    const data = program.path("nobody");
    await mkdir(data);
    for (const text of ["", "{", '{"pid":"1"}']) {
      await writeFile(`${data}/lock`, text);
      await (await serve({ data })).close();
      expect(existsSync(`${data}/lock`), text).toBe(false);
    }
  });
});

it("a lock without the start time of its process, as on systems without /proc may be of a program that has the id by now, so the refusal tells which file to remove", async () => {
  const data = program.path("reused");
  await mkdir(data);
  const holder = { pid: process.pid, host: hostname(), born: null };
  await writeFile(`${data}/lock`, JSON.stringify(holder));
  const advice = `stop it, or remove ${data}/lock if it is another program, `;
  await expect(serve({ data })).rejects.toThrow(advice);
});

it.each(["000", "077"])(
  "a data directory is only readable by its owner, with any umask (%s)",
  async (umask) => {
    const data = `of-umask-${umask}`;
    const before = process.umask(umask);
    onTestFinished(() => void process.umask(before));
    for (let start = 0; start < 2; start += 1) {
      const served = await serve({ data: program.path(data) });
      expect(await modeOf(data, "lock")).toBe("600");
      await served.close();
    }
    const names = ["journal.ndjson", "db.json", "db.previous.json"];
    expect(await Promise.all(names.map((name) => modeOf(data, name)))).toEqual(["600", "600", "600"]);
    expect(await modeOf(data)).toBe("700");
  },
);

it("a program that gets SIGTERM exits with 0, closes its journal and writes its state; a frozen clock keeps its time", async () => {
  const data = program.path("stopped");
  const first = await program.serve([...FROZEN, "--data", data]);
  await fetchJson(first.url, "/sim/markets", { question: "Will it rain?" });
  const { fired } = await fetchJson<{ fired?: unknown[] }>(first.url, "/sim/clock", { advance: "90s" });
  expect(fired).toBeDefined();
  const statusOf = async ({ url }: { readonly url: string }): Promise<string[]> =>
    (await Promise.all(["/sim", "/sim/clock"].map((path) => fetchJson(url, path)))).map((reply) =>
      JSON.stringify(reply).replaceAll(url, "URL"),
    );
  const before = await statusOf(first);
  expect((await first.end("SIGTERM")).code).toBe(0);
  expect(journalLines(await readFile(`${data}/journal.ndjson`)).at(-1)?.k).toBe("close");
  expect(await modeOf("stopped", "db.json")).toBe("600");

  const second = await program.serve(["--data", data]);
  expect(await statusOf(second)).toEqual(before);
  await second.end("SIGTERM");
});
