import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHAIN_IDS } from "../../api/wallet-signature.ts";
import type { Credentials, Market } from "../../client/api-messages.ts";
import { attest, ExchangeClient } from "../../client/client.ts";
import { orThrow } from "../../client/result.ts";
import { startServer } from "../../compose.ts";
import { readConfig } from "../../config.ts";
import { type Random, seededRandom } from "../../core/random.ts";
import { FROZEN_START } from "../../core/units.ts";
import { createComplete } from "../../regular-file.ts";
import { signerOf } from "../../scenario/venue/http-venue.ts";
import { type Wallet, Wallets } from "../../scenario/venue/venue.ts";
import { emptyWorld } from "../../simulation/opening.ts";
import type { Evidence, SeedResult, SeedRunner } from "../seeds.ts";
import { readJournal } from "./answer-replay.ts";
import { check } from "./check.ts";
import {
  Clients,
  logText,
  type ObservationLog,
  type PendingRequest,
  requestTo,
  type SentRequest,
} from "./observation.ts";
import {
  type HttpProfile,
  profileOf,
  profileText,
  type TradedMarket,
  type Trader,
  Traffic,
} from "./traffic.ts";

/** Returns the request that derives API keys, signed by a wallet. */
export async function derivationRequest(wallet: Wallet): Promise<SentRequest> {
  const unixTime = FROZEN_START / 1000;
  const claim = { scheme: "typed-data", chainId: CHAIN_IDS[0], unixTime, nonce: 0 } as const;
  return requestTo("deriveApiKey", { body: await attest(await signerOf(wallet), claim) });
}

/** The session of one seed: its clients create markets and accounts, then trade concurrently. */
class FuzzSession {
  readonly #profile: HttpProfile;
  readonly #server: FuzzServer;
  readonly #wallets: Wallets;
  readonly #clients: Clients;
  readonly #random: Random;
  /** Requests that may be pending, by client. */
  readonly #pending: PendingRequest[][];
  #port: number;

  constructor(profile: HttpProfile, server: FuzzServer, wallets: Wallets) {
    this.#profile = profile;
    this.#server = server;
    this.#wallets = wallets;
    this.#port = server.port;
    this.#clients = new Clients(() => this.#port, FROZEN_START);
    this.#pending = Array.from({ length: profile.clients }, () => []);
    this.#random = seededRandom(profile.seed, "fuzz/http/rounds");
  }

  /**
   * Runs the session. Returns its report, the observations, and the number of requests before the first drawn one.
   * @throws Error if the markets and accounts cannot be created.
   */
  async run(commands: number) {
    const traffic = await this.#open();
    const opening = this.#clients.observations.length;
    await this.#trade(traffic, commands);
    const last = await this.#clients.ask(0, requestTo("removeFaults"));
    const hash = last === null ? null : await this.#clients.ask(0, requestTo("getStateHash"));
    this.#clients.close();
    if (this.#clients.fault !== null) throw this.#clients.fault;
    const { faultOneIn, server, numbers } = this.#profile;
    const { hasTimedOut, observations } = this.#clients;
    const mayLose: ("faults" | "kill")[] = [];
    if (faultOneIn > 0 && !hasTimedOut) mayLose.push("faults");
    if (server === "killed" && !hasTimedOut) mayLose.push("kill");
    const finalHash = /"hash":"([^"]+)"/.exec(hash?.body ?? "")?.[1] ?? null;
    const log: ObservationLog = { numbers, mayLose, finalHash, observations };
    return { report: await reportAt(this.#port), log, opening };
  }

  /** Creates markets and accounts, one request after the other. */
  async #open(): Promise<Traffic> {
    const { markets, accounts } = this.#profile;
    const event = await this.#done<{ id: string }>(requestTo("createEvent", { body: { title: "Fuzz" } }));
    const opened: TradedMarket[] = [];
    for (const terms of markets) {
      const { slug, tick, middle, ...rules } = terms;
      const body = { eventId: event.id, question: slug, slug, tickSize: tick / 10_000, ...rules };
      const { id, tokens } = await this.#done<Market>(requestTo("createMarket", { body }));
      opened.push({ terms, id, tokenIds: tokens.map(({ tokenId }) => tokenId) });
    }
    const tokens = Object.fromEntries(
      opened.flatMap(({ tokenIds }) => tokenIds.map((tokenId) => [tokenId, this.#profile.shares])),
    );
    const traders: Trader[] = [];
    for (let number = 1; number <= accounts; number += 1) {
      const wallet = this.#wallets.of(`fuzz-${number}`);
      const { address } = wallet;
      const derived = await this.#done<Credentials>(await derivationRequest(wallet));
      const body = { collateral: this.#profile.collateral, ...(this.#profile.shares > 0 && { tokens }) };
      await this.#done(requestTo("fundAccount", { path: { address }, body }));
      traders.push({ credentials: { ...derived, address }, orders: [] });
    }
    return new Traffic(this.#profile, traders, opened);
  }

  async #done<Body>(request: SentRequest): Promise<Body> {
    const answer = await this.#clients.ask(0, request);
    if (answer?.status === 200) return JSON.parse(answer.body) as Body;
    const { status, body } = answer ?? { status: "nothing", body: "" };
    throw new Error(`${request.operation} is answered with ${status}: ${body}`);
  }

  /** Sends the drawn requests in rounds, from several clients at once. Some clients do not wait for their answers. */
  async #trade(traffic: Traffic, commands: number): Promise<void> {
    const { clients, server, killedAt } = this.#profile;
    const kills = server === "killed" ? killedAt.map((share) => (commands * share) / 100) : [];
    for (let sent = 0; sent < commands; ) {
      const count = Math.min(commands - sent, this.#random.between(1, clients * 2));
      for (let index = 0; index < count; index += 1) await this.#ask(traffic);
      sent += count;
      if (sent > (kills[0] ?? commands)) {
        kills.shift();
        // Kills the server while requests are pending, and continues with its successor.
        await this.#clients.waitForEnded(this.#random.below(this.#clients.pending + 1));
        this.#port = await this.#server.kill();
      }
      await this.#wait();
    }
    await Promise.all(this.#pending.flat().map(({ done }) => done));
  }

  /** Sends a request of one client. First waits if the client has the maximum number of pending requests. */
  async #ask(traffic: Traffic): Promise<void> {
    const { clients, cutOneIn, pipelined } = this.#profile;
    const client = this.#random.below(clients);
    const own = this.#pending[client] as PendingRequest[];
    while (own.length >= pipelined) await own.shift()?.done;
    const request = traffic.next(client, this.#clients.time);
    const cutAt = cutOneIn > 0 && this.#random.oneIn(cutOneIn) ? this.#random.between(1, 200) : null;
    const pending = await this.#clients.send(client, request, cutAt);
    pending.done.then((answer) => traffic.learn(client, request, answer));
    own.push(pending);
  }

  /** Waits until some of the clients have all their answers; in one round of three, all clients. */
  async #wait(): Promise<void> {
    const isForAll = this.#random.oneIn(3);
    const awaited = this.#pending.filter(() => this.#random.oneIn(2) || isForAll);
    await Promise.all(awaited.flatMap((requests) => requests.splice(0)).map(({ done }) => done));
  }
}

/**
 * Runs seeds with concurrent clients of a server, and checks that their observations are one history. The seed decides
 * the requests, but not the order in which the server handles those of several connections. Because a seed that failed
 * may pass when it is run again, a failed run has its observations as evidence. `program` is the path of the built
 * program for servers that are killed; by default the one that runs this code.
 */
export function httpRunner(program = fileURLToPath(new URL("./cli.js", import.meta.url))): SeedRunner {
  const wallets = new Wallets();
  const run = async (seed: number, commands: number): Promise<SeedResult> => {
    const profile = profileOf(seed);
    const server = await openServer(profile, program);
    try {
      const { report, log, opening } = await new FuzzSession(profile, server, wallets).run(commands);
      const contradiction = await check(readJournal(Buffer.from(report)), log);
      const result = { seed, profile: profileText(profile), commands };
      if (contradiction === null) return { ...result, failure: null };
      const { fingerprint, observation, message: sentence, isInJournal } = contradiction;
      const { observations } = log;
      const index = observation === null ? observations.length - 1 : observations.indexOf(observation);
      const command = Math.max(1, Math.min(commands, index + 1 - opening));
      const evidence = { report, observations: logText(log), isInJournal };
      return { ...result, failure: { fingerprint, sentence, command }, evidence };
    } finally {
      await server.close();
    }
  };
  return { run, write: ({ evidence }, _commands, folder, name) => writeEvidence(evidence, folder, name) };
}

async function writeEvidence(evidence: Evidence | undefined, folder: string, name: string) {
  if (evidence === undefined) throw new Error("a run over HTTP has failed without evidence");
  const report = join(folder, `${name}.ndjson`);
  const log = join(folder, `${name}.observations.ndjson`);
  writeFileSync(report, evidence.report);
  writeFileSync(log, evidence.observations);
  if (!evidence.isInJournal) {
    const remark = `answers differ from the journal, which a scenario cannot show: ${log} has every request and answer`;
    return { scenario: null, report, remark };
  }
  const { asScenario, shrinkDeadline, writeScenario } = await import("../in-process.ts");
  const { origin, entries, failing } = readJournal(Buffer.from(evidence.report)).history;
  const all = failing === null ? entries : [...entries, failing];
  const reproduction = await asScenario({ ...origin, entries: all }, { isOver: shrinkDeadline() });
  const none = { text: null, remark: "the commands of the journal alone do not fail" };
  return writeScenario(join(folder, `${name}.yaml`), report, reproduction ?? none);
}

interface FuzzServer {
  readonly port: number;
  /** Kills the process (SIGKILL), and starts another with the same data directory. Returns the new port. */
  kill(): Promise<number>;
  close(): Promise<void>;
}

/** Opens the server of a profile. `program` is the path of the built program, for a server that is killed. */
async function openServer(profile: HttpProfile, program: string): Promise<FuzzServer> {
  const folder = await mkdtemp(join(tmpdir(), "clobsim-fuzz-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const world = join(folder, "world.json");
    createComplete(world, JSON.stringify(emptyWorld(profile.seed)));
    const { server: kind, numbers, settlement, balances, durability } = profile;
    const flags = {
      ...{ port: "0", clock: "frozen", faucet: "0", "log-level": "silent" },
      ...{ world, numbers, settlement, balances },
      ...(kind !== "memory" && { data: join(folder, "data"), durability }),
    };
    const server = await (kind === "killed" ? openProgram(flags, program) : openHere(flags));
    return { ...server, close: () => server.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Flags of `clobsim serve`. */
type Flags = Readonly<Record<string, string>>;

async function openHere(flags: Flags): Promise<FuzzServer> {
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  const { port, close } = await startServer(readConfig({ flags: given, environment: {} }));
  const kill = () => Promise.reject(new Error("only a server in another process can be killed"));
  return { port, kill, close };
}

async function openProgram(flags: Flags, program: string): Promise<FuzzServer> {
  const missing = `and ${program} does not exist: run npm run build`;
  if (!existsSync(program)) throw new Error(`a server that is killed needs the built program, ${missing}`);
  const args = ["serve", ...Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text])];
  let running: Running = await startProgram(program, args);
  return {
    port: running.port,
    kill: async () => {
      await end(running);
      running = await startProgram(program, args);
      return running.port;
    },
    close: () => end(running),
  };
}

type Running = Awaited<ReturnType<typeof startProgram>>;

/** @throws Error if the program ends before it prints its address. */
async function startProgram(program: string, args: readonly string[]) {
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

async function end({ child, ended }: Running): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}

/** Fetches the bug report of a server's session: `GET /sim/report`. */
export async function reportAt(port: number): Promise<string> {
  const client = new ExchangeClient(`http://127.0.0.1:${port}`);
  try {
    return orThrow(await client.control.report());
  } finally {
    client.close();
  }
}
