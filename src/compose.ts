import type { Server } from "node:http";
import { LazyNode } from "./chain-rpc/lazy-node.ts";
import { type Config, FROZEN_START, isLoopback, VERSION } from "./config.ts";
import { type Millis, millis } from "./core/units.ts";
import { Faults } from "./http/faults.ts";
import { Gate } from "./http/gate.ts";
import { requestLog } from "./http/request-log.ts";
import { createHttpServer } from "./http/server.ts";
import type { DevAccount, Service, ServiceOptions } from "./http/service.ts";
import { loadWorld } from "./load-world.ts";
import { Clock } from "./runtime/clock.ts";
import { Exchange } from "./runtime/exchange.ts";
import { type Journal, noJournal } from "./runtime/journal.ts";
import { Keyring } from "./runtime/keyring.ts";
import { SessionLog } from "./runtime/session-log.ts";
import { Snapshots } from "./runtime/snapshots.ts";
import { ConfigError } from "./setting.ts";
import { checksummed } from "./wire/address.ts";
import { numbersAs } from "./wire/decimals.ts";
import { HmacKeys } from "./wire/hmac.ts";
import { MarketRanking } from "./wire/market-ranking.ts";
import { BookPages } from "./wire/replies/book-reply.ts";
import { SearchIndex } from "./wire/search-index.ts";
import { devPrivateKey } from "./world/dev-accounts.ts";
import { openWorld, WorldOpeningError } from "./world/open-world.ts";
import type { World } from "./world/world.ts";

/** A server that answers. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly seed: string;
  /** Virtual time at which the exchange opened. */
  readonly startedAt: Millis;
  readonly events: number;
  readonly markets: number;
  /** A token to try things with; null in a world without markets. */
  readonly sampleTokenId: string | null;
  readonly devAccounts: readonly DevAccount[];
  /** Answers what is under way, then stops. */
  close(): Promise<void>;
}

const SECOND_MS = 1_000;

/**
 * Opens an exchange as configured and answers over HTTP.
 * @throws ConfigError when the world cannot be opened; the system's error when the address cannot be used.
 */
export async function startServer(config: Config): Promise<RunningServer> {
  return serveWorld(config, await loadWorld(config));
}

/** The same with a world that is there already, whose seed counts; `opened` may watch its exchange. */
export async function serveWorld(
  config: Config,
  world: World,
  opened: (exchange: Exchange) => void = () => {},
): Promise<RunningServer> {
  const service = openService(config, world);
  opened(service.exchange);
  const server = createHttpServer(service);
  const port = await listen(server, config);
  const { exchange } = service;
  const { markets, events } = exchange.state;
  return {
    url: `http://${urlHost(config.host)}:${port}`,
    port,
    seed: world.seed,
    startedAt: exchange.now,
    events: events.size,
    markets: markets.size,
    sampleTokenId: sampleToken(service),
    devAccounts: service.options.devAccounts,
    close: () => stop(server, service),
  };
}

/** One exchange with its world opened, ready to be served. @throws ConfigError when the world contradicts itself. */
export function openService(config: Config, world: World): Service {
  const wallNow = Date.now;
  const start = config.start ?? openingTime(config, wallNow());
  const { faucet, credentials, settlement, balances } = config;
  const terms = { seed: world.seed, faucet, credentials, settlement, balances };
  const session = new SessionLog();
  const open = (journal: Journal): Exchange => {
    const opened = new Exchange(terms, start, journal);
    openAt(opened, world, start);
    return opened;
  };
  const exchange = open(session);
  session.begin();
  const clock = clockOf(config, exchange, wallNow);
  const snapshots = new Snapshots(exchange, clock);
  const faults = new Faults(world.seed);
  const node = new LazyNode({ exchange, clock, version: VERSION, accounts: world.devAccounts });
  return {
    options: optionsOf(config, world),
    exchange,
    clock,
    keyring: new Keyring(exchange, world.seed),
    hmacKeys: new HmacKeys(),
    numbers: numbersAs(config.numbers),
    books: new BookPages(),
    search: new SearchIndex(),
    ranking: new MarketRanking(),
    snapshots,
    faults,
    gate: new Gate(),
    log: requestLog(config.logLevel),
    chain: (request, isTrusted) => node.answer(request, isTrusted),
    reopen: () => {
      exchange.restart(start);
      openAt(exchange, world, start);
      session.begin();
      clock.open();
      snapshots.clear();
      faults.clear();
      node.forget();
    },
    record: async (name) => {
      const { recordSession } = await import("./scenario/record/record-session.ts");
      const { devAccounts } = world;
      return recordSession({ log: session, open: () => open(noJournal), devAccounts, name });
    },
    openApi: () => openApiText(config),
  };
}

function clockOf({ clock, start }: Config, exchange: Exchange, wallNow: () => number): Clock {
  const setting = { mode: clock.mode, rate: clock.mode === "scaled" ? clock.rate : 1 };
  return new Clock(exchange, setting, wallNow, start === null && clock.mode !== "frozen");
}

const optionsOf = (config: Config, world: World): ServiceOptions => ({
  version: VERSION,
  credentials: config.credentials,
  personalSign: config.personalSign,
  simToken: config.simToken,
  allowHosts: [...config.allowHosts, config.host.toLowerCase()],
  beyondLoopback: !isLoopback(config.host),
  requestTimeoutMs: config.requestTimeoutMs,
  devAccounts: devAccounts(world),
});

async function openApiText({ numbers }: Config): Promise<string> {
  const { openApiDocument } = await import("./wire/openapi.ts");
  return JSON.stringify(openApiDocument({ version: VERSION, serverUrl: "/", numbers }));
}

const openingTime = (config: Config, wall: number): Millis =>
  config.clock.mode === "frozen" ? FROZEN_START : millis(Math.floor(wall / SECOND_MS) * SECOND_MS);

/** Plays the world's opening history. @throws ConfigError when it cannot be played. */
function openAt(exchange: Exchange, world: World, start: Millis): void {
  try {
    openWorld(exchange, world, start);
  } catch (error) {
    throw error instanceof WorldOpeningError ? new ConfigError(error.message) : error;
  }
}

const devAccounts = (world: World): DevAccount[] =>
  world.devAccounts.map((address, index) => ({
    address: checksummed(address),
    privateKey: devPrivateKey(world.seed, index),
  }));

/** The YES token of the market with the greatest volume among those that are open. */
function sampleToken({ exchange, ranking }: Service): string | null {
  const ranked = ranking.ranked(exchange.state, exchange.sequence, "volume");
  return (ranked.find(({ status }) => status === "ACTIVE") ?? ranked[0])?.tokenIds[0] ?? null;
}

function listen(server: Server, { host, port }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** The name under which this machine reaches a bound address. */
const urlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
};

const CLOSE_GRACE_MS = 2_000;

function stop(server: Server, service: Service): Promise<void> {
  service.clock.stop();
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(force);
      service.faults.stop();
      service.log.flush();
      resolve();
    });
    server.closeIdleConnections();
  });
}
