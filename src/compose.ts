import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { type Config, ConfigError, FROZEN_START, isLoopback, VERSION } from "./config.ts";
import { toIso } from "./core/time.ts";
import { type Millis, millis } from "./core/units.ts";
import { requestLog } from "./http/request-log.ts";
import { createHttpServer } from "./http/server.ts";
import type { DevAccount, Service } from "./http/service.ts";
import { Clock } from "./runtime/clock.ts";
import { Exchange } from "./runtime/exchange.ts";
import { Keyring } from "./runtime/keyring.ts";
import { checksummed } from "./wire/address.ts";
import { numbersAs } from "./wire/decimals.ts";
import { HmacKeys } from "./wire/hmac.ts";
import { MarketRanking } from "./wire/market-ranking.ts";
import { BookPages } from "./wire/replies/book-reply.ts";
import { SearchIndex } from "./wire/search-index.ts";
import { devPrivateKey } from "./world/dev-accounts.ts";
import { openingCommands } from "./world/opening-commands.ts";
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
  const world = await loadWorld(config);
  const service = openService(config, world);
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
  const exchange = new Exchange(
    { seed: world.seed, faucet: config.faucet, credentials: config.credentials },
    start,
  );
  openWorld(exchange, world, start);
  const followsWall = config.start === null && config.clock.mode !== "frozen";
  const setting = { mode: config.clock.mode, rate: config.clock.mode === "scaled" ? config.clock.rate : 1 };
  const clock = new Clock(exchange, setting, wallNow, followsWall);
  const numbers = numbersAs(config.numbers);
  return {
    options: {
      version: VERSION,
      credentials: config.credentials,
      personalSign: config.personalSign,
      simToken: config.simToken,
      allowHosts: [...config.allowHosts, config.host.toLowerCase()],
      beyondLoopback: !isLoopback(config.host),
      requestTimeoutMs: config.requestTimeoutMs,
      devAccounts: devAccounts(world),
    },
    exchange,
    clock,
    keyring: new Keyring(exchange, world.seed),
    hmacKeys: new HmacKeys(),
    numbers,
    books: new BookPages(),
    search: new SearchIndex(),
    ranking: new MarketRanking(),
    log: requestLog(config.logLevel),
    reopen: () => {
      exchange.restart(start);
      openWorld(exchange, world, start);
      clock.open();
    },
    openApi: async () => {
      const { openApiDocument } = await import("./wire/openapi.ts");
      return JSON.stringify(openApiDocument({ version: VERSION, serverUrl: "/", numbers: config.numbers }));
    },
  };
}

const openingTime = (config: Config, wall: number): Millis =>
  config.clock.mode === "frozen" ? FROZEN_START : millis(Math.floor(wall / SECOND_MS) * SECOND_MS);

/** Plays the world's opening history, so that the exchange stands at its start. */
function openWorld(exchange: Exchange, world: World, start: Millis): void {
  let isFirst = true;
  for (const { at, command } of openingCommands(world, start)) {
    if (at < 0)
      throw new ConfigError(
        `the start ${toIso(start)} leaves no room for the world's history before it: start later`,
      );
    if (isFirst) exchange.restart(at);
    isFirst = false;
    exchange.advanceTo(at);
    const decision = exchange.submit(command);
    if (decision.ok) continue;
    throw new ConfigError(
      `the world's history is refused: ${decision.refusal.code} of ${JSON.stringify(command)}`,
    );
  }
  exchange.advanceTo(start);
}

const DEFAULT_SEED = "1";

/** The world that the configuration names: a file's, the one that was built in, or one made now. */
async function loadWorld(config: Config): Promise<World> {
  if (config.worldFile !== null) {
    const world = await readWorldFile(config.worldFile);
    if (config.seedGiven && config.seed !== world.seed) {
      throw new ConfigError(
        `${config.worldFile} was made with seed ${world.seed}, --seed asks for ${config.seed}: leave --seed out, or make a world with clobsim world --seed ${config.seed}`,
      );
    }
    return world;
  }
  if (config.seed === DEFAULT_SEED && config.markets === null) {
    const builtIn = await readBuiltIn();
    if (builtIn !== null) return builtIn;
  }
  const { generateWorld } = await import("./world/generate-world.ts");
  const markets = config.markets === null ? {} : { markets: config.markets };
  return generateWorld({ seed: config.seed, ...markets });
}

async function readWorldFile(file: string): Promise<World> {
  const { readWorld } = await import("./world/world-file.ts");
  try {
    return readWorld(await readFile(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`--world ${file}: ${unreadable(error)}`);
  }
}

function unreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  return code === "EISDIR" ? "expected a file, found a directory" : message;
}

/** The default world as the build has left it beside the bundle; null where there is no build. */
async function readBuiltIn(): Promise<World | null> {
  try {
    return JSON.parse(await readFile(new URL("./default-world.json", import.meta.url), "utf8")) as World;
  } catch {
    return null;
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
      service.log.flush();
      resolve();
    });
    server.closeIdleConnections();
  });
}
