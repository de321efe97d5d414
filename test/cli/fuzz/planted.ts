import { readFileSync } from "node:fs";
import { afterAll } from "vitest";
import { type Launched, Program } from "../../support/program.ts";

const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");

/** Bundles the program with seeds that fail in known ways, for the tests of a file. */
export async function plantedFuzzer(): Promise<Program> {
  const fuzzer = await Program.bundled(new Map([["src/fuzz/in-process.ts", RUNNER]]));
  afterAll(() => fuzzer.dispose());
  return fuzzer;
}

/** Starts `clobsim fuzz` with a command line. */
export const startFuzz = (program: Program, line: string): Launched =>
  program.launch(["fuzz", ...line.split(" ").filter((word) => word !== "")]);
