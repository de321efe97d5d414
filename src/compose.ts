import { ApiError } from "./api/errors.ts";
import { isLoopback } from "./api/loopback.ts";
import { MarketRanking, SearchIndex } from "./api/market-search.ts";
import { BookTexts } from "./api/order-book.ts";
import { checksummed, numbersAs } from "./api/view.ts";
import { Bots } from "./bots/bots.ts";
import type { ChainNode } from "./chain-rpc/chain-node.ts";
import { openTransport, REPLY_TIMEOUT_MS, type Transport } from "./client/transport.ts";
import type { Config } from "./config.ts";
import { shellPath } from "./core/format.ts";
import type { Address } from "./core/terms.ts";
import { type Clock, type ClockSetting, Slices, Snapshots } from "./engine/clock.ts";
import type { PersistenceStatus } from "./engine/data-folder.ts";
import { DataFileError } from "./engine/journal.ts";
import { Keyring } from "./engine/keyring.ts";
import {
  asDataFileError,
  type OpenedExchange,
  openAtOrigin,
  openConfigured,
  settingOf,
  type Warn,
} from "./engine/open-exchange.ts";
import {
  devKeysOf,
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
import { Faults } from "./server/faults.ts";
import { HttpServer, requireFree, type Site } from "./server/http-server.ts";
import { Outbox } from "./server/messages.ts";
import { logBelow, requestLog } from "./server/request-log.ts";
import type { BugReports, DevWallet, Service, ServiceOptions, SharedService } from "./server/service.ts";
import { ExchangeSite, InspectorPage, Pool } from "./server/site.ts";
import { Stream } from "./server/stream.ts";
import { ConfigError } from "./setting.ts";
import type { World } from "./simulation/world.ts";
import { VERSION } from "./version.ts";

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
  readonly persisted: PersistenceStatus | null;
  /** Keeps this process alive until the server is closed. */
  ref(): void;
  /** Allows this process to end while the server runs. */
  unref(): void;
}

/**
 * Opens an exchange and serves it over HTTP.
 * @throws ConfigError if the world cannot be opened, if a path is not what an option expects, or if the address cannot
 * be used, with the first error as its cause; DataFileError or ReplayDiffers if the data directory cannot be opened.
 */
export const startServer = (config: Config, warn: Warn = () => {}): Promise<RunningServer> =>
  openServer(config, warn).catch((error: unknown) => {
    throw startFailure(error, config);
  });

/** Converts an error about a path or the address to a ConfigError; returns any other error unchanged. */
function startFailure(error: unknown, { host, port }: Config): unknown {
  const failure = (message: string): ConfigError => new ConfigError(message, { cause: error });
  if (error instanceof DataFileError && error.problem === "usage") return failure(error.message);
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (syscall !== "listen" && syscall !== "getaddrinfo") return error;
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
  const continued = config.from === null ? null : await continueHistory(config, config.from, warn);
  const from = continued?.from ?? null;
  if (config.pool !== null) {
    const origin = continued?.origin ?? (await loadOrigin(config, Date.now()));
    return servePool(continued?.config ?? config, config.pool, origin, from, warn);
  }
  const opened = await openConfigured(continued?.config ?? config, warn, undefined, continued?.origin);
  try {
    return (await serve(config, opened, warn, from)).server;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A running server with its parts. */
export type ServedExchange = Awaited<ReturnType<typeof serve>>;

/** Serves an exchange that is in memory only. @throws as `startServer` */
export async function serveInMemory(config: Config): Promise<ServedExchange> {
  try {
    return await serve(config, openAtOrigin(config, await loadOrigin(config, Date.now())));
  } catch (error) {
    throw startFailure(error, config);
  }
}

/** Opens an exchange without a port. @throws as `startServer` */
export async function openLocal(config: Config): Promise<LocalExchange> {
  const opened = await openConfigured(config, () => {});
  return localAt(new ExchangeSite(serviceOf(config, opened)), opened).local;
}

/** Reads the origin and the clock at the end of a history, or at a line of it. */
async function continueHistory(config: Config, name: string, warn: Warn) {
  const [{ resumePointIn }, { nodeDisk }] = await Promise.all([
    import("./history/journal-replay.ts"),
    import("./engine/disk.ts"),
  ]);
  const { origin, line, clock, cutWarning } = resumePointIn(nodeDisk, name, config.at ?? {});
  if (cutWarning !== null) warn(cutWarning);
  requireSameConfig(config, origin, name, "leave it out");
  const own = config.given.has("clock") ? config.clock : clock;
  return { origin, from: { name, line }, config: { ...config, clock: own, start: origin.start } };
}

/** Serves an exchange of a given world, with the world's seed, in memory only. */
export function serveWorld(config: Config, world: World): Promise<ServedExchange> {
  const start = config.start ?? openingTime(config, Date.now());
  const origin = originOfWorld(world, exchangeConfigOf(config, world.seed), start);
  return serve(config, openAtOrigin(config, origin));
}

async function serve(
  config: Config,
  opened: OpenedExchange,
  warn?: Warn,
  from: RunningServer["from"] = null,
) {
  const service = serviceOf(config, opened, warn);
  const { http, local } = localAt(new ExchangeSite(service), opened);
  const server = await listen(config, http, { ...local, pool: null, from, persisted: opened.folder });
  return { server, http, service, opened };
}

/** Serves a pool of exchanges with a common origin, which is loaded once. */
async function servePool(
  config: Config,
  size: number,
  origin: Origin,
  from: RunningServer["from"],
  warn: Warn,
): Promise<RunningServer> {
  const shared = newSharedService(config);
  const page = new InspectorPage();
  const options = optionsOf(config, origin, "");
  const pool = new Pool({ ...shared, options }, size, (number) => {
    const opened = openAtOrigin(config, origin);
    return new ExchangeSite(serviceOf(config, opened, warn, shared, `/${number}`), page);
  });
  const clock = { setting: settingOf(config) };
  const { http, local } = localAt(pool, { origin, exchange: exchangeAt(origin), clock });
  return listen(config, http, { ...local, pool: size, from, persisted: null });
}

/** @throws the system's error if the address cannot be used */
async function listen(
  config: Config,
  http: HttpServer,
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

/** Serves a site to clients in this process. `opened` is its exchange, or one like those of its pool. */
function localAt(
  site: Site,
  opened: Pick<OpenedExchange, "exchange" | "origin"> & {
    readonly clock: Pick<Clock, "setting">;
    readonly close?: () => Promise<void>;
  },
): { readonly http: HttpServer; readonly local: LocalExchange } {
  const http = new HttpServer(site);
  const { send, close: disconnect } = openTransport(IN_PROCESS, REPLY_TIMEOUT_MS, () => http.connect());
  const close = async (): Promise<void> => {
    disconnect();
    await http.close();
    await opened.close?.();
  };
  const { state, sequence, now } = opened.exchange;
  const ranked = new MarketRanking().ranked(state, sequence, "volume");
  const sample = ranked.find(({ status }) => status === "ACTIVE") ?? ranked[0];
  const local = {
    seed: state.config.seed,
    startedAt: now,
    events: state.events.size,
    markets: state.markets.size,
    sampleTokenId: sample?.tokenIds[0] ?? null,
    devAccounts: devAccounts(opened.origin),
    clock: opened.clock.setting,
    transport: send,
    close,
    [Symbol.asyncDispose]: close,
  };
  return { http, local };
}

const newSharedService = (config: Config): SharedService => ({
  outbox: new Outbox(),
  slices: new Slices(),
  log: requestLog(config.logLevel),
});

/** Creates the caches of what is derived from the state of an exchange. */
export const newCaches = (): Pick<Service, "books" | "search" | "ranking"> => ({
  books: new BookTexts(),
  search: new SearchIndex(),
  ranking: new MarketRanking(),
});

/** Creates the service of an opened exchange; `prefix` is its path in a pool. */
export function serviceOf(
  config: Config,
  opened: OpenedExchange,
  warn: Warn = () => {},
  shared: SharedService = newSharedService(config),
  prefix = "",
): Service {
  const { exchange, clock, origin, session, persistence, recordRefused } = opened;
  const { seed } = origin.config;
  const { devAccounts } = origin;
  const snapshots = new Snapshots(exchange, clock);
  const faults = new Faults(seed);
  const stream = new Stream(opened);
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
    // Deletes the node's filters, snapshots and impersonations; subscriptions stay.
    void node?.then((loaded) => loaded.clear());
  };
  const keyOf = (account: Address) => devKeysOf(origin).get(account) ?? null;
  const host = { exchange, clock, version: VERSION, accounts: devAccounts, slices, keyOf, reset: reopen };
  let node: Promise<ChainNode> | null = null;
  const chain = (): Promise<ChainNode> => {
    node ??= import("./chain-rpc/chain-node.ts").then(({ createNode }) => createNode(host));
    return node;
  };
  openBots();
  opened.folder?.whenBroken(({ message, hint }) => log.failure(`${message}; ${hint}`));
  return {
    ...{ exchange, clock, persistence, session, recordRefused, reopen },
    ...{ slices, outbox, snapshots, faults, bots, stream, chain },
    options: optionsOf(config, origin, prefix),
    keyring: new Keyring(exchange, seed),
    numbers: numbersAs(config.numbers),
    ...newCaches(),
    log: prefix === "" ? log : logBelow(log, prefix),
    record: async (name) => {
      const { recordSession } = await import("./history/record/record-session.ts");
      return slices.run(recordSession({ log: session, open: opened.atSessionStart, devAccounts, name }));
    },
    ...reportingOf(opened, config.report, shared.slices, warn),
  };
}

const optionsOf = (config: Config, origin: Origin, prefix: string): ServiceOptions => ({
  prefix,
  personalSign: config.personalSign,
  unknownFields: config.unknownFields,
  simToken: config.simToken,
  allowHosts: [...config.allowHost, config.host.toLowerCase()],
  beyondLoopback: !isLoopback(config.host),
  requestTimeoutMs: config.requestTimeout,
  devAccounts: devAccounts(origin),
});

const devAccounts = (origin: Origin): readonly DevWallet[] =>
  Array.from(devKeysOf(origin), ([address, privateKey]) => ({ address: checksummed(address), privateKey }));

/** Returns the host for URLs of a bound address. */
const urlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
};

/** Bug reports of an exchange. `folder` is the directory for those of defects; null writes none. */
function reportingOf(opened: OpenedExchange, folder: string | null, slices: Slices, warn: Warn): BugReports {
  const { exchange, persistence, folder: dataFolder } = opened;
  const flush = () => persistence.flush(persistence.position);
  /** Must be called after the journal is flushed. */
  const contentOf = (reason: string): ReportContent => ({
    ...{ history: historyOf(opened), reason },
    ...{ now: exchange.now, hash: exchange.hash, defect: null },
  });
  const write = (into: string, error: unknown, reason: string): void => {
    const defect = defectOf(exchange, error);
    const content = { ...contentOf(`${reason}: ${defect.message}`), defect };
    const path = saveReport(into, "defect", (name) => reportBytes(content, name));
    warn(`a report of this defect is in ${path}, try clobsim replay ${shellPath(path)}`);
  };
  return {
    report: async (reason) => {
      for (let flushed = flush(); flushed !== undefined; flushed = flush()) await flushed;
      try {
        const content = contentOf(reason);
        await slices.run(verifyHistory(content.history));
        return reportInPieces(content);
      } catch (error) {
        const copying = dataFolder === null ? null : `clobsim report ${shellPath(dataFolder.path)} writes`;
        if (error instanceof ReportTooLong) {
          const reset = "POST /sim/reset begins a new session, which can be reported";
          const hint = copying === null ? reset : `${copying} it to a file`;
          throw new ApiError("SESSION_TOO_LONG", error.message, { hint });
        }
        const explained = dataFolder === null ? error : asDataFileError(error, dataFolder.path);
        if (!(explained instanceof DataFileError)) throw explained;
        const isDamaged = explained.problem === "corrupt";
        const hint = isDamaged
          ? `${copying} a report of the lines before the damage`
          : "ask again when it can be read";
        throw new ApiError("UNAVAILABLE", explained.message, { hint });
      }
    },
    reportDefect: (error, reason) => {
      if (folder === null) return;
      const fail = (failure: unknown): void =>
        warn(`no report could be written to ${folder}: ${(failure as Error).message}`);
      try {
        const flushed = flush();
        if (flushed === undefined) write(folder, error, reason);
        else flushed.then(() => write(folder, error, reason)).catch(fail);
      } catch (failure) {
        fail(failure);
      }
    },
  };
}
