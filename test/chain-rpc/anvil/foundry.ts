import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { it } from "vitest";

/** A running server program. */
export interface Running {
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
type Tool = "anvil" | "cast";

/** Declares tests with a Foundry tool, or one test that reports that it is not installed for this machine. */
export function testWith(tool: Tool, declareTests: (program: string) => void): void {
  const name = process.platform === "win32" ? `${tool}.exe` : tool;
  const tools = `@foundry-rs/${tool}-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`;
  let program: string;
  try {
    program = createRequire(import.meta.url).resolve(`${tools}/bin/${name}`);
  } catch {
    it(`is not tested: ${tools} is not installed`, () => console.warn(`${tools} is not installed`));
    return;
  }
  declareTests(program);
}

/** Starts anvil on a free port, without automatic mining. @throws Error if it ends at once. */
export async function startAnvil(program: string): Promise<Running> {
  const options = ["--port", "0", "--threads", "1", "--no-mining", "--accounts", "3"];
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const port = await Promise.race([portOf(child), ended.then(() => null)]);
  if (port === null) throw new Error(`${program} ended before it listened`);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      child.kill();
      return ended;
    },
  };
}

/** Reads the port from the output. Further output is read and discarded, so that the pipe never fills. */
function portOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    if (stdout === null) throw new Error("the output of anvil is a pipe");
    createInterface(stdout).on("line", (line) => {
      const port = /^Listening on .*:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) resolve(port);
    });
  });
}
