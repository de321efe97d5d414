import type { NotificationSink } from "./api/chain-rpc.ts";
import { numbersAs } from "./api/decimals.ts";
import { ApiError } from "./api/errors.ts";
import { MarketRanking, SearchIndex } from "./api/market-search.ts";
import { BookPages } from "./api/order-book.ts";
import { HmacKeys } from "./api/signing.ts";
import { checksummed } from "./api/view.ts";
import { Bots } from "./bots/bots.ts";
import type { ChainNode } from "./chain-rpc/chain-node.ts";
import type { Host } from "./chain-rpc/context.ts";
import { openTransport, type Transport } from "./client/transport.ts";
import { type Config, VERSION } from "./config.ts";
import type { Market } from "./core/market.ts";
import { type ClockSetting, Slices, Snapshots } from "./engine/clock.ts";
import type { PersistenceStatus } from "./engine/data-folder.ts";
import type { Exchange } from "./engine/exchange.ts";
import { StoreError } from "./engine/journal.ts";
import { Keyring } from "./engine/keyring.ts";
import {
  type OpenedExchange,
  openAtOrigin,
  openExchange,
  settingOf,
  type Warn,
} from "./engine/open-exchange.ts";
import {
  exchangeAt,
  exchangeConfigOf,
  loadOrigin,
  type Origin,
  openingTime,
  originOfWorld,
  requireSameConfig,
} from "./engine/origin.ts";
import {
  defectOf,
  historyOf,
  type ReportContent,
  ReportTooLong,
  reportBytes,
  reportInPieces,
  saveReport,
  verifyHistory,
} from "./history/report.ts";
import { Outbox } from "./server/connection.ts";
import { Faults } from "./server/faults.ts";
import { HttpService, requireFree } from "./server/http-service.ts";
import { logBelow, requestLog } from "./server/request-log.ts";

import type { Chain, ChainClient, DevWallet, Service, ServiceOptions } from "./server/service.ts";
import { ExchangeSite, InspectorPage, Pool } from "./server/site.ts";
import { Stream } from "./server/stream.ts";
import { ConfigError, isLoopback } from "./setting.ts";
import type { World } from "./simulation/world.ts";
import { devPrivateKey } from "./simulation/world-accounts.ts";

/** An exchange in this process. */
export interface LocalExchange {
  readonly seed: string;
  /** Virtual time at which the exchange opened, in Unix milliseconds. */
  readonly startedAt: number;
  readonly events: number;
  readonly markets: number;
  /** Token id of an open market; null in a world without markets. */
  readonly sampleTokenId: string | null;
  readonly devAccounts: readonly DevWallet[];
  /** Mode of the clock. */
  readonly clock: ClockSetting;
  /** Sends requests without a network; the `transport` of an `ExchangeClient`. */
  readonly transport: Transport;
  /** Answers pending requests, then stops. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A listening server. */
export interface RunningServer extends LocalExchange {
  /** URL of the server; the exchanges of a pool are at `url/number`. */
  readonly url: string;
  readonly port: number;
  /** Maximum number of exchanges in the pool; null without a pool. */
  readonly pool: number | null;
  /** The continued history and its last line; null if none is continued. */
  readonly from: { readonly name: string; readonly line: number } | null;
  /** Persistence of the exchange; null if it is in memory only. */
  readonly keeping: PersistenceStatus | null;
  /** Keeps this process alive until the server is closed. */
  ref(): void;
  /** Allows this process to end while the server runs. */
  unref(): void;
}

/**
 * Opens an exchange and serves it over HTTP.
 * @throws ConfigError if the world cannot be opened, or if the address cannot be used, with the system's error as its
 * cause; StoreError or ReplayDiffers if the data directory cannot be opened.
 */
export async function startServer(config: Config, warn: Warn = () => {}): Promise<RunningServer> {
  try {
    return await openServer(config, warn);
  } catch (error) {
    throw listenFailure(error, config);
  }
}

/** Converts the system's error about an address to a ConfigError; returns any other error unchanged. */
function listenFailure(error: unknown, { host, port }: Config): unknown {
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (syscall !== "listen" && syscall !== "getaddrinfo") return error;
  const failure = (message: string): ConfigError => new ConfigError(message, { cause: error });
  switch (code) {
    case "EADDRINUSE":
      return failure(`port ${port} of ${host} is already in use: --port 0 takes a free one`);
    case "EACCES":
      return failure(`permission denied for port ${port} of ${host}: --port expects one above 1023`);
    case "EADDRNOTAVAIL":
    case "EAI_AGAIN":
    case "ENOTFOUND":
      return failure(`--host expects an address of this machine, found ${host}`);
    default:
      return error;
  }
}

async function openServer(config: Config, warn: Warn): Promise<RunningServer> {
  // Checked before a data directory is created.
  if (config.data !== null && config.port !== 0) await requireFree(config);
  const continued = config.from === null ? null : await continueHistory(config, config.from);
  const from = continued?.from ?? null;
  if (config.pool !== null) {
    const origin = continued?.origin ?? (await loadOrigin(config, Date.now()));
    return servePool(continued?.config ?? config, config.pool, origin, from, warn);
  }
  const opened = await openExchange(continued?.config ?? config, warn, undefined, continued?.origin);
  try {
    return await serve(config, opened, serviceOf(config, opened, warn), from);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A running server with its parts. */
export interface ServedExchange {
  readonly server: RunningServer;
  readonly http: HttpService;
  readonly service: Service;
  readonly opened: OpenedExchange;
}

/** Serves an exchange that is in memory only. @throws as `startServer` */
export async function serveInMemory(config: Config): Promise<ServedExchange> {
  const opened = openAtOrigin(config, await loadOrigin(config, Date.now()));
  const service = serviceOf(config, opened);
  const { http, local } = localAt(opened, service);
  const server = await listen(config, http, { ...local, pool: null, from: null, keeping: null });
  return { server, http, service, opened };
}

/** Opens an exchange without a port. @throws as `startServer` */
export async function openLocal(config: Config): Promise<LocalExchange> {
  const opened = await openExchange(config, () => {});
  return localAt(opened, serviceOf(config, opened)).local;
}

/** Reads the origin and the clock at the end of a history, or at a line of it. */
async function continueHistory(config: Config, name: string) {
  const [{ resumePointIn }, { nodeDisk }] = await Promise.all([
    import("./history/journal-replay.ts"),
    import("./engine/disk.ts"),
  ]);
  const { origin, line, clock } = resumePointIn(nodeDisk, name, VERSION, config.at ?? {});
  requireSameConfig(config, origin, name, "leave it out");
  const own = config.given.has("clock") ? config.clock : clock;
  return { origin, from: { name, line }, config: { ...config, clock: own, start: origin.start } };
}

/** Serves an exchange of a given world, with the world's seed, in memory only; `watch` is called before it is served. */
export async function serveWorld(
  config: Config,
  world: World,
  watch: (exchange: Exchange) => void = () => {},
): Promise<RunningServer> {
  const start = config.start ?? openingTime(config, Date.now());
  const opened = openAtOrigin(config, originOfWorld(world, exchangeConfigOf(config, world.seed), start));
  watch(opened.exchange);
  return serve(config, opened, serviceOf(config, opened), null);
}

async function serve(
  config: Config,
  opened: OpenedExchange,
  service: Service,
  from: RunningServer["from"],
): Promise<RunningServer> {
  const { http, local } = localAt(opened, service);
  return listen(config, http, { ...local, pool: null, from, keeping: opened.folder });
}

function localAt(opened: OpenedExchange, service: Service) {
  const site = new ExchangeSite(service);
  const http = new HttpService(site, () => [site]);
  return { http, local: localExchange(http, opened, opened.clock.setting, () => opened.close()) };
}

/** Serves a pool of exchanges with a common origin, which is loaded once. */
async function servePool(
  config: Config,
  size: number,
  origin: Origin,
  from: RunningServer["from"],
  warn: Warn,
): Promise<RunningServer> {
  const shared = newSharedParts(config);
  const page = new InspectorPage();
  const pool = new Pool({
    ...shared,
    size,
    options: optionsOf(config, origin, ""),
    open: (number) => {
      const opened = openAtOrigin(config, origin);
      return new ExchangeSite(serviceOf(config, opened, warn, shared, `/${number}`), page);
    },
  });
  const http = new HttpService(pool, () => pool.members);
  const opened = { origin, exchange: exchangeAt(origin) };
  const local = localExchange(http, opened, settingOf(config), async () => {});
  return listen(config, http, { ...local, pool: size, from, keeping: null });
}

/** @throws the system's error if the address cannot be used */
async function listen(
  config: Config,
  http: HttpService,
  served: Omit<RunningServer, "url" | "port" | "ref" | "unref">,
): Promise<RunningServer> {
  const port = await http.listen(config);
  const keepProcess = (keepsAlive: boolean) => () => {
    http.keepsAlive = keepsAlive;
  };
  const url = `http://${urlHost(config.host)}:${port}`;
  return { ...served, url, port, ref: keepProcess(true), unref: keepProcess(false) };
}

/** Base URL of an exchange for clients without a network. */
const IN_PROCESS = new URL("http://localhost");
const REPLY_TIMEOUT_MS = 30_000;

/** `ended` is called after the last answer. */
function localExchange(
  http: HttpService,
  opened: Pick<OpenedExchange, "exchange" | "origin">,
  clock: ClockSetting,
  ended: () => Promise<void>,
): LocalExchange {
  const { send, close: disconnect } = openTransport(IN_PROCESS, REPLY_TIMEOUT_MS, () => http.connect());
  const close = async (): Promise<void> => {
    disconnect();
    await http.close();
    await ended();
  };
  return { ...summaryOf(opened), clock, transport: send, close, [Symbol.asyncDispose]: close };
}

/** Returns the facts about a new exchange that a server prints. */
function summaryOf({ exchange, origin }: Pick<OpenedExchange, "exchange" | "origin">) {
  const { state, sequence, now } = exchange;
  const ranked = new MarketRanking().ranked(state, sequence, "volume");
  return {
    seed: state.config.seed,
    startedAt: now,
    events: state.events.size,
    markets: state.markets.size,
    sampleTokenId: sampleToken(ranked),
    devAccounts: devAccounts(origin),
  };
}

/** The parts of a service that all exchanges of a server share. */
type SharedParts = Pick<Service, "outbox" | "slices" | "log">;

const newSharedParts = (config: Config): SharedParts => ({
  outbox: new Outbox(),
  slices: new Slices(),
  log: requestLog(config.logLevel),
});

/** Creates the service of an opened exchange; `prefix` is its path in a pool. */
export function serviceOf(
  config: Config,
  opened: OpenedExchange,
  warn: Warn = () => {},
  shared: SharedParts = newSharedParts(config),
  prefix = "",
): Service {
  const { exchange, clock, origin, session, persistence } = opened;
  const { seed } = origin.config;
  const { devAccounts } = origin;
  const snapshots = new Snapshots(exchange, clock);
  const faults = new Faults(seed);
  const stream = new Stream(opened, VERSION);
  const { outbox, slices, log } = shared;
  const bots = new Bots(exchange);
  const openBots = (): void => {
    if (config.bots === null) return;
    bots.start(config.bots);
    clock.arm();
  };
  const reopen = (): void => {
    // Without bots, because a clock that follows the wall clock may catch up here.
    bots.detach();
    opened.reopen();
    openBots();
    snapshots.clear();
    faults.clear();
    chain.reset();
  };
  const keyOf = (account: string) => {
    const index = devAccounts.indexOf(account);
    return index < 0 ? null : devPrivateKey(seed, index);
  };
  const host = { exchange, clock, version: VERSION, accounts: devAccounts, slices, keyOf };
  const chain = new LazyChain({ ...host, reset: reopen });
  openBots();
  opened.folder?.whenBroken(({ message }) =>
    log.failure(`${message}; changes are refused from now on, everything answered before is persisted`),
  );
  return {
    options: optionsOf(config, origin, prefix),
    exchange,
    clock,
    persistence,
    keyring: new Keyring(exchange, seed),
    hmacKeys: new HmacKeys(),
    numbers: numbersAs(config.numbers),
    checksums: new Map(),
    books: new BookPages(),
    search: new SearchIndex(),
    ranking: new MarketRanking(),
    snapshots,
    faults,
    bots,
    slices,
    outbox,
    log: prefix === "" ? log : logBelow(log, prefix),
    chain,
    stream,
    reopen,
    noteRefused: (request) => {
      opened.noteRefused(request);
      stream.refused(request);
    },
    record: async (name) => {
      const { recordSession } = await import("./history/record/record-session.ts");
      return slices.run(recordSession({ log: session, open: opened.atSessionStart, devAccounts, name }));
    },
    ...reportingOf(opened, config.report, shared.slices, warn),
    openApi: () => openApiText(config, prefix),
  };
}

/** The settlement chain of an exchange. Its node is loaded with the first request, because loading it would delay the start. */
class LazyChain implements Chain {
  readonly #host: Host;
  #node: Promise<ChainNode> | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  async answer(request: Buffer, isTrusted: boolean): Promise<string> {
    return (await this.#load()).answer(request, isTrusted);
  }

  async connect(sink: NotificationSink): Promise<ChainClient> {
    return (await this.#load()).connect(sink);
  }

  /** Deletes the node's filters, snapshots and impersonations; subscriptions stay. */
  reset(): void {
    void this.#node?.then((node) => node.forget());
  }

  #load(): Promise<ChainNode> {
    this.#node ??= import("./chain-rpc/chain-node.ts").then(({ createNode }) => createNode(this.#host));
    return this.#node;
  }
}

const optionsOf = (config: Config, origin: Origin, prefix: string): ServiceOptions => ({
  version: VERSION,
  prefix,
  personalSign: config.personalSign,
  unknownFields: config.unknownFields,
  simToken: config.simToken,
  allowHosts: [...config.allowHost, config.host.toLowerCase()],
  beyondLoopback: !isLoopback(config.host),
  requestTimeoutMs: config.requestTimeout,
  devAccounts: devAccounts(origin),
});

async function openApiText({ numbers, unknownFields }: Config, prefix: string): Promise<string> {
  const { openApiDocument } = await import("./api/openapi.ts");
  return JSON.stringify(
    openApiDocument({ version: VERSION, serverUrl: prefix || "/", numbers, unknownFields }),
  );
}

const devAccountsOf = new WeakMap<Origin, readonly DevWallet[]>();

/** Returns the dev accounts of an origin. Their keys are derived once. */
function devAccounts(origin: Origin): readonly DevWallet[] {
  const known = devAccountsOf.get(origin);
  if (known !== undefined) return known;
  const accounts = origin.devAccounts.map((address, index) => ({
    address: checksummed(address),
    privateKey: devPrivateKey(origin.config.seed, index),
  }));
  devAccountsOf.set(origin, accounts);
  return accounts;
}

/** Returns the YES token of the first open market. */
const sampleToken = (ranked: readonly Market[]): string | null =>
  (ranked.find(({ status }) => status === "ACTIVE") ?? ranked[0])?.tokenIds[0] ?? null;

/** Returns the host for URLs of a bound address. */
const urlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
};

/** Bug reports of an exchange. `folder` is the directory for those of defects; null writes none. */
function reportingOf(
  opened: OpenedExchange,
  folder: string | null,
  slices: Slices,
  warn: Warn,
): Pick<Service, "report" | "reportDefect"> {
  const { exchange, persistence, folder: dataFolder } = opened;
  /** Must be called after the journal is flushed. */
  const contentOf = (reason: string): ReportContent => ({
    ...{ history: historyOf(opened), engine: VERSION, reason },
    ...{ now: exchange.now, hash: exchange.hash, defect: null },
  });
  const write = (into: string, error: unknown, reason: string): void => {
    const defect = defectOf(exchange, error);
    const content = { ...contentOf(`${reason}: ${defect.message}`), defect };
    const path = saveReport(into, "defect", (name) => reportBytes(content, name));
    warn(`a report of this defect is in ${path}, try clobsim replay ${path}`);
  };
  return {
    report: async (reason) => {
      for (;;) {
        const flushed = persistence.flush(persistence.position);
        if (flushed === undefined) break;
        await flushed;
      }
      try {
        const content = contentOf(reason);
        await slices.run(verifyHistory(content.history));
        return reportInPieces(content);
      } catch (error) {
        const copying = dataFolder === null ? null : `clobsim report ${dataFolder.path} writes`;
        if (error instanceof ReportTooLong) {
          const reset = "POST /sim/reset begins a new session, which can be reported";
          const hint = copying === null ? reset : `${copying} it to a file`;
          throw new ApiError("SESSION_TOO_LONG", error.message, { hint });
        }
        if (!(error instanceof StoreError)) throw error;
        const hint = `${copying} a report of the lines before the damage`;
        throw new ApiError("UNAVAILABLE", error.message, { hint, status: 503 });
      }
    },
    reportDefect: (error, reason) => {
      if (folder === null) return;
      const fail = (failure: unknown): void =>
        warn(`no report could be written to ${folder}: ${(failure as Error).message}`);
      try {
        const flushed = persistence.flush(persistence.position);
        if (flushed === undefined) write(folder, error, reason);
        else flushed.then(() => write(folder, error, reason)).catch(fail);
      } catch (failure) {
        fail(failure);
      }
    },
  };
}
