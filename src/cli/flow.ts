import { size } from "../core/units.ts";
import { type FlowFormat, formatOf } from "../simulation/flow.ts";
import { writeFlow } from "../simulation/flow-text.ts";
import { generateFlow } from "../simulation/generate-flow.ts";
import type { Run } from "./commands.ts";
import { EXIT, UsageError } from "./exit-code.ts";
import { save } from "./output.ts";

const MIN_ORDER_SIZE = size(100);

/** `clobsim flow`: writes a generated order flow while it is generated. */
export const run: Run<"flow"> = async ({ profile, seed, orders, accounts, tickSize, out, format }) => {
  const market = { tickSize, minOrderSize: MIN_ORDER_SIZE };
  const flow = generateFlow({ seed, orders, accounts, profile, market });
  const texts = writeFlow(flow, formatFor(out, format));
  if (out === null) await printAll(texts);
  else await save(out, texts);
  return EXIT.ok;
};

/** @throws UsageError if the file's extension contradicts `--format`. */
function formatFor(out: string | null, asked: FlowFormat | null): FlowFormat {
  const named = out === null ? undefined : formatOf(out);
  if (asked !== null && named !== undefined && asked !== named) {
    throw new UsageError(
      `--format ${asked} and --out ${out} contradict each other: its ending says ${named}`,
    );
  }
  return asked ?? named ?? "csv";
}

/** Writes to stdout as fast as its reader reads. If the reader closes it, the program exits between two texts. */
async function printAll(texts: Iterable<string>): Promise<void> {
  for (const text of texts) {
    await new Promise<void>((resolve) => {
      process.stdout.write(text, () => resolve());
    });
  }
}
