import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

/** A program that listens, and how to end it. */
export interface Running {
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
type Tool = "anvil" | "cast";

/** The package that has a tool of Foundry for this machine. */
export const packageOf = (tool: Tool): string =>
  `@foundry-rs/${tool}-${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`;

/** The path of a tool's program; null where there is none for this machine. */
export function findProgram(tool: Tool): string | null {
  const name = process.platform === "win32" ? `${tool}.exe` : tool;
  try {
    return createRequire(import.meta.url).resolve(`${packageOf(tool)}/bin/${name}`);
  } catch {
    return null;
  }
}

/** Starts anvil on a free port; it mines when asked to. @throws Error when it ends at once. */
export async function startAnvil(program: string): Promise<Running> {
  const options = ["--port", "0", "--threads", "1", "--no-mining", "--accounts", "3"];
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const port = await Promise.race([portOf(child), ended.then(() => null)]);
  if (port === null) throw new Error(`${program} has ended before it listened`);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      child.kill();
      return ended;
    },
  };
}

/** What it says it listens on. What it says from then on is read and forgotten, so that it never waits for a reader. */
function portOf({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    if (stdout === null) throw new Error("the output of anvil is a pipe");
    createInterface(stdout).on("line", (line) => {
      const port = /^Listening on .*:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) resolve(port);
    });
  });
}
