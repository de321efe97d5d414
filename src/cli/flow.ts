import { open } from "node:fs/promises";
import { DEFAULT_CONFIG, SETTINGS } from "../config.ts";
import { type Price, price, size } from "../core/units.ts";
import { anyOf, type Given, readOne, type Setting, wholeNumber } from "../setting.ts";
import {
  type FlowFormat,
  formatOf,
  MAX_ACCOUNTS,
  MAX_FLOW_ORDERS,
  PROFILE_NAMES,
  PROFILES,
  type Profile,
  profileNamed,
} from "../simulation/flow.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { OUT } from "./output.ts";

/** The tick sizes of markets, as they are typed and in price units. */
const TICK_SIZES = new Map<string, Price>([
  ["0.1", price(1000)],
  ["0.01", price(100)],
  ["0.005", price(50)],
  ["0.0025", price(25)],
  ["0.001", price(10)],
  ["0.0001", price(1)],
]);
const MIN_ORDER_SIZE = size(100);

const PROFILE: Setting<Profile> = {
  expected: anyOf(PROFILE_NAMES),
  read: (text) => profileNamed(text) ?? null,
};
const ORDERS = wholeNumber(1, MAX_FLOW_ORDERS);
const ACCOUNTS = wholeNumber(1, MAX_ACCOUNTS);
const TICK_SIZE: Setting<Price> = {
  expected: anyOf([...TICK_SIZES.keys()]),
  read: (text) => TICK_SIZES.get(text) ?? null,
};
const FORMAT: Setting<FlowFormat> = {
  expected: "csv or ndjson",
  read: (text) => (text === "csv" || text === "ndjson" ? text : null),
};

/** `clobsim flow`: writes a generated order flow, as far as it has come. */
export const flowCommand: Command = {
  name: "flow",
  summary: "Generate an order flow for scenarios to replay: the same options, the same bytes.",
  flags: [
    { name: "profile", group: "Flow:", text: anyOf(PROFILE_NAMES), otherwise: "balanced" },
    { name: "seed", group: "Flow:", text: "Decides every row", otherwise: "1" },
    { name: "orders", group: "Flow:", text: "How many orders are placed", otherwise: "1000" },
    { name: "accounts", group: "Flow:", text: "How many accounts place them", otherwise: "20" },
    { name: "tick-size", group: "Flow:", text: "Price step of the market it is for", otherwise: "0.01" },
    { name: "out", group: "Output:", text: "File to write", otherwise: "stdout" },
    { name: "format", group: "Output:", text: "csv or ndjson", otherwise: "what --out ends in, else csv" },
  ],
  examples: [
    ["flow --profile bursts --seed 7 --out flow.csv", "a scenario plays it with replay: flow.csv"],
    ["flow --orders 1000000 --format ndjson", "a long one, an object a line"],
  ],
  run: writeGenerated,
};

async function writeGenerated(given: Given): Promise<ExitCode> {
  const profile = readOne("profile", PROFILE, given) ?? PROFILES.balanced;
  const seed = readOne("seed", SETTINGS.seed, given) ?? DEFAULT_CONFIG.seed;
  const orders = readOne("orders", ORDERS, given) ?? 1000;
  const accounts = readOne("accounts", ACCOUNTS, given) ?? 20;
  const tickSize = readOne("tick-size", TICK_SIZE, given) ?? price(100);
  const out = readOne("out", OUT, given);
  const format = formatFor(out, readOne("format", FORMAT, given));
  const [{ generateFlow }, { writeFlow }] = await Promise.all([
    import("../simulation/generate-flow.ts"),
    import("../simulation/write-flow.ts"),
  ]);
  const market = { tickSize, minOrderSize: MIN_ORDER_SIZE };
  const texts = writeFlow(generateFlow({ seed, orders, accounts, profile, market }), format);
  if (out === null) await print(texts);
  else await save(out, texts);
  return EXIT.ok;
}

/** @throws UsageError when the file's name promises another format than the one asked for. */
function formatFor(out: string | null, asked: FlowFormat | null): FlowFormat {
  const named = out === null ? undefined : formatOf(out);
  if (asked !== null && named !== undefined && asked !== named) {
    throw new UsageError(
      `--format ${asked} and --out ${out} contradict each other: its ending says ${named}`,
    );
  }
  return asked ?? named ?? "csv";
}

/** Writes to stdout no faster than its reader reads. Where nobody does any more, the program ends between two texts. */
async function print(texts: Iterable<string>): Promise<void> {
  for (const text of texts) {
    await new Promise<void>((resolve) => {
      process.stdout.write(text, () => resolve());
    });
  }
}

/** @throws UsageError when the file cannot be written, or not to its end. */
async function save(path: string, texts: Iterable<string>): Promise<void> {
  try {
    const file = await open(path, "w");
    try {
      for (const text of texts) await file.writeFile(text);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
    if (code === undefined) throw error;
    throw new UsageError(`--out expects a file that can be written, found ${path} (${code})`);
  }
}
