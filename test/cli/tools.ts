import { vi } from "vitest";
import { runCommand, runCommandLine } from "../../src/cli/command-line.ts";
import type { CommandName } from "../../src/cli/commands.ts";
import { reportFailure } from "../../src/cli/failure.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { walletOf } from "../../src/client/wallet.ts";
import { type RunningServer, startServer } from "../../src/compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config.ts";
import { TINY_WORLD } from "../support/http.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What something prints and ends with, what it throws put into words as the program does it. */
async function told(act: () => Promise<number>): Promise<Ran> {
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      printed[stream] += String(text);
      return true;
    });
  }
  try {
    const code = await act().catch(reportFailure);
    return { code, ...printed };
  } finally {
    vi.restoreAllMocks();
  }
}

/** Runs a command, or something in its stead, as the program does. */
export function run(
  command: CommandName | (() => Promise<number>),
  words: readonly string[],
  flags: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  if (typeof command !== "string") return told(command);
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  return told(() => runCommand(command, { flags: given, environment }, words));
}

/**
 * Runs a command line in a folder as the program does, without the start of a process. One after the other: a process is in
 * one folder at a time.
 */
export async function runLine(
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await told(() => runCommandLine(args, environment));
  } finally {
    process.chdir(before);
  }
}

/** A frozen server over the tiny world. */
export const serve = (config: Partial<Config>): Promise<RunningServer> =>
  startServer({
    ...DEFAULT_CONFIG,
    port: 0,
    clock: { mode: "frozen" },
    world: TINY_WORLD,
    logLevel: "silent",
    ...config,
  });

/** A client of a wallet whose key is a digit 64 times, signed in. */
export async function clientOn(url: string, digit: string): Promise<ExchangeClient> {
  const account = await walletOf(`0x${digit.repeat(64)}`);
  const client = new ExchangeClient(url, { account, time: "server" });
  orThrow(await client.derive());
  return client;
}

/** Alice and Bob. */
export const pairOn = async (url: string) => [await clientOn(url, "1"), await clientOn(url, "2")] as const;

/** Alice rests a bid and cancels another, Bob sells to the first; then ten seconds pass. */
export async function trade(url: string): Promise<void> {
  const [alice, bob] = await pairOn(url);
  const market = orThrow(await alice.markets({ active: true, limit: 1 })).data[0];
  const tokenId = market?.tokens[0]?.tokenId ?? "";
  orThrow(await alice.place({ tokenId, side: "BUY", price: 0.99, size: 10 }));
  const second = orThrow(await alice.place({ tokenId, side: "BUY", price: 0.01, size: 100 }));
  orThrow(await bob.place({ tokenId, side: "SELL", price: 0.01, size: 5 }));
  orThrow(await alice.cancel(second.id));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  for (const client of [alice, bob]) client.close();
}

/** A wallet that has signed in, what it signs with, and what places an order of its. */
export async function traderOn(url: string) {
  const client = await clientOn(url, "3");
  const credentials = orThrow(await client.derive());
  const market = orThrow(await client.markets({ active: true, limit: 1 })).data[0];
  const tokenId = market?.tokens[0]?.tokenId ?? "";
  const place = (size: number) => client.place({ tokenId, side: "BUY", price: 0.01, size });
  return { credentials, place };
}
