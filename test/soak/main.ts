import { writeFileSync } from "node:fs";
import { paintOf } from "../../src/cli/output.ts";
import { CLOBSIM, inCheckout } from "../bench/programs.ts";
import { machine, machineLine } from "../bench/table.ts";
import { Program } from "../support/program.ts";
import { OptionError, type Options, readOptions, USAGE } from "./options.ts";
import type { Figures } from "./plan.ts";
import { timedPlan } from "./plan.ts";
import { Progress, resultJson, resultText } from "./report.ts";
import { runSoak } from "./soak.ts";
import { checkFigures } from "./verdict.ts";

/** Runs the soak. Returns the exit code: 0 if all checks pass, else 1. */
async function main(options: Options): Promise<number> {
  const { minutes, clients, rate, seed, out } = options;
  const host = machine();
  process.stdout.write(`${machineLine(host)}\n`);
  process.stdout.write(`${minutes} minutes, ${clients} clients, ${rate} requests/s, seed ${seed}\n`);
  const program = await Program.at(CLOBSIM);
  const figures = await measure(program, options);
  const verdicts = checkFigures(figures);
  const passed = verdicts.every(({ holds }) => holds !== false);
  process.stdout.write(`${resultText(figures, verdicts, paintOf(process.env))}\n`);
  if (out !== null) writeFileSync(out, resultJson({ options, machine: host }, figures, verdicts));
  if (passed) await program.dispose();
  else process.stdout.write(`\n${dataText(program)}\n`);
  return passed ? 0 : 1;
}

/** Runs the soak and returns its figures. Exits if it cannot be completed, which also ends the server. */
async function measure(program: Program, { minutes, clients, rate, seed }: Options): Promise<Figures> {
  const progress = new Progress();
  const probe = inCheckout("test/soak/memory-probe.mjs");
  const plan = timedPlan(minutes);
  try {
    const soak = { program, probe, plan, clients, rate, seed, watch: progress.watch };
    return await runSoak(soak).finally(() => progress.end());
  } catch (error) {
    process.stderr.write(`soak: ${(error as Error).stack}\n${dataText(program)}\n`);
    process.exit(1);
  }
}

const dataText = ({ folder }: Program): string => `the data of the server are in ${folder}`;

function optionsOrExit(): Options {
  const words = process.argv.slice(2);
  if (words.length === 1 && words[0] === "--help") {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  try {
    return readOptions(words);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    process.stderr.write(`soak: ${error.message}\n`);
    process.exit(2);
  }
}

process.exitCode = await main(optionsOrExit());
