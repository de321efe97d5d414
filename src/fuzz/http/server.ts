import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExchangeClient } from "../../client/client.ts";
import { orThrow } from "../../client/result.ts";
import { startServer } from "../../compose.ts";
import { readConfig } from "../../config.ts";
import { emptyWorld } from "../../simulation/opening.ts";
import type { HttpProfile } from "./traffic.ts";

/** The server of one seed. */
export interface FuzzServer {
  readonly port: number;
  /** Kills the process (SIGKILL), and starts another with the same data directory. Returns the new port. */
  kill(): Promise<number>;
  /** Returns the report of the session: `GET /sim/report`. */
  report(): Promise<string>;
  close(): Promise<void>;
}

/** Opens the server of a profile. `program` returns the path of the built program, for a server that is killed. */
export async function openServer(profile: HttpProfile, program: () => string): Promise<FuzzServer> {
  const folder = await mkdtemp(join(tmpdir(), "clobsim-fuzz-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const world = join(folder, "world.json");
    await writeFile(world, JSON.stringify(emptyWorld(profile.seed)));
    const flags = flagsOf(profile, world, join(folder, "data"));
    const server = await (profile.server === "killed" ? openProgram(flags, program()) : openHere(flags));
    return { ...server, close: () => server.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

type Flags = Readonly<Record<string, string>>;

/** Returns the flags of `clobsim serve` for a profile. */
const flagsOf = (
  { server, numbers, settlement, balances, durability }: HttpProfile,
  world: string,
  data: string,
): Flags => ({
  ...{ port: "0", clock: "frozen", faucet: "0", "log-level": "silent" },
  ...{ world, numbers, settlement, balances },
  ...(server !== "memory" && { data, durability }),
});

async function openHere(flags: Flags): Promise<FuzzServer> {
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  const { port, close } = await startServer(readConfig({ flags: given, environment: {} }));
  const kill = (): never => {
    throw new Error("only a server in another process can be killed");
  };
  return { port, kill, report: () => reportAt(port), close };
}

async function openProgram(flags: Flags, program: string): Promise<FuzzServer> {
  if (!existsSync(program)) {
    throw new Error(
      `a server that is killed needs the built program, and ${program} does not exist: run npm run build`,
    );
  }
  const args = ["serve", ...Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text])];
  const start = (): Promise<Running> => startProgram(program, args);
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

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly ended: Promise<void>;
}

/** @throws Error if the program ends before it prints its address. */
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

/** Fetches a bug report of the session of a server. */
export async function reportAt(port: number): Promise<string> {
  const client = new ExchangeClient(`http://127.0.0.1:${port}`);
  try {
    return orThrow(await client.control.report());
  } finally {
    client.close();
  }
}
