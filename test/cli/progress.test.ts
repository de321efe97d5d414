import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isInteractive } from "../../src/cli/output.ts";
import { progressText } from "../../src/cli/progress.ts";
import { temporaryFolder } from "../support/folder.ts";
import { httpServer } from "../support/local-server.ts";
import { rowsOf } from "../support/table.ts";

describe("the progress line", () => {
  const busy = { what: "running", unit: "scenarios" };

  it.each([
    [
      "a bar and the counts",
      { done: 70, total: 281 },
      80,
      "running  [====                ]   24 %  70 of 281 scenarios  3 s",
    ],
    [
      "a full bar",
      { done: 281, total: 281 },
      80,
      "running  [====================]  100 %  281 of 281 scenarios  3 s",
    ],
    ["the count if the total is unknown", { done: 1234, total: 0 }, 80, "running  1,234 scenarios  3 s"],
    ["only the time if nothing is counted", { done: 0, total: 0 }, 80, "running  3 s"],
    ["no more than the width of the terminal", { done: 70, total: 281 }, 20, "running  [====     "],
  ])("shows %s", (_case, counts, columns, line) => {
    expect(progressText(busy, counts, 3999, columns)).toBe(line);
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
  const { url } = server;
  const command = [process.execPath, PROGRAM, "report", "--url", url];
  const words = isTerminal ? ["script", "-qec", command.join(" "), "/dev/null"] : command;
  const env = { PATH: process.env.PATH, HOME: folder, TERM: "xterm" };
  const child = spawn(words[0] as string, words.slice(1), {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
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
