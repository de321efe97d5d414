import { statSync } from "node:fs";
import { join } from "node:path";
import type { Market } from "../../src/client/api-messages.ts";
import { ExchangeClient, walletOf } from "../../src/client/client.ts";
import type { SigningCredentials } from "../../src/client/connection.ts";
import { orThrow } from "../../src/client/result.ts";
import { mulberry32 } from "../bench/flow.ts";
import type { Program } from "../support/program.ts";
import {
  Acknowledged,
  type Client,
  type ClientContext,
  chainClient,
  DisturbingClient,
  quotingClient,
  readingClient,
  takingClient,
} from "./clients.ts";
import { Meter, Pace, Tally } from "./meter.ts";
import type { CrashFigures, EndFigures, Figures, Phase, PhaseFigures } from "./plan.ts";
import { SoakServer } from "./server.ts";

type Open = (at: ClientContext, meter: Meter, senders: readonly string[]) => Client;

/** Clients after the first, which disturbs the others. */
const KINDS: readonly Open[] = [
  ...[quotingClient, takingClient, readingClient, chainClient],
  ...[quotingClient, readingClient, takingClient, quotingClient],
];

/** Initial USDC of each client. The exchange grants shares. */
const FUNDS = 100_000;
/** Number of dev accounts that send transactions. */
const SENDERS = 3;
/** Minimum mean time between two disturbances. */
const DISTURBANCE_MS = 200;

/** A client with its credentials. */
interface Worker {
  readonly client: Client;
  /** Replaces `client` in phases of reads. */
  readonly reader: Client;
  readonly pace: Pace;
  readonly credentials: SigningCredentials;
}

/** All clients of a soak. */
class Workers {
  readonly #server: SoakServer;
  readonly #meter: Meter;
  readonly disturber: DisturbingClient;
  readonly #workers: Worker[] = [];

  private constructor(server: SoakServer, meter: Meter, disturber: DisturbingClient) {
    this.#server = server;
    this.#meter = meter;
    this.disturber = disturber;
  }

  /** Derives the credentials of all clients, and funds them. */
  static async create(
    server: SoakServer,
    meter: Meter,
    context: (index: number) => ClientContext,
    { clients, rate }: SoakOptions,
  ): Promise<Workers> {
    const senders = await withControl(server, async ({ control }) => {
      const { devAccounts } = orThrow(await control.info());
      const addresses = devAccounts.slice(0, SENDERS).map(({ address }) => address);
      for (const address of addresses) orThrow(await control.fund(address, { collateral: FUNDS }));
      return addresses;
    });
    const disturber = new DisturbingClient(context(0));
    const created = new Workers(server, meter, disturber);
    const meanMs = rate === 0 ? 0 : (clients * 1_000) / rate;
    for (let index = 0; index < clients; index += 1) {
      const at = context(index);
      const open = index === 0 ? null : (KINDS[(index - 1) % KINDS.length] as Open);
      const isDisturber = open === null && rate > 0;
      created.#workers.push({
        client: open === null ? disturber : open(at, meter, senders),
        reader: open === chainClient ? chainClient(at, meter, senders, false) : readingClient(at),
        pace: new Pace(at.random, isDisturber ? Math.max(meanMs, DISTURBANCE_MS) : meanMs),
        credentials: await derive(server, index),
      });
    }
    return created;
  }

  /** Runs all clients until the phase is over. */
  async run(phase: Phase): Promise<void> {
    await this.#readTime();
    await Promise.all(this.#workers.map((worker) => this.#run(worker, phase)));
  }

  /** Ends all disturbances. Returns the number of requests that they made fail, by status (0: no answer). */
  endDisturbances(): Promise<Map<number, number>> {
    return withControl(this.#server, (control) => this.disturber.end(control));
  }

  /** Updates the meter's estimate of the server's time, which disturbances may have changed. */
  async #readTime(): Promise<void> {
    const { url } = await this.#server.ready;
    const { send, close } = this.#meter.open(new URL(url), new Pace(() => 0, 0));
    await new ExchangeClient(url, { transport: send }).serverTime();
    close();
  }

  async #run(worker: Worker, { kind, extent }: Phase): Promise<void> {
    const { pace, credentials } = worker;
    const isDisturber = worker.client === this.disturber;
    const onlyReads = kind === "settling" || kind === "reads" || (isDisturber && kind !== "disturbed");
    const client = onlyReads ? worker.reader : worker.client;
    const start = performance.now();
    const share = (): number =>
      extent.kind === "time" ? (performance.now() - start) / extent.ms : pace.turns / extent.each;
    let isToCrash = kind === "crash" && isDisturber;
    pace.begin();
    client.begin?.();
    let [url, close] = ["", () => {}];
    let exchange: ExchangeClient | null = null;
    while (share() < 1) {
      if (isToCrash && share() >= 0.5) {
        isToCrash = false;
        await this.#server.crash();
      }
      const served = await this.#server.ready;
      if (exchange === null || served.url !== url) {
        close();
        url = served.url;
        const { send: transport, close: end } = this.#meter.open(new URL(url), pace);
        close = end;
        exchange = new ExchangeClient(url, { transport, time: this.#meter.serverTime, credentials });
      }
      await client.step(exchange);
    }
    close();
  }
}

/** Derives the credentials of a numbered wallet, and funds it. */
async function derive(server: SoakServer, number: number): Promise<SigningCredentials> {
  const account = await walletOf(`0x${(number + 1).toString(16).padStart(64, "0")}`);
  const derived = async (exchange: ExchangeClient): Promise<SigningCredentials> => {
    const credentials = orThrow(await exchange.derive());
    orThrow(await exchange.control.fund(credentials.address, { collateral: FUNDS }));
    return credentials;
  };
  return withControl(server, derived, { account, time: "server" });
}

/** Options of a soak. */
interface SoakOptions {
  readonly program: Program;
  /** The path of `memory-probe.mjs`. */
  readonly probe: string;
  readonly plan: readonly Phase[];
  readonly clients: number;
  /** Requests per second of all clients together; 0 for each as soon as the previous one is answered. */
  readonly rate: number;
  readonly seed: number;
  /** Called when a phase begins. */
  readonly watch?: (phase: Phase, server: SoakServer, meter: Meter) => void;
  /** Called when the server has stopped, before its directory is checked. */
  readonly beforeReplay?: (data: string) => void;
}

const MARKETS = 6;

/** Runs all phases of a plan on a new server. @throws Error if it cannot be completed. */
export async function runSoak(options: SoakOptions): Promise<Figures> {
  const server = new SoakServer(options.program, options.probe);
  const meter = new Meter();
  const record = new Acknowledged();
  const markets = await openMarkets(server, options.seed);
  const context = (index: number): ClientContext => ({
    random: mulberry32(options.seed * 1_000 + index),
    markets,
    serverTime: meter.serverTime,
    record,
  });
  const workers = await Workers.create(server, meter, context, options);
  const phases: PhaseFigures[] = [];
  let crash: CrashFigures = { checked: 0, contradictions: [] };
  for (const phase of options.plan) {
    meter.tally = new Tally();
    record.begin(phase.kind === "crash");
    options.watch?.(phase, server, meter);
    const start = performance.now();
    await workers.run(phase);
    const seconds = (performance.now() - start) / 1_000;
    server.assertRunning();
    const injected = phase.kind === "disturbed" ? await workers.endDisturbances() : new Map();
    if (phase.kind === "crash") crash = await withControl(server, (control) => verify(record, control));
    const accepted = (phases.at(-1)?.accepted ?? 0) + meter.tally.accepted;
    phases.push({ accepted, ...(await measure(phase, server, meter.tally, seconds, injected)) });
  }
  const disturbances = Object.fromEntries(workers.disturber.counts);
  return { phases, crash, disturbances, end: await endOf(server, options) };
}

/** Calls `act` with a temporary client. */
async function withControl<Value>(
  server: SoakServer,
  act: (control: ExchangeClient) => Promise<Value>,
  options: ConstructorParameters<typeof ExchangeClient>[1] = {},
): Promise<Value> {
  const { url } = await server.ready;
  const control = new ExchangeClient(url, { timeoutMs: CONTROL_TIMEOUT_MS, ...options });
  try {
    return await act(control);
  } finally {
    control.close();
  }
}

const CONTROL_TIMEOUT_MS = 120_000;

function openMarkets(server: SoakServer, seed: number): Promise<Market[]> {
  return withControl(server, async ({ control }) => {
    const markets: Market[] = [];
    for (let number = 1; number <= MARKETS; number += 1) {
      const question = `Will soak ${seed} pass in market ${number}?`;
      markets.push(orThrow(await control.createMarket({ question })));
    }
    return markets;
  });
}

/** Compares every acknowledged order with the order on the server. */
async function verify(record: Acknowledged, { control }: ExchangeClient): Promise<CrashFigures> {
  const contradictions: string[] = [];
  for (const order of record.orders.values()) {
    const found = await control.order(order.id);
    const contradiction = record.contradiction(order, found.ok ? found.value.order : null);
    if (contradiction !== null) contradictions.push(contradiction);
  }
  return { checked: record.orders.size, contradictions };
}

/** Returns the figures of a phase, and measures the idle server. */
async function measure(
  { kind, cycle }: Phase,
  server: SoakServer,
  tally: Tally,
  seconds: number,
  injected: ReadonlyMap<number, number>,
): Promise<Omit<PhaseFigures, "accepted">> {
  const violations = await withControl(server, brokenInvariants);
  const descriptors = await server.quietDescriptors();
  // After the last connection has closed, because each has a read buffer.
  const { rss, heapUsed, external } = await server.memory();
  return {
    ...{ kind, cycle, process: server.starts, seconds },
    ...{ requests: tally.requests, latencies: tally.latencies, failures: tally.failures },
    ...{ injected: Object.fromEntries(injected), refusals: tally.refusals, examples: tally.examples },
    ...{ liveBytes: heapUsed + external, residentBytes: rss, descriptors, violations },
  };
}

/** Returns the broken invariants of the server. */
async function brokenInvariants({ control }: ExchangeClient): Promise<string[]> {
  const { invariants } = orThrow(await control.invariants());
  return invariants.flatMap(({ name, holds, differences }) =>
    holds ? [] : [`${name}: ${differences.join("; ")}`],
  );
}

/** Stops the server, and checks its data directory. */
async function endOf(server: SoakServer, { beforeReplay }: SoakOptions): Promise<EndFigures> {
  const lastHash = await withControl(server, async ({ control }) => {
    // Otherwise an order could expire between the hash and the stop.
    orThrow(await control.setClock({ mode: "frozen" }));
    return orThrow(await control.stateHash()).hash;
  });
  const stopped = await server.stop();
  beforeReplay?.(server.data);
  const replayed = await server.check("replay");
  const doctor = await server.check("doctor");
  return {
    lastHash,
    replayedHash: /^ {2}state (\S+)$/m.exec(replayed.stdout)?.[1] ?? null,
    stopCode: stopped.code,
    replayCode: replayed.code,
    doctorCode: doctor.code,
    stderr: [stopped, replayed, doctor].map(({ stderr }) => stderr).join(""),
    defects: server.defects(),
    journalBytes: statSync(join(server.data, "journal.ndjson")).size,
  };
}
