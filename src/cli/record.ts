import { counted } from "../core/format.ts";
import { runSteps } from "../core/steps.ts";
import { replayHistory } from "../history/journal-replay.ts";
import { recordScenario } from "../history/record/record-session.ts";
import { RecordingError } from "../history/record/script.ts";
import { askServer, serverNamed } from "./ask-server.ts";
import type { Run, Values } from "./commands.ts";
import { endedWith, replayProblems } from "./failure.ts";
import { openNamed, requireLine } from "./journal.ts";
import { prepare, saveOrPrint, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";

/** `clobsim record`: writes the session of an exchange as a scenario file. */
export const record: Run<"record"> = async (values, [word], given) => {
  const { name, out, at } = values;
  const server = serverNamed("record", word, values, given);
  if (word !== undefined && server === null) return recordJournal(word, values);
  if (at !== null) throw new UsageError("--at is expected with a data directory or a report, found a server");
  const url = server ?? "http://127.0.0.1:7070";
  const path = `/sim/scenario${name === null ? "" : `?name=${encodeURIComponent(name)}`}`;
  const asked = { simToken: values.simToken, path, what: "record its sessions" };
  const recorded = await askServer(url, asked, ({ body }): Recorded | null => {
    const { scenario, orders = 0, trades = 0 } = (body ?? {}) as Partial<Recorded>;
    return scenario === undefined ? null : { scenario, orders, trades };
  });
  await writeRecorded(recorded, out);
  return EXIT.ok;
};

/** Records a journal up to its first problem, and warns about the problem. */
async function recordJournal(file: string, { name, out, at: point }: Values<"record">): Promise<ExitCode> {
  const at = point ?? {};
  const source = openNamed(file);
  if (out !== null) prepare(out, "--out", [source.path]);
  const history = replayHistory(source, at);
  const { open, session: entries, refused, origin, end } = history;
  const { devAccounts } = origin;
  return endedWith(replayProblems(source, end), async () => {
    requireLine(source, at, end);
    try {
      await writeRecorded(runSteps(recordScenario({ open, entries, refused, devAccounts, name })), out);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      throw new UsageError(`${source.name} cannot be recorded: ${error.message} (--at ends it earlier)`);
    }
  });
}

interface Recorded {
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

async function writeRecorded({ scenario, orders, trades }: Recorded, out: string | null): Promise<void> {
  await saveOrPrint(out, scenario);
  if (out !== null) warn(`recorded ${counted(orders, "order")} and ${counted(trades, "trade")} in ${out}`);
}
