import { inProcess } from "../../src/fuzz/in-process.ts";

// Runs seeds until one fails, and prints the failure: first the seed of the argument, then a thousand from 0 on.
const [known] = process.argv.slice(2).map(Number);
for (const seed of [known ?? 0, ...Array(1_000).keys()]) {
  const { failure } = await inProcess.run(seed, { commands: 300 });
  if (failure === null) continue;
  process.stdout.write(`seed ${seed}, command ${failure.command}: ${failure.sentence}\n`);
  process.exit(0);
}
process.stdout.write("no seed fails\n");
process.exit(1);
