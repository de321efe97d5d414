import { whenClosed } from "./process.ts";

const argv = process.argv.slice(2);
const [first, ...more] = argv;

/** Loads the explanations of errors only when needed, because they import much of the program. */
const failed = async (error: unknown): Promise<number> => (await import("./failure.ts")).reportFailure(error);

process.on("uncaughtException", async (error) => process.exit(await failed(error)));
// A command whose output nobody reads goes on, because its exit code and its files still count.
for (const stream of [process.stdout, process.stderr]) whenClosed(stream, () => {});

if (first === "--complete") {
  // Loads no more than needed because a shell waits for the answer at each key press.
  import("./completion.ts").then(({ completions }) => process.stdout.write(completions(more)));
} else {
  import("./command-line.ts")
    .then(({ runCommandLine }) => runCommandLine(argv, process.env))
    .catch(failed)
    .then((code) => {
      process.exitCode = code;
    });
}
