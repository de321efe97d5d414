import { statSync } from "node:fs";
import { join } from "node:path";
import type { Market } from "../../src/client/api-messages.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import type { SigningCredentials } from "../../src/client/messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { walletOf } from "../../src/client/wallet.ts";
import { mulberry32 } from "../bench/flow.ts";
import type { Program } from "../support/program.ts";
import {
  Acknowledged,
  ChainClient,
  type Client,
  DisturbingClient,
  QuotingClient,
  ReadingClient,
  type Surroundings,
  TakingClient,
} from "./clients.ts";
import { Meter, Pace, Tally } from "./meter.ts";
import type { CrashFigures, EndFigures, Figures, Phase, PhaseFigures } from "./plan.ts";
import { SoakServer } from "./server.ts";

type Kind = "disturbing" | "quoting" | "taking" | "reading" | "chain";

/** In the order in which clients are hired; the first of all disturbs the others. */
const KINDS: readonly Kind[] = [
  "quoting",
  "taking",
  "reading",
  "chain",
  "quoting",
  "reading",
  "taking",
  "quoting",
];

/** What each client is given, in USDC; shares are granted by the exchange. */
const FUNDS = 100_000;
/** Of the exchange's dev accounts, so many send transactions. */
const SENDERS = 3;
/** Between two disturbances, on average, where the others ask more often. */
const DISTURBANCE_MS = 200;

/** One client at work: what it does, what it does while all only read, and in whose name. */
interface Seat {
  readonly client: Client;
  readonly reader: Client;
  readonly pace: Pace;
  readonly credentials: SigningCredentials;
}

/** All clients of a soak. */
class Crew {
  readonly #server: SoakServer;
  readonly #meter: Meter;
  readonly #disturber: DisturbingClient;
  readonly #seats: readonly Seat[];

  private constructor(server: SoakServer, meter: Meter, disturber: DisturbingClient, seats: readonly Seat[]) {
    this.#server = server;
    this.#meter = meter;
    this.#disturber = disturber;
    this.#seats = seats;
  }

  /** Derives the credentials of all clients, and funds them. */
  static async hire(
    server: SoakServer,
    meter: Meter,
    surroundings: (index: number) => Surroundings,
    { clients, rate }: { readonly clients: number; readonly rate: number },
  ): Promise<Crew> {
    const { url } = await server.ready;
    const control = new ExchangeClient(url);
    const devAccounts = orThrow(await control.control.info()).devAccounts;
    const senders = devAccounts.slice(0, SENDERS).map(({ address }) => address);
    for (const address of senders) orThrow(await control.control.fund(address, { collateral: FUNDS }));
    const disturber = new DisturbingClient(surroundings(0));
    const meanMs = rate === 0 ? 0 : (clients * 1_000) / rate;
    const seats: Seat[] = [];
    for (let index = 0; index < clients; index += 1) {
      const at = surroundings(index);
      const kind = index === 0 ? "disturbing" : (KINDS[(index - 1) % KINDS.length] as Kind);
      const isDisturber = kind === "disturbing" && rate > 0;
      seats.push({
        client: kind === "disturbing" ? disturber : clientOf(kind, at, meter, senders),
        reader: kind === "chain" ? new ChainClient(at, meter, senders, false) : new ReadingClient(at),
        pace: new Pace(at.random, isDisturber ? Math.max(meanMs, DISTURBANCE_MS) : meanMs),
        credentials: await derive(url, index),
      });
    }
    control.close();
    return new Crew(server, meter, disturber, seats);
  }

  /** How often each disturbance was tried. */
  get disturbances(): ReadonlyMap<string, number> {
    return this.#disturber.done;
  }

  /** Has all clients work until the phase is over. */
  async work(phase: Phase): Promise<void> {
    await this.#readTime();
    await Promise.all(this.#seats.map((seat) => this.#take(seat, phase)));
  }

  /** Ends all disturbances; answers how many requests they made fail, by status (0: no answer). */
  async endDisturbances(): Promise<Map<number, number>> {
    const control = new ExchangeClient((await this.#server.ready).url);
    try {
      return await this.#disturber.end(control);
    } finally {
      control.close();
    }
  }

  /** Has the meter learn the server's time, which the end of the disturbances may have moved. */
  async #readTime(): Promise<void> {
    const { url } = await this.#server.ready;
    const { send, close } = this.#meter.open(new URL(url), new Pace(() => 0, 0));
    await new ExchangeClient(url, { transport: send }).serverTime();
    close();
  }

  async #take(seat: Seat, { kind, extent }: Phase): Promise<void> {
    const { pace, credentials } = seat;
    const isDisturber = seat.client === this.#disturber;
    const onlyReads = kind === "settling" || kind === "reads" || (isDisturber && kind !== "disturbed");
    const client = onlyReads ? seat.reader : seat.client;
    const start = performance.now();
    const share = (): number =>
      extent.kind === "time" ? (performance.now() - start) / extent.ms : pace.turns / extent.each;
    let isToCrash = kind === "crash" && isDisturber;
    pace.begin();
    client.begin();
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
        const transport = this.#meter.open(new URL(url), pace);
        close = transport.close;
        exchange = new ExchangeClient(url, {
          transport: transport.send,
          time: this.#meter.serverTime,
          credentials,
        });
      }
      await client.step(exchange);
    }
    close();
  }
}

function clientOf(
  kind: Exclude<Kind, "disturbing">,
  at: Surroundings,
  meter: Meter,
  senders: readonly string[],
): Client {
  switch (kind) {
    case "quoting":
      return new QuotingClient(at);
    case "taking":
      return new TakingClient(at);
    case "reading":
      return new ReadingClient(at);
    case "chain":
      return new ChainClient(at, meter, senders);
  }
}

/** The credentials of the wallet of a number, which is funded. */
async function derive(url: string, number: number): Promise<SigningCredentials> {
  const account = await walletOf(`0x${(number + 1).toString(16).padStart(64, "0")}`);
  const exchange = new ExchangeClient(url, { account, time: "server" });
  try {
    const credentials = orThrow(await exchange.derive());
    orThrow(await exchange.control.fund(credentials.address, { collateral: FUNDS }));
    return credentials;
  } finally {
    exchange.close();
  }
}

/** How a soak is run. */
interface SoakChoice {
  readonly program: Program;
  /** The path of `memory-probe.mjs`. */
  readonly probe: string;
  readonly plan: readonly Phase[];
  readonly clients: number;
  /** Requests a second of all clients together; 0: each as soon as the one before is answered. */
  readonly rate: number;
  readonly seed: number;
  /** Is told of the phase that begins. */
  readonly watch?: (phase: Phase, server: SoakServer, meter: Meter) => void;
  /** Is called when the server has stopped, before its directory is examined. */
  readonly beforeReplay?: (data: string) => void;
}

const MARKETS = 6;

/** Runs all phases of a plan against a server of its own and answers the figures. @throws Error when it cannot go on. */
export async function runSoak(choice: SoakChoice): Promise<Figures> {
  const server = new SoakServer(choice.program, choice.probe);
  const meter = new Meter();
  const record = new Acknowledged();
  const markets = await openMarkets(server, choice.seed);
  const surroundings = (index: number): Surroundings => ({
    random: mulberry32(choice.seed * 1_000 + index),
    markets,
    serverTime: meter.serverTime,
    record,
  });
  const crew = await Crew.hire(server, meter, surroundings, choice);
  const phases: PhaseFigures[] = [];
  let crash: CrashFigures = { checked: 0, contradictions: [] };
  for (const phase of choice.plan) {
    meter.tally = new Tally();
    record.begin(phase.kind === "crash");
    choice.watch?.(phase, server, meter);
    const start = performance.now();
    await crew.work(phase);
    const seconds = (performance.now() - start) / 1_000;
    server.assertRunning();
    const injected = phase.kind === "disturbed" ? await crew.endDisturbances() : new Map();
    if (phase.kind === "crash") crash = await withControl(server, (control) => verify(record, control));
    phases.push(await lookAt(phase, server, meter.tally, { seconds, injected, before: phases }));
  }
  const disturbances = Object.fromEntries(crew.disturbances);
  return { phases, crash, disturbances, end: await endOf(server, choice) };
}

/** Does something by a client of its own, which is gone afterwards. */
async function withControl<Value>(
  server: SoakServer,
  act: (control: ExchangeClient) => Promise<Value>,
): Promise<Value> {
  const control = new ExchangeClient((await server.ready).url, { timeoutMs: CONTROL_TIMEOUT_MS });
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
      markets.push(
        orThrow(await control.createMarket({ question: `Will soak ${seed} pass in market ${number}?` })),
      );
    }
    return markets;
  });
}

/** Compares every order of the record with the one that the server has. */
async function verify(record: Acknowledged, { control }: ExchangeClient): Promise<CrashFigures> {
  const contradictions: string[] = [];
  for (const told of record.orders.values()) {
    const found = await control.order(told.id);
    const contradiction = record.contradiction(told, found.ok ? found.value.order : null);
    if (contradiction !== null) contradictions.push(contradiction);
  }
  return { checked: record.orders.size, contradictions };
}

interface Around {
  readonly seconds: number;
  readonly injected: ReadonlyMap<number, number>;
  readonly before: readonly PhaseFigures[];
}

/** The figures of a phase, with a look at the server while nobody else asks it. */
async function lookAt(
  { kind, cycle }: Phase,
  server: SoakServer,
  tally: Tally,
  { seconds, injected, before }: Around,
): Promise<PhaseFigures> {
  const violations = await withControl(server, broken);
  const descriptors = await server.quietDescriptors();
  // When the last connection has closed: each keeps what it reads into.
  const { rss, heapUsed, external } = await server.memory();
  return {
    ...{ kind, cycle, life: server.lives, seconds, requests: tally.requests, latencies: tally.latencies },
    accepted: (before.at(-1)?.accepted ?? 0) + tally.accepted,
    failures: Object.fromEntries(tally.failures),
    injected: Object.fromEntries(injected),
    refusals: Object.fromEntries(tally.refusals),
    examples: Object.fromEntries(tally.examples),
    liveBytes: heapUsed + external,
    residentBytes: rss,
    descriptors,
    violations,
  };
}

/** What the server says against its invariants. */
async function broken({ control }: ExchangeClient): Promise<string[]> {
  const { invariants } = orThrow(await control.invariants());
  return invariants.flatMap(({ name, holds, differences }) =>
    holds ? [] : [`${name}: ${differences.join("; ")}`],
  );
}

/** Stops the server in good order and examines what it kept. */
async function endOf(server: SoakServer, { beforeReplay }: SoakChoice): Promise<EndFigures> {
  const toldHash = await withControl(server, async ({ control }) => {
    // Else an order could expire between the hash and the stop.
    orThrow(await control.setClock({ mode: "frozen" }));
    return orThrow(await control.stateHash()).hash;
  });
  const stopped = await server.stop();
  beforeReplay?.(server.data);
  const replayed = await server.examine("replay");
  const doctor = await server.examine("doctor");
  return {
    toldHash,
    replayedHash: /^ {2}state (\S+)$/m.exec(replayed.stdout)?.[1] ?? null,
    stopCode: stopped.code,
    replayCode: replayed.code,
    doctorCode: doctor.code,
    said: [stopped, replayed, doctor].map(({ stderr }) => stderr).join(""),
    defects: server.defects(),
    journalBytes: statSync(join(server.data, "journal.ndjson")).size,
  };
}
