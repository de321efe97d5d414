import { expect, vi } from "vitest";
import { runCommand, runCommandLine } from "../../src/cli/command-line.ts";
import type { CommandName } from "../../src/cli/commands.ts";
import { reportFailure } from "../../src/cli/failure.ts";
import { SIGNAL_EXIT, type StopSignal } from "../../src/cli/process.ts";
import { ExchangeClient, walletOf } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import type { Config } from "../../src/config.ts";
import { serve } from "../support/http.ts";

export { serve };

/** Exit code and output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Matches a text that contains these words, or matches a pattern. */
export const says = (words: string | RegExp): string =>
  (typeof words === "string" ? expect.stringContaining(words) : expect.stringMatching(words)) as string;

/** Returns the result of a command that prints only an error: its sentence, or what matches stderr. */
export const refused = (error: unknown, code = 2): CommandResult => ({
  ...{ code, stdout: "" },
  stderr: typeof error === "string" ? `clobsim: ${error}\n` : (error as string),
});

const SIGNALS = Object.keys(SIGNAL_EXIT) as StopSignal[];

/** Captures the output and the exit code of a function. Errors are reported as the program does. */
async function capture(act: () => Promise<number>): Promise<CommandResult> {
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      printed[stream] += String(text);
      return true;
    });
  }
  const known = SIGNALS.map((signal) => process.listeners(signal));
  // Browsers and servers of other tests have listeners in this process, too, and a warning would be part of the output.
  const limit = process.getMaxListeners();
  process.setMaxListeners(0);
  try {
    const code = await act().catch(reportFailure);
    return { code, ...printed };
  } finally {
    process.setMaxListeners(limit);
    vi.restoreAllMocks();
    // A command is the only one of its process and keeps its listeners.
    for (const [index, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!known[index]?.includes(listener)) process.off(signal, listener);
  }
}

/** Runs a command, or a function, as the program does. */
export function run(
  command: CommandName | (() => Promise<number>),
  words: readonly string[],
  flags: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  if (typeof command !== "string") return capture(command);
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  return capture(() => runCommand(command, { flags: given, environment }, words));
}

/** Runs a command line in a folder as the program does, without a new process. Calls must not overlap. */
export async function runLine(
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await capture(() => runCommandLine(args, environment));
  } finally {
    process.chdir(before);
  }
}

/** Returns a client with API keys. Its wallet's private key is a digit repeated 64 times. */
export async function clientOn(url: string, digit: string): Promise<ExchangeClient> {
  const account = await walletOf(`0x${digit.repeat(64)}`);
  const client = new ExchangeClient(url, { account, time: "server" });
  orThrow(await client.derive());
  return client;
}

/** Returns the clients of Alice and Bob. */
export const pairOn = async (url: string) => [await clientOn(url, "1"), await clientOn(url, "2")] as const;

/** Returns the slug and the YES token of the first active market. */
export async function firstMarket(client: ExchangeClient): Promise<{ slug: string; tokenId: string }> {
  const [market] = orThrow(await client.markets({ active: true, limit: 1 })).data;
  return { slug: market?.slug ?? "", tokenId: market?.tokens[0]?.tokenId ?? "" };
}

/** Alice places two bids and cancels the second, Bob sells to the first; then ten seconds pass. */
export async function trade(url: string): Promise<void> {
  const [alice, bob] = await pairOn(url);
  const { tokenId } = await firstMarket(alice);
  orThrow(await alice.place({ tokenId, side: "BUY", price: 0.99, size: 10 }));
  const second = orThrow(await alice.place({ tokenId, side: "BUY", price: 0.01, size: 100 }));
  orThrow(await bob.place({ tokenId, side: "SELL", price: 0.01, size: 5 }));
  orThrow(await alice.cancel(second.id));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  for (const client of [alice, bob]) client.close();
}

/** Trades on a server with a data directory, and stops it. */
export async function tradeIn(data: string, config: Partial<Config> = {}): Promise<void> {
  const server = await serve({ data, ...config });
  await trade(server.url);
  await server.close();
}

/** Returns a function that places an order with the API keys of a wallet. */
export async function traderOn(url: string) {
  const client = await clientOn(url, "3");
  const { tokenId } = await firstMarket(client);
  return (size: number) => client.place({ tokenId, side: "BUY", price: 0.01, size });
}
