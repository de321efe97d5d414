import { type HttpReply, openTransport } from "../client/transport.ts";
import { SETTINGS } from "../config.ts";
import { type Given, readOne, type Setting } from "../setting.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { ORIGIN } from "./origin.ts";
import { OUT, save } from "./output-file.ts";
import { UsageError } from "./usage-error.ts";

const DEFAULT_URL = "http://127.0.0.1:7070";
const TIMEOUT_MS = 60_000;

const NAME: Setting<string> = {
  expected: "one line of 1 to 200 characters",
  read: (text) => (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) && text.trim() !== "" ? text : null),
};

/** `clobsim record`: writes what was done on a running exchange as a scenario file. */
export const recordCommand: Command = {
  name: "record",
  summary: "Write all that was done on a running exchange as a scenario file that passes.",
  flags: [
    { name: "url", group: "Exchange:", text: "Where it answers", otherwise: DEFAULT_URL },
    {
      name: "sim-token",
      group: "Exchange:",
      text: "Secret that its /sim asks for; better set as CLOBSIM_SIM_TOKEN",
    },
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
  const origin = readOne("url", ORIGIN, given) ?? new URL(DEFAULT_URL);
  const token = readOne("sim-token", SETTINGS["sim-token"], given);
  const name = readOne("name", NAME, given);
  const out = readOne("out", OUT, given);
  const recorded = recordedIn(await ask(origin, token, name), origin.origin, token !== null);
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

/** @throws UsageError when nothing answers. */
async function ask(origin: URL, token: string | null, name: string | null): Promise<HttpReply> {
  const transport = openTransport(origin, TIMEOUT_MS);
  try {
    return await transport.send({
      method: "GET",
      path: `/sim/scenario${name === null ? "" : `?name=${encodeURIComponent(name)}`}`,
      headers: [
        ["host", origin.host],
        ["accept", "application/json"],
        ...(token === null ? [] : ([["x-sim-token", token]] as const)),
      ],
      body: null,
    });
  } catch (error) {
    const { code, message }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
    throw new UsageError(
      `nothing answers at ${origin.origin} (${code ?? message}): is clobsim serve running there?`,
    );
  } finally {
    transport.close();
  }
}

interface Recorded {
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

/** @throws UsageError when the answer holds no scenario, with the reason. */
function recordedIn({ status, headers, text }: HttpReply, url: string, hasToken: boolean): Recorded {
  const body = parsed(text) as Partial<Recorded & { code: string; error: string; hint: string }> | null;
  if (headers["x-sim-sequence"] === undefined || typeof body !== "object" || body === null) {
    throw new UsageError(`what answers at ${url} is no clobsim`);
  }
  const { scenario, orders = 0, trades = 0, code, error, hint } = body;
  if (status === 200 && scenario !== undefined) return { scenario, orders, trades };
  if (code === "SIM_TOKEN_REQUIRED") {
    throw new UsageError(
      hasToken
        ? `the clobsim at ${url} has another token: --sim-token expects the one that it was started with`
        : `the clobsim at ${url} asks for its token: give it as --sim-token or CLOBSIM_SIM_TOKEN`,
    );
  }
  if (code === "ROUTE_NOT_FOUND")
    throw new UsageError(`the clobsim at ${url} is too old to record its sessions`);
  throw new UsageError(
    `the clobsim at ${url} cannot record: ${error}${hint === undefined ? "" : ` (${hint})`}`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
