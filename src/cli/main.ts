import { VERSION } from "../config.ts";
import { whenUnread } from "./process.ts";

const argv = process.argv.slice(2);
const [first, ...more] = argv;

/** What can go wrong is told by much of the program, which is loaded no sooner. */
const failed = async (error: unknown): Promise<number> => (await import("./failure.ts")).reportFailure(error);

process.on("uncaughtException", async (error) => process.exit(await failed(error)));
for (const stream of [process.stdout, process.stderr]) whenUnread(stream, () => process.exit());

if ((first === "--version" || first === "-v") && more.length === 0) {
  // Answered before yargs is loaded, which would take longer than all the rest.
  process.stdout.write(`${VERSION}\n`);
} else if (first === "--complete") {
  // A shell asks at each press of a key, and waits.
  process.stdout.write((await import("./completion.ts")).completions(more));
} else {
  const { runCommandLine } = await import("./command-line.ts");
  process.exitCode = await runCommandLine(argv, process.env).catch(failed);
}
