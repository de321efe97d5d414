import { exec } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { TINY_WORLD } from "../support/http.ts";
import { type Served, useProgram } from "../support/program.ts";
import { casesAtLevel } from "../support/runs.ts";

const shell = promisify(exec);

const FAILS = "scenario: a\naccounts: { alice: { USDC: 10 } }\nsteps: [{ alice: BUY 90 YES @ 0.5 }]\n";

const program = await useProgram(["--world", TINY_WORLD, "--clock", "frozen"]);
beforeAll(async () => {
  const served = await program.serve(["--log-level", "silent", "--data", program.path("data")]);
  await served.end("SIGTERM");
  writeFileSync(program.path("fails.yaml"), FAILS);
});

const post = (url: string, body: object): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
};

/** Returns the files of a data directory, and the kind of the last line of its journal. */
function contentOf(data: string): [names: string[], last: string] {
  const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
  return [readdirSync(data).sort(), (JSON.parse(lines.at(-1) ?? "") as { k: string }).k];
}

const CLEAN_STOP = [["db.json", "journal.ndjson"], "close"];

describe("clobsim serve", () => {
  it.each<[what: string, log: string, stop: (served: Served) => unknown]>([
    ["its terminal is closed (SIGHUP)", "silent", ({ end }) => end("SIGHUP")],
    [
      "stderr is closed and it logs",
      "info",
      async ({ url, stopReading }) => {
        stopReading("stderr");
        // It may stop before this request.
        await fetch(`${url}/sim`).catch(() => null);
      },
    ],
    [
      "stdout and stderr are closed and it gets SIGTERM",
      "silent",
      ({ stopReading, end }) => {
        stopReading("stdout");
        stopReading("stderr");
        return end("SIGTERM");
      },
    ],
  ])("stops cleanly when %s", async (what, level, stop) => {
    const data = program.path(what);
    const served = await program.serve(["--log-level", level, "--data", data]);
    expect((await post(`${served.url}/sim/markets`, { question: "Will it rain?" })).ok).toBe(true);
    await stop(served);
    expect((await served.ended).code).toBe(0);
    expect(contentOf(data)).toEqual(CLEAN_STOP);
  });

  it("continues when stdout is closed", async () => {
    const served = await program.serve(["--ephemeral", "--log-level", "silent"]);
    served.stopReading("stdout");
    expect((await fetch(`${served.url}/sim`)).status).toBe(200);
    expect((await served.end("SIGTERM")).code).toBe(0);
  });
});

describe("a command with closed", () => {
  const commands = (): readonly (readonly [code: number, ...args: string[]])[] => [
    [1, "run", program.path("fails.yaml")],
    [0, "journal", program.path("data")],
    [2, "inspect", program.path("data"), "--market", "none"],
    [0, "replay", program.path("data")],
    [1, "coverage", program.path("fails.yaml")],
    [0, "inspect", program.path("data"), "--all"],
    [2, "banana"],
    [0, "doctor", program.path("data")],
    [2, "repair", program.path("data")],
    [0, "report", program.path("data"), "--out", program.path("report.ndjson")],
    [0, "world", "--seed", "7"],
    [0, "flow", "--orders", "20000"],
    [0, "shrink", program.path("fails.yaml")],
    [0, "--help"],
  ];

  it.each(["stdout", "stderr"] as const)("%s goes on, and ends with its exit code", async (unread) => {
    for (const [expected, ...args] of casesAtLevel(commands(), 3)) {
      const { code, signal, stdout, stderr } = await program.run(args, { unread });
      expect({ code, signal }, `${args[0]}: ${stderr}`).toEqual({ code: expected, signal: null });
      expect(`${stdout}${stderr}`, args[0]).not.toMatch(/defect|EPIPE|\n\s+at /);
    }
  });

  it.each([
    [0, "flow", "--orders", "20000", "--out="],
    [1, "run", "fails.yaml", "--reporter", "junit="],
  ])("stdout that it writes as a file ends with %i and says nothing: %s", async (expected, ...args) => {
    // A pipe of a shell, because the pipes of Node are sockets, which cannot be opened as files.
    const words = [process.execPath, program.entry, ...args].join(" ");
    const { stderr } = await shell(`{ ${words}/dev/stdout; echo $? >&2; } | true`, { cwd: program.folder });
    expect(stderr).toBe(`${expected}\n`);
  });

  it("stdout writes its files", async () => {
    const file = program.path("unread.xml");
    const args = ["run", program.path("fails.yaml"), "--reporter", "spec", "--reporter", `junit=${file}`];
    expect((await program.run(args, { unread: "stdout" })).code).toBe(1);
    expect(readFileSync(file, "utf8")).toContain("</testsuites>");
  });
});

it("clobsim run --watch ends with 0 when a run finds stdout closed", async () => {
  const scenario = (name: string): string => `scenario: ${name}\nsteps: [{ advance: 1s }]\n`;
  program.write("watched.yaml", scenario("before"));
  const { prints, stopReading, ended } = program.launch(["run", "watched.yaml", "--watch"]);
  await prints("watching for changes");
  stopReading("stdout");
  // In one step, so that the program never reads a part.
  writeFileSync(program.path("watched.yaml"), scenario("behind"), { flag: "r+" });
  expect(await ended).toMatchObject({ code: 0, stderr: "" });
});
