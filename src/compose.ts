import { checksummed } from "./api/address.ts";
import { numbersAs } from "./api/decimals.ts";
import { MarketRanking, SearchIndex } from "./api/market-search.ts";
import { BookPages } from "./api/order-book.ts";
import { HmacKeys } from "./api/signing.ts";
import { Bots } from "./bots/bots.ts";
import type { ChainNode } from "./chain-rpc/chain-node.ts";
import type { Host } from "./chain-rpc/context.ts";
import { openTransport, type Transport } from "./client/transport.ts";
import { type Config, VERSION } from "./config.ts";
import type { Market } from "./core/market.ts";
import type { ClockSetting } from "./engine/clock.ts";
import type { PersistenceStatus } from "./engine/data-folder.ts";
import type { Exchange } from "./engine/exchange.ts";
import { Keyring } from "./engine/keyring.ts";
import {
  exchangeAt,
  type OpenedExchange,
  openExchange,
  openInMemory,
  settingOf,
  type Warn,
} from "./engine/open-exchange.ts";
import {
  exchangeConfigOf,
  loadOrigin,
  type Origin,
  openingTime,
  originOfWorld,
  requireSameConfig,
} from "./engine/origin.ts";
import { Slices } from "./engine/slices.ts";
import { Snapshots } from "./engine/snapshots.ts";
import { reportingOf } from "./reporting.ts";
import { Outbox } from "./server/connection.ts";
import { Faults } from "./server/faults.ts";
import { HttpService, requireFree } from "./server/http-service.ts";
import { InspectorPage } from "./server/page.ts";
import { Pool } from "./server/pool.ts";
import { logBelow, requestLog } from "./server/request-log.ts";
import { ExchangeSite } from "./server/server.ts";
import type { Chain, ChainClient, ChainSink, DevWallet, Service, ServiceOptions } from "./server/service.ts";
import { Stream } from "./server/stream.ts";
import { ConfigError, isLoopback } from "./setting.ts";
import { devPrivateKey } from "./simulation/dev-accounts.ts";
import type { World } from "./simulation/world.ts";

/** An exchange in this process. */
export interface LocalExchange {
  readonly seed: string;
  /** Virtual time at which the exchange opened, in Unix milliseconds. */
  readonly startedAt: number;
  readonly events: number;
  readonly markets: number;
  /** A token to try things with; null in a world without markets. */
  readonly sampleTokenId: string | null;
  readonly devAccounts: readonly DevWallet[];
  /** How the clock runs. */
  readonly clock: ClockSetting;
  /** Carries a client's requests to it over no network: the `transport` of an `ExchangeClient`. */
  readonly transport: Transport;
  /** Answers what is under way, then stops. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server that answers. */
export interface RunningServer extends LocalExchange {
  /** Where it answers; of a pool, the exchange of each number is at `url/number`. */
  readonly url: string;
  readonly port: number;
  /** How many exchanges there may be; null of one alone. */
  readonly pool: number | null;
  /** The history that it goes on from, and the last line of it; null of one that began otherwise. */
  readonly from: { readonly name: string; readonly line: number } | null;
  /** What keeps the exchange on disk; null of one that nothing keeps. */
  readonly keeping: PersistenceStatus | null;
  /** Lets the server keep this process alive until it is closed. */
  ref(): void;
  /** Lets this process end while the server runs. */
  unref(): void;
}

/**
 * Opens an exchange as configured and answers over HTTP.
 * @throws ConfigError when the world cannot be opened, or the address cannot be used: its cause is the system's error then;
 * StoreError or ReplayDiffers when what was kept cannot.
 */
export async function startServer(config: Config, warn: Warn = () => {}): Promise<RunningServer> {
  try {
    return await openServer(config, warn);
  } catch (error) {
    throw listenFailure(error, config);
  }
}

/** The sentence for an address that cannot be listened on; any other error as it is. */
function listenFailure(error: unknown, { host, port }: Config): unknown {
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (syscall !== "listen" && syscall !== "getaddrinfo") return error;
  const told = (message: string): ConfigError => new ConfigError(message, { cause: error });
  switch (code) {
    case "EADDRINUSE":
      return told(`port ${port} of ${host} is in use by another program: --port 0 takes any free one`);
    case "EACCES":
      return told(`port ${port} of ${host} needs rights that you lack: --port expects one above 1023`);
    case "EADDRNOTAVAIL":
    case "EAI_AGAIN":
    case "ENOTFOUND":
      return told(`--host expects an address of this machine, found ${host}`);
    default:
      return error;
  }
}

async function openServer(config: Config, warn: Warn): Promise<RunningServer> {
  // Nothing is kept for a server that will not listen.
  if (config.data !== null && config.port !== 0) await requireFree(config);
  const begun = config.from === null ? null : await beginningOf(config, config.from);
  const from = begun?.from ?? null;
  if (config.pool !== null) {
    const origin = begun?.origin ?? (await loadOrigin(config, Date.now()));
    return servePool(begun?.config ?? config, config.pool, origin, from, warn);
  }
  const opened = await openExchange(begun?.config ?? config, warn, undefined, begun?.origin);
  try {
    return await serve(config, opened, serviceOf(config, opened, warn), from);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A running server with what is behind it. */
export interface ServedExchange {
  readonly server: RunningServer;
  readonly service: Service;
  readonly opened: OpenedExchange;
}

/** Serves an exchange that nothing keeps. @throws as `startServer` */
export async function serveInMemory(config: Config): Promise<ServedExchange> {
  const opened = openInMemory(config, await loadOrigin(config, Date.now()));
  const service = serviceOf(config, opened);
  return { server: await serve(config, opened, service, null), service, opened };
}

/** An exchange that listens nowhere. @throws as `startServer` */
export async function openLocal(config: Config): Promise<LocalExchange> {
  const opened = await openExchange(config, () => {});
  const site = new ExchangeSite(serviceOf(config, opened));
  const http = new HttpService(site, () => [site]);
  return localExchange(http, opened, opened.clock.setting, () => opened.close());
}

/** The exchange that a history tells of; its clock runs on from there. */
async function beginningOf(config: Config, name: string) {
  const [{ beginningIn }, { nodeDisk }] = await Promise.all([
    import("./history/journal-replay.ts"),
    import("./engine/disk.ts"),
  ]);
  const { origin, line, clock } = beginningIn(nodeDisk, name, VERSION, config.at ?? {});
  requireSameConfig(config, origin, name, "leave it out");
  const own = config.given.has("clock") ? config.clock : clock;
  return { origin, from: { name, line }, config: { ...config, clock: own, start: origin.start } };
}

/** The same with a world that is there already, whose seed counts, and kept nowhere; `watch` may watch its exchange. */
export async function serveWorld(
  config: Config,
  world: World,
  watch: (exchange: Exchange) => void = () => {},
): Promise<RunningServer> {
  const start = config.start ?? openingTime(config, Date.now());
  const opened = openInMemory(config, originOfWorld(world, exchangeConfigOf(config, world.seed), start));
  watch(opened.exchange);
  return serve(config, opened, serviceOf(config, opened), null);
}

async function serve(
  config: Config,
  opened: OpenedExchange,
  service: Service,
  from: RunningServer["from"],
): Promise<RunningServer> {
  const site = new ExchangeSite(service);
  const http = new HttpService(site, () => [site]);
  const local = localExchange(http, opened, opened.clock.setting, () => opened.close());
  return running(config, http, { ...local, pool: null, from, keeping: opened.folder });
}

/** Exchanges that all begin at one origin, which is played once for all of them. */
async function servePool(
  config: Config,
  size: number,
  origin: Origin,
  from: RunningServer["from"],
  warn: Warn,
): Promise<RunningServer> {
  const edge = newEdge(config);
  const pool = new Pool({
    ...edge,
    size,
    options: optionsOf(config, origin, ""),
    open: (number) =>
      new ExchangeSite(serviceOf(config, openInMemory(config, origin), warn, edge, `/${number}`)),
  });
  const http = new HttpService(pool, () => pool.members);
  const opened = { origin, exchange: exchangeAt(origin) };
  const local = localExchange(http, opened, settingOf(config), async () => {});
  return running(config, http, { ...local, pool: size, from, keeping: null });
}

/** @throws the system's error when the address cannot be used. */
async function running(
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

/** What clients of this process call an exchange that they reach over no network. */
const IN_PROCESS = new URL("http://localhost");
const REPLY_TIMEOUT_MS = 30_000;

/** `ended` is called once nothing more is answered. */
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
  return { ...factsOf(opened), clock, transport: send, close, [Symbol.asyncDispose]: close };
}

/** What a server tells of an exchange at its beginning. */
function factsOf({ exchange, origin }: Pick<OpenedExchange, "exchange" | "origin">) {
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

/** What the exchanges of one server share. */
type Edge = Pick<Service, "outbox" | "slices" | "log" | "page">;

const newEdge = (config: Config): Edge => ({
  outbox: new Outbox(),
  slices: new Slices(),
  log: requestLog(config.logLevel),
  page: new InspectorPage(),
});

/** One opened exchange, ready to be served, below a prefix where the server has several. */
export function serviceOf(
  config: Config,
  opened: OpenedExchange,
  warn: Warn = () => {},
  edge: Edge = newEdge(config),
  prefix = "",
): Service {
  const { exchange, clock, origin, session, persistence } = opened;
  const { seed } = origin.config;
  const { devAccounts } = origin;
  const snapshots = new Snapshots(exchange, clock);
  const faults = new Faults(seed);
  const reporting = reportingOf(opened, config.report, warn);
  const stream = new Stream(opened, VERSION);
  const { outbox, slices, page } = edge;
  const bots = new Bots(exchange);
  const openBots = (): void => {
    if (config.bots === null) return;
    bots.start(config.bots);
    clock.arm();
  };
  const reopen = (): void => {
    // A clock that follows the wall's catches up without them.
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
    log: prefix === "" ? edge.log : logBelow(edge.log, prefix),
    chain,
    stream,
    page,
    reopen,
    noteRefused: (request) => {
      opened.noteRefused(request);
      stream.refused(request);
    },
    record: async (name) => {
      const { recordSession } = await import("./history/record/record-session.ts");
      return slices.run(recordSession({ log: session, open: opened.atSessionStart, devAccounts, name }));
    },
    report: (reason) => reporting.pieces(reason),
    reportDefect: (error, reason) => reporting.defect(error, reason),
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

  async connect(sink: ChainSink): Promise<ChainClient> {
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

/** The dev accounts of an origin; their keys are worked out once. */
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

/** The YES token of the first market that is open. */
const sampleToken = (ranked: readonly Market[]): string | null =>
  (ranked.find(({ status }) => status === "ACTIVE") ?? ranked[0])?.tokenIds[0] ?? null;

/** The name under which this machine reaches a bound address. */
const urlHost = (host: string): string => {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
};
