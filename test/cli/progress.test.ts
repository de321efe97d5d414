import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isInteractive, paintOf } from "../../src/cli/output.ts";
import { progressText } from "../../src/cli/progress.ts";
import { temporaryFolder } from "../support/folder.ts";
import { httpServer } from "../support/local-server.ts";
import { rowsOf } from "../support/table.ts";

describe("the progress line", () => {
  const busy = { what: "running", unit: "scenarios" };

  it.each(
    rowsOf(`
    a bar and the counts                    | 70   | 281 | 80 | running  [====                ]   24 %  70 of 281 scenarios  3 s
    a full bar                              | 281  | 281 | 80 | running  [====================]  100 %  281 of 281 scenarios  3 s
    the count if the total is unknown       | 1234 | 0   | 80 | running  1,234 scenarios  3 s
    only the time if nothing is counted     | 0    | 0   | 80 | running  3 s
    no more than the width of the terminal  | 70   | 281 | 20 | running  [====                ]   24 %
    `),
  )("shows %s", (_case, done, total, columns, line) => {
    const counts = { done: Number(done), total: Number(total) };
    expect(progressText(busy, counts, 3999, Number(columns))).toBe(line?.slice(0, Number(columns) - 1));
  });

  it.each(
    rowsOf(`
    a terminal                | true  | .          | true
    no terminal               | false | .          | false
    a terminal without codes  | true  | TERM=dumb  | false
    the log of a job          | true  | CI=true    | false
    a terminal without colour | true  | NO_COLOR=1 | true
    `),
  )("is drawn on %s: %s %s", (_case, isTerminal, variable, isDrawn) => {
    const environment = Object.fromEntries(variable === "" ? [] : [variable.split("=")]) as NodeJS.ProcessEnv;
    expect(isInteractive(environment, { isTTY: isTerminal === "true" })).toBe(isDrawn === "true");
  });
});

it.each(
  rowsOf(`
  a terminal                | true  | TERM=xterm                 | true
  no terminal               | false | TERM=xterm                 | false
  a terminal without codes  | true  | TERM=dumb                  | false
  no terminal, by force     | false | FORCE_COLOR=1              | true
  a terminal, by force      | true  | FORCE_COLOR=0              | false
  no terminal, by force     | false | FORCE_COLOR=false          | false
  a terminal without colour | true  | NO_COLOR=1                 | false
  a terminal without colour | true  | NO_COLOR=1 FORCE_COLOR=1   | false
  `),
)("output on %s is painted or not: %s %s", (_case, isTerminal, variables, isPainted) => {
  const environment = Object.fromEntries(variables.split(" ").map((variable) => variable.split("=")));
  const painted = paintOf(environment, { isTTY: isTerminal === "true" }).red("x");
  expect(painted !== "x").toBe(isPainted === "true");
});

const PROGRAM = fileURLToPath(new URL("../../bin/clobsim.js", import.meta.url));
const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.warn("skipped: script, which provides a terminal, is not installed");

/**
 * Returns the output of `clobsim report`, in a terminal or to pipes. In a terminal the server refuses the request after the
 * progress line is drawn, else at once.
 */
async function outputOfReport(isTerminal: boolean): Promise<string> {
  const folder = temporaryFolder();
  let draw = (): void => {};
  const isDrawn = new Promise<void>((resolve) => {
    draw = resolve;
  });
  const server = await httpServer(async (_request, response) => {
    if (isTerminal) await isDrawn;
    response.writeHead(404).end("{}");
  });
  const args = [PROGRAM, "report", "--url", server.url];
  const [program, words] = isTerminal
    ? ["script", ["-qec", [process.execPath, ...args].join(" "), "/dev/null"]]
    : [process.execPath, args];
  const env = { PATH: process.env.PATH, HOME: folder, TERM: "xterm" };
  const child = spawn(program, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes("reporting")) draw();
    });
  await new Promise((resolve) => child.on("close", resolve));
  server.close();
  return text;
}

describe("a command that takes long", () => {
  it.each(hasTerminal ? ["a terminal"] : [])("shows its progress on %s, and erases it", async () => {
    const text = await outputOfReport(true);
    const plain = text.replaceAll("\u001b[K", "<erase>").replaceAll("\r", "<return>");
    expect(plain).toMatch(/^<return>(?:reporting {2}\d+ s<erase><return>)+<erase>clobsim: [^<]*<return>\n$/);
  });

  it("shows no progress in pipes", async () => {
    const text = await outputOfReport(false);
    expect(text).toMatch(/^clobsim: .*\n$/);
  });
});
