import { inProcess } from "../../src/fuzz/in-process.ts";

// Runs seeds from 0 on until one fails, and prints the failure. The argument is a time limit in milliseconds.
const [limit = "0"] = process.argv.slice(2);
const end = performance.now() + Number(limit);
let seed = 0;
for (; performance.now() < end; seed += 1) {
  const { failure } = await inProcess.run(seed, { commands: 300 });
  if (failure === null) continue;
  process.stdout.write(`seed ${seed}, command ${failure.command}: ${failure.sentence}\n`);
  process.exit(0);
}
process.stdout.write(`none of ${seed} seeds fails\n`);
process.exit(1);
