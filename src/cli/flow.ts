import { size } from "../core/units.ts";
import { FLOW_FILE, type FlowFormat, formatOf } from "../simulation/flow.ts";
import { writeFlow } from "../simulation/flow-text.ts";
import { generateFlow } from "../simulation/generate-flow.ts";
import type { Run } from "./commands.ts";
import { EXIT, UsageError } from "./exit-code.ts";
import { isReplaceable, save } from "./output-file.ts";

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

/** @throws UsageError if the file's extension contradicts `--format`, or no scenario could replay the file. */
function formatFor(out: string | null, asked: FlowFormat | null): FlowFormat {
  const named = out === null ? undefined : formatOf(out);
  if (asked !== null && named !== undefined && asked !== named) {
    throw new UsageError(
      `--format ${asked} and --out ${out} contradict each other: its ending says ${named}`,
    );
  }
  if (out !== null && asked === null && named === undefined && isReplaceable(out)) {
    throw new UsageError(`--out expects ${FLOW_FILE}, or --format, found ${out}`);
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
