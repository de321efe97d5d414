import type { HttpReply } from "../client/transport.ts";
import { SETTINGS, VERSION } from "../config.ts";
import { counted } from "../core/format.ts";
import type { Millis } from "../core/units.ts";
import { finish } from "../engine/slices.ts";
import { type Given, LINE_OR_MOMENT, readOne, type Setting } from "../setting.ts";
import { askServer, parsed, refusalOf, serverFlags, serverNamed } from "./ask-server.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { demandLine, sourceNamed, TAKES_JOURNAL } from "./history-arguments.ts";
import { OUT, save } from "./output.ts";

const DEFAULT_URL = "http://127.0.0.1:7070";
const NAME: Setting<string> = {
  expected: "one line of 1 to 200 characters",
  read: (text) => (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) && text.trim() !== "" ? text : null),
};

/** `clobsim record`: writes what was done on an exchange as a scenario file. */
export const recordCommand: Command = {
  name: "record",
  summary: "Write all that was done on an exchange, running or kept, as a scenario file that passes.",
  takes: `[${TAKES_JOURNAL}]`,
  flags: [
    {
      name: "at",
      group: "Journal:",
      text: "Of a directory or a report: up to this line, or this moment",
      otherwise: "the end",
    },
    ...serverFlags({ text: "Where it answers", otherwise: DEFAULT_URL }),
    { name: "name", group: "Output:", text: "Name of the scenario", otherwise: "how many orders it tells" },
    { name: "out", group: "Output:", text: "File to write", otherwise: "stdout" },
  ],
  examples: [
    ["record --out bug.yaml", "the session so far; clobsim run bug.yaml repeats it"],
    ["record --url http://127.0.0.1:8080 --name 'two wallets race'", "another exchange's, under a name"],
    ["record report.ndjson --at 17 --out bug.yaml", "a bug report, as far as its 17th line"],
  ],
  run: record,
};

async function record(given: Given, words: readonly string[]): Promise<ExitCode> {
  const name = readOne("name", NAME, given);
  const out = readOne("out", OUT, given);
  const at = readOne("at", LINE_OR_MOMENT, given);
  if (words.length > 0) return recordJournal(words, { name, out, at: at ?? {} }, given);
  if (at !== null) throw new UsageError("--at goes with a data directory or a report, found it alone");
  const origin = serverNamed(given) ?? new URL(DEFAULT_URL);
  const token = readOne("sim-token", SETTINGS["sim-token"], given);
  const path = `/sim/scenario${name === null ? "" : `?name=${encodeURIComponent(name)}`}`;
  await written(recordedIn(await askServer(origin, token, path), origin.origin, token !== null), out);
  return EXIT.ok;
}

interface JournalOptions {
  readonly name: string | null;
  readonly out: string | null;
  readonly at: { readonly to?: number; readonly until?: Millis };
}

/** Writes what a journal tells. What is wrong with the journal is said, and all before it is written. */
async function recordJournal(
  words: readonly string[],
  { name, out, at }: JournalOptions,
  { flags }: Given,
): Promise<ExitCode> {
  const extra = ["url", "from", "sim-token"].find((flag) => flags[flag] !== undefined);
  if (extra !== undefined) {
    throw new UsageError(`record expects a running exchange or a journal, found --${extra} and ${words[0]}`);
  }
  const [word = ""] = words;
  if (/^https?:/.test(word))
    throw new UsageError(`record expects a server behind --url, found ${word} alone`);
  const source = sourceNamed("record", words);
  const { endedWith, endingOf, wholeHistory } = await import("./on-histories.ts");
  const { RecordingError, recordedFile } = await import("./on-recording.ts");
  const history = wholeHistory(source, VERSION, at);
  const { open, session: entries, refused, devAccounts, exchange, end } = history;
  return endedWith(endingOf(source, end, exchange.state), async () => {
    demandLine(source, at, end);
    try {
      await written(finish(recordedFile({ open, entries, refused, devAccounts, name })), out);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      throw new UsageError(`${source.name} cannot be recorded: ${error.message}`);
    }
  });
}

async function written({ scenario, orders, trades }: Recorded, out: string | null): Promise<void> {
  if (out === null) {
    process.stdout.write(scenario);
    return;
  }
  await save(out, scenario);
  process.stderr.write(
    `clobsim: recorded ${counted(orders, "order")} and ${counted(trades, "trade")} in ${out}\n`,
  );
}

interface Recorded {
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

/** @throws UsageError when the answer holds no scenario, with the reason. */
function recordedIn(reply: HttpReply, url: string, hasToken: boolean): Recorded {
  const body = parsed(reply.text) as Partial<Recorded> | null;
  const isOurs = reply.status === 200 && reply.headers["x-sim-sequence"] !== undefined;
  if (!isOurs || body?.scenario === undefined) throw refusalOf(reply, url, hasToken, "record its sessions");
  const { scenario, orders = 0, trades = 0 } = body;
  return { scenario, orders, trades };
}
