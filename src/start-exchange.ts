import * as option from "./api/option-types.ts";
import type { LocalExchange, RunningServer } from "./compose.ts";
import { type Config, DEFAULT_CONFIG, readConfig, SETTINGS } from "./config.ts";
import { NO_FAUCET } from "./core/state.ts";
import type { StartServer } from "./scenario/venue/http-venue.ts";
import { ConfigError, flagOf, type Settings, withFlagsNamed, wordOf } from "./setting.ts";
import type { StartOptions } from "./start-options.ts";

const { text, number, truth, textOrNumber, texts } = option;
/** Types of options by the settings' names for them. */
const TYPES = { text, number, truth, textOrNumber, texts };

const settings: Settings = SETTINGS;

/**
 * Starts an exchange in this process, which may have several. The server does not keep the process alive unless `ref()` is
 * called.
 * @throws ConfigError that names an invalid option, the expected and the found value
 */
export async function startExchange(options: StartOptions = {}): Promise<RunningServer> {
  const config = configOf(givenOptions(options));
  // Loaded here, because users of the client alone need no server.
  const { startServer } = await import("./compose.ts");
  const server = await startServer(config).catch(rethrowInOptions);
  server.unref();
  return server;
}

/**
 * Opens an exchange without a port, for clients in this process: `new ExchangeClient("http://localhost", { transport })`.
 * @throws ConfigError as `startExchange`
 */
export async function openExchange(
  options: Omit<StartOptions, "host" | "port" | "pool"> = {},
): Promise<LocalExchange> {
  const config = configOf(givenOptions(options, "openExchange", ["host", "port", "pool"]));
  const { openLocal } = await import("./compose.ts");
  return openLocal(config).catch(rethrowInOptions);
}

/**
 * Returns the options that are not undefined.
 * @throws ConfigError if one is unknown, of a wrong type, or among `excluded`: those of startExchange that `what` does not have
 */
export function givenOptions(
  options: StartOptions,
  what = "startExchange",
  excluded: readonly (keyof StartOptions)[] = [],
): StartOptions {
  const types = Object.entries(settings).map(([name, { option: kind, secret }]) => [
    name,
    secret === true ? option.secret : TYPES[kind ?? "text"],
  ]);
  const problem = option.problemIn(options, Object.fromEntries(types));
  if (problem !== undefined) throw new ConfigError(problem);
  const other = excluded.find((name) => options[name] !== undefined);
  if (other !== undefined)
    throw new ConfigError(`${other} is no option of ${what}, but of startExchange and clobsim serve`);
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Converts the result of `givenOptions` to a configuration. @throws ConfigError as `startExchange` */
export function configOf(given: StartOptions): Config {
  const options = Object.entries({ port: 0, logLevel: "silent", ...given });
  const flags = options.map(([name, value]) => [flagOf(name), [value].flat().map(String)] as const);
  try {
    return readConfig({ flags: Object.fromEntries(flags), environment: {} });
  } catch (error) {
    return rethrowInOptions(error);
  }
}

const OPTIONS = new Map(Object.entries(settings).map(([name, setting]) => [wordOf(name, setting), name]));

/** Throws an error again, with option names instead of flags in its message, except in command lines. */
export function rethrowInOptions(error: unknown): never {
  if (error instanceof Error) {
    const { message } = error;
    error.message = withFlagsNamed(message, (word) => OPTIONS.get(word));
    // The stack begins with the message.
    error.stack = (error.stack ?? "").replace(message, () => error.message);
  }
  throw error;
}

/**
 * Starts the real server for one scenario: on a free port, with a frozen clock, silent, without a faucet. Express is loaded
 * only then.
 */
export const startScenarioServer: StartServer = async (world, { seed, clock, settlement, balances }) => {
  const { serveWorld } = await import("./compose.ts");
  const { server, service } = await serveWorld(
    {
      ...DEFAULT_CONFIG,
      port: 0,
      seed,
      clock: { mode: "frozen" },
      start: clock,
      logLevel: "silent",
      settlement,
      balances,
      faucet: NO_FAUCET,
    },
    world,
  );
  return { url: server.url, service, close: server.close };
};
