import { writeFileSync } from "node:fs";
import { paintOf } from "../../src/cli/output.ts";
import { buildProgram, inCheckout } from "../bench/programs.ts";
import { machine, machineLine } from "../bench/table.ts";
import { Program } from "../support/program.ts";
import { OptionError, type Options, readOptions, USAGE } from "./options.ts";
import type { Figures } from "./plan.ts";
import { timedPlan } from "./plan.ts";
import { Progress, resultJson, resultText } from "./report.ts";
import { runSoak } from "./soak.ts";
import { judge } from "./verdict.ts";

/** Runs the soak; answers the exit code: 0 when everything holds, 1 when something does not. */
async function main(options: Options): Promise<number> {
  const { minutes, clients, rate, seed, out } = options;
  const where = machine();
  process.stdout.write(`${machineLine(where)}\n`);
  process.stdout.write(`${minutes} minutes, ${clients} clients, ${rate} requests/s, seed ${seed}\n`);
  await buildProgram();
  const program = await Program.built(inCheckout("bin/clobsim.js"), []);
  const figures = await figuresOf(program, options);
  const verdicts = judge(figures);
  const passed = verdicts.every(({ holds }) => holds !== false);
  process.stdout.write(`${resultText(figures, verdicts, paintOf(process.env))}\n`);
  if (out !== null) writeFileSync(out, resultJson({ options, machine: where }, figures, verdicts));
  if (passed) await program.dispose();
  else process.stdout.write(`\n${keptIn(program)}\n`);
  return passed ? 0 : 1;
}

/** The figures of a soak that came to its end. Else says why it did not and exits; the server follows. */
async function figuresOf(program: Program, { minutes, clients, rate, seed }: Options): Promise<Figures> {
  const progress = new Progress();
  const probe = inCheckout("test/soak/memory-probe.mjs");
  const plan = timedPlan(minutes);
  try {
    const choice = { program, probe, plan, clients, rate, seed, watch: progress.watch };
    return await runSoak(choice).finally(() => progress.end());
  } catch (error) {
    process.stderr.write(`soak: ${(error as Error).stack}\n${keptIn(program)}\n`);
    process.exit(1);
  }
}

const keptIn = ({ folder }: Program): string => `what the server kept is in ${folder}`;

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
