import { VERSION } from "../config.ts";
import { reportFailure } from "./failure.ts";

const argv = process.argv.slice(2);
const [first, ...more] = argv;

process.on("uncaughtException", (error) => process.exit(reportFailure(error)));
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

if ((first === "--version" || first === "-v") && more.length === 0) {
  // Answered before yargs is loaded, which would take longer than all the rest.
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runCommandLine } = await import("./command-line.ts");
  process.exitCode = await runCommandLine(argv, process.env).catch(reportFailure);
}
