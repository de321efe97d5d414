import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TINY_WORLD } from "../support/http.ts";
import { Program, type Served } from "../support/program.ts";
import { casesAtLevel } from "../support/runs.ts";

let program: Program;
beforeAll(async () => {
  program = await Program.bundled(["--world", TINY_WORLD, "--clock", "frozen"]);
  const served = await program.serve(["--log-level", "silent", "--data", program.path("data")]);
  await served.end("SIGTERM");
  writeFileSync(program.path("fails.yaml"), "scenario: a\nsteps:\n  - expect: { at: 2030-01-01T00:00Z }\n");
});
afterAll(() => program.dispose());

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
  const commands = (): readonly string[][] => [
    ["journal", program.path("data")],
    ["replay", program.path("data")],
    ["inspect", program.path("data"), "--all"],
    ["doctor", program.path("data")],
    ["repair", program.path("data")],
    ["report", program.path("data"), "--out", program.path("report.ndjson")],
    ["world", "--seed", "7"],
    ["flow", "--orders", "20000"],
    ["run", program.path("fails.yaml")],
    ["coverage", program.path("fails.yaml")],
    ["shrink", program.path("fails.yaml")],
    ["banana"],
    ["--help"],
  ];

  it.each(["stdout", "stderr"] as const)("%s exits without an error message", async (unread) => {
    for (const args of casesAtLevel(commands(), 3)) {
      const { code, signal, stdout, stderr } = await program.run(args, { unread });
      expect([0, 1, 2], `${args[0]}: ${stderr}`).toContain(code);
      expect(signal, args[0]).toBe(null);
      expect(`${stdout}${stderr}`, args[0]).not.toMatch(/defect|EPIPE|\n\s+at /);
    }
  });
});
