import { readFileSync } from "node:fs";
import { type Launched, Program } from "../../support/program.ts";

const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");

/** Bundles the program with seeds that fail in known ways. */
export const plantedFuzzer = (): Promise<Program> =>
  Program.bundled(new Map([["src/fuzz/in-process.ts", RUNNER]]));

/** Starts `clobsim fuzz` with a command line. */
export const startFuzz = (program: Program, line: string): Launched =>
  program.launch(["fuzz", ...line.split(" ").filter((word) => word !== "")]);
