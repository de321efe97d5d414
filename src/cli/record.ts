import type { HttpReply } from "../client/transport.ts";
import { SETTINGS } from "../config.ts";
import { type Given, readOne, type Setting } from "../setting.ts";
import { askServer, parsed, refusalOf, serverFlags, serverNamed } from "./ask-server.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { OUT, save } from "./output-file.ts";

const DEFAULT_URL = "http://127.0.0.1:7070";
const NAME: Setting<string> = {
  expected: "one line of 1 to 200 characters",
  read: (text) => (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) && text.trim() !== "" ? text : null),
};

/** `clobsim record`: writes what was done on a running exchange as a scenario file. */
export const recordCommand: Command = {
  name: "record",
  summary: "Write all that was done on a running exchange as a scenario file that passes.",
  flags: [
    ...serverFlags({ text: "Where it answers", otherwise: DEFAULT_URL }),
    { name: "name", group: "Output:", text: "Name of the scenario", otherwise: "how many orders it tells" },
    { name: "out", group: "Output:", text: "File to write", otherwise: "stdout" },
  ],
  examples: [
    ["record --out bug.yaml", "the session so far; clobsim run bug.yaml repeats it"],
    ["record --url http://127.0.0.1:8080 --name 'two wallets race'", "another exchange's, under a name"],
  ],
  run: record,
};

async function record(given: Given): Promise<ExitCode> {
  const origin = serverNamed(given) ?? new URL(DEFAULT_URL);
  const token = readOne("sim-token", SETTINGS["sim-token"], given);
  const name = readOne("name", NAME, given);
  const out = readOne("out", OUT, given);
  const path = `/sim/scenario${name === null ? "" : `?name=${encodeURIComponent(name)}`}`;
  const recorded = recordedIn(await askServer(origin, token, path), origin.origin, token !== null);
  if (out === null) {
    process.stdout.write(recorded.scenario);
    return EXIT.ok;
  }
  await save(out, recorded.scenario);
  const { orders, trades } = recorded;
  process.stderr.write(
    `clobsim: recorded ${counted(orders, "order")} and ${counted(trades, "trade")} in ${out}\n`,
  );
  return EXIT.ok;
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

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
