import { whenUnread } from "./process.ts";

const argv = process.argv.slice(2);
const [first, ...more] = argv;

/** What can go wrong is told by much of the program, which is loaded no sooner. */
const failed = async (error: unknown): Promise<number> => (await import("./failure.ts")).reportFailure(error);

process.on("uncaughtException", async (error) => process.exit(await failed(error)));
for (const stream of [process.stdout, process.stderr]) whenUnread(stream, () => process.exit());

if (first === "--complete") {
  // A shell asks at each press of a key, and waits.
  import("./completion.ts").then(({ completions }) => process.stdout.write(completions(more)));
} else {
  import("./command-line.ts")
    .then(({ runCommandLine }) => runCommandLine(argv, process.env))
    .catch(failed)
    .then((code) => {
      process.exitCode = code;
    });
}
