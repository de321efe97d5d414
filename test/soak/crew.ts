import { ExchangeClient } from "../../src/client/client.ts";
import type { SigningCredentials } from "../../src/client/messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { walletOf } from "../../src/client/wallet.ts";
import { ChainClient } from "./clients/chain.ts";
import { DisturbingClient } from "./clients/disturbing.ts";
import { QuotingClient } from "./clients/quoting.ts";
import { ReadingClient } from "./clients/reading.ts";
import { TakingClient } from "./clients/taking.ts";
import type { Client, Surroundings } from "./clients/trader.ts";
import { type Meter, Pace } from "./meter.ts";
import type { Phase } from "./plan.ts";
import type { SoakServer } from "./server.ts";

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
export class Crew {
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
