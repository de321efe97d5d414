import { readFileSync } from "node:fs";
import { type Launched, Program } from "../../support/program.ts";

const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");

/**
 * The program with seeds of which it is known which fail and how. `canary`: the text of src/fuzz/canary.ts, another one than
 * it has.
 */
export const plantedFuzzer = (canary = "export const findsCanary = async () => true;"): Promise<Program> =>
  Program.bundled(
    [],
    new Map([
      ["src/fuzz/in-process.ts", RUNNER],
      ["src/fuzz/canary.ts", canary],
    ]),
  );

/** Starts `clobsim fuzz` with these words. */
export const startFuzz = (program: Program, line: string): Launched =>
  program.launch(["fuzz", ...line.split(" ").filter((word) => word !== "")]);
