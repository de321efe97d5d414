import { FLOW_FILE, type FlowFormat, formatOf } from "../simulation/flow.ts";
import { writeFlow } from "../simulation/flow-text.ts";
import { generateFlow } from "../simulation/generate-flow.ts";
import { generateWorld } from "../simulation/generate-world.ts";
import { writeWorld } from "../simulation/world.ts";
import type { Run } from "./commands.ts";
import { isReplaceable, save, saveOrPrint } from "./output.ts";
import { EXIT, UsageError } from "./process.ts";

/** `clobsim world`: writes the world of a seed as JSON. @throws UsageError if the markets do not fit into the events */
export const world: Run<"world"> = async ({ seed, markets, events, out }) => {
  const counts = { markets: markets ?? undefined, events: events ?? undefined };
  const generated = await generateWorld({ seed, ...counts }).catch((error) => {
    const isContradiction = markets !== null && events !== null && error instanceof RangeError;
    throw isContradiction ? new UsageError(`--${error.message}`) : error;
  });
  await saveOrPrint(out, writeWorld(generated));
  return EXIT.ok;
};

/** `clobsim flow`: writes a generated order flow while it is generated. */
export const flow: Run<"flow"> = async ({ profile, seed, orders, accounts, tickSize, out, format }) => {
  const rows = generateFlow({ seed, orders, accounts, profile, tickSize });
  const texts = writeFlow(rows, formatFor(out, format));
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

/** Writes to stdout as fast as its reader reads, until the reader closes it. */
async function printAll(texts: Iterable<string>): Promise<void> {
  for (const text of texts) {
    const error = await new Promise((resolve) => process.stdout.write(text, resolve));
    if (error instanceof Error) return;
  }
}
