import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExchangeClient } from "../../client/client.ts";
import { orThrow } from "../../client/result.ts";
import { startServer } from "../../compose.ts";
import { type Config, DEFAULT_CONFIG } from "../../config.ts";
import { money, size } from "../../core/units.ts";
import { emptyWorld } from "../../simulation/opening.ts";
import type { HttpProfile } from "./traffic.ts";

/** The server that the clients of one seed talk to. */
export interface FuzzedServer {
  readonly port: number;
  /** Ends the process without a warning (SIGKILL), and opens what it kept in another; answers the new port. */
  kill(): Promise<number>;
  /** All that was accepted: `GET /sim/report`. */
  report(): Promise<string>;
  close(): Promise<void>;
}

/** Opens the server of a profile; `program` is the built program's file, for a server that is killed. */
export async function openServer(profile: HttpProfile, program: () => string): Promise<FuzzedServer> {
  const folder = await mkdtemp(join(tmpdir(), "clobsim-fuzz-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const world = join(folder, "world.json");
    await writeFile(world, JSON.stringify(emptyWorld(profile.seed)));
    const kept = { data: join(folder, "data"), world };
    const isKilled = profile.server === "killed";
    const server = await (isKilled ? openProgram(profile, kept, program()) : openHere(profile, kept));
    return { ...server, close: () => server.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface Kept {
  readonly data: string;
  readonly world: string;
}

const configOf = ({ seed, numbers, settlement, balances, durability }: HttpProfile): Config => ({
  ...DEFAULT_CONFIG,
  port: 0,
  seed,
  clock: { mode: "frozen" },
  logLevel: "silent",
  numbers,
  settlement,
  balances,
  durability,
  faucet: { collateral: money(0), everyMarket: size(0) },
});

async function openHere(profile: HttpProfile, { data, world }: Kept): Promise<FuzzedServer> {
  const kept = profile.server === "kept" ? { data, world } : { world };
  const { port, close } = await startServer({ ...configOf(profile), ...kept });
  const kill = (): never => {
    throw new Error("only a server in a process of its own can be killed");
  };
  return { port, kill, report: () => reportAt(port), close };
}

async function openProgram(profile: HttpProfile, kept: Kept, program: string): Promise<FuzzedServer> {
  if (!existsSync(program)) {
    throw new Error(
      `a server that is killed needs the built program, and there is no ${program}: npm run build makes it`,
    );
  }
  const start = (): Promise<Running> => startProgram(program, argumentsOf(profile, kept));
  let running = await start();
  return {
    port: running.port,
    kill: async () => {
      await end(running, "SIGKILL");
      running = await start();
      return running.port;
    },
    report: () => reportAt(running.port),
    close: () => end(running, "SIGKILL"),
  };
}

const argumentsOf = (
  { numbers, settlement, balances, durability }: HttpProfile,
  { data, world }: Kept,
): string[] => [
  "serve",
  ...["--port", "0", "--clock", "frozen", "--faucet", "0", "--log-level", "silent"],
  ...["--world", world, "--data", data, "--durability", durability],
  ...["--numbers", numbers, "--settlement", settlement, "--balances", balances],
];

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly ended: Promise<void>;
}

/** @throws Error when the program ends before it answers. */
async function startProgram(program: string, args: readonly string[]): Promise<Running> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CLOBSIM_"));
  const child = spawn(process.execPath, [program, ...args], {
    env: Object.fromEntries(inherited),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    let printed = "";
    const read = (bytes: Buffer): void => {
      printed += bytes.toString();
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    ended.then(() => reject(new Error(`the server ended before it answered: ${printed}`)));
  });
  return { child, port, ended };
}

async function end({ child, ended }: Running, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await ended;
}

/** All that a server has accepted, as a bug report. */
export async function reportAt(port: number): Promise<string> {
  const client = new ExchangeClient(`http://127.0.0.1:${port}`);
  try {
    return orThrow(await client.control.report());
  } finally {
    client.close();
  }
}
