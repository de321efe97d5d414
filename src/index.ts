import { type RunningServer, startServer } from "./compose.ts";
import { readConfig } from "./config.ts";

export type { RunningServer } from "./compose.ts";
export { ConfigError } from "./config.ts";

/** The flags of `clobsim serve`, by the same names in camelCase. */
export interface StartOptions {
  readonly host?: string;
  /** Default 0: a free port. */
  readonly port?: number;
  readonly seed?: string | number;
  /** `real`, `frozen`, or a rate such as `60x`. */
  readonly clock?: "real" | "frozen" | `${number}x`;
  /** ISO-8601 with a zone. */
  readonly start?: string;
  /** Path of a world file. */
  readonly world?: string;
  readonly markets?: number;
  readonly numbers?: "number" | "string";
  readonly credentials?: "rotate" | "once";
  /** Default `silent`. */
  readonly logLevel?: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";
  readonly simToken?: string;
  readonly allowHost?: string | readonly string[];
  /** A duration such as `10s`. */
  readonly requestTimeout?: string;
  /** USDC, and shares of both outcomes of every market, for each new wallet. */
  readonly faucet?: number;
  readonly personalSign?: boolean;
}

const DEFAULTS: StartOptions = { port: 0, logLevel: "silent" };

/**
 * Starts an exchange in this process; several can live side by side.
 * @throws ConfigError when an option is not what it should be.
 */
export function startExchange(options: StartOptions = {}): Promise<RunningServer> {
  const flags: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries({ ...DEFAULTS, ...options })) {
    if (value === undefined) continue;
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    flags[flag] = Array.isArray(value) ? value.map(String) : [String(value)];
  }
  return startServer(readConfig({ flags, environment: {} }));
}
