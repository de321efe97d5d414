import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a Node program to its end. @throws Error when it fails. */
export async function runProgram(program: string, args: readonly string[]): Promise<void> {
  const [code] = await once(spawn(process.execPath, [program, ...args], { stdio: "inherit" }), "exit");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}
