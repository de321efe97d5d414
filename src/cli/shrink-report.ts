import { VERSION } from "../config.ts";
import { wholeHistory } from "../history/whole-history.ts";
import { HistoryNotTellable, shrinkHistory } from "../scenario/shrink/shrink-history.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { sourceNamed } from "./history-arguments.ts";
import { printShrunk } from "./shrink.ts";
import { Progress } from "./shrink-progress.ts";

/** Reduces what a journal tells to the few commands that are enough to fail, as a scenario. */
export async function shrinkReport(
  file: string,
  budget: number | null,
  out: string | null,
): Promise<ExitCode> {
  const history = wholeHistory(sourceNamed("shrink", [file]), VERSION);
  if (history === null) {
    return failed(`${file} goes on from a state: what led to it is not in there, and cannot be left out`);
  }
  const end = budget === null ? Number.POSITIVE_INFINITY : performance.now() + budget;
  const progress = new Progress();
  try {
    const shrunk = await shrinkHistory(history, {
      isOver: () => performance.now() >= end,
      progress: (count) => progress.show(count),
    });
    progress.end();
    if (shrunk !== null) return await printShrunk(shrunk, out);
  } catch (error) {
    progress.end();
    if (!(error instanceof HistoryNotTellable)) throw error;
    return failed(error.message);
  }
  return failed(
    `${file} does not fail: no command makes the program fail, and every invariant holds; nothing was written`,
  );
}

function failed(message: string): ExitCode {
  process.stderr.write(`clobsim: ${message}\n`);
  return EXIT.failed;
}
