/// <reference types="node" preserve="true" />
import { type RunningServer, startServer } from "./compose.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { ConfigError } from "./setting.ts";
import { nearest } from "./wire/nearest.ts";

export type { ClientOptions } from "./client/client.ts";
export { ExchangeClient } from "./client/client.ts";
export type { WalletAccount } from "./client/derive.ts";
export type { ExchangeError } from "./client/exchange-error.ts";
export { collect, type PageWindow, pages } from "./client/pages.ts";
export type * from "./client/replies.ts";
export type * from "./client/requests.ts";
export { ExchangeFailure, orThrow, type Result } from "./client/result.ts";
export { walletOf } from "./client/wallet.ts";
export type { RunningServer } from "./compose.ts";
export { ConfigError } from "./setting.ts";
export { CONTRACT_ABIS } from "./wire/contract-abis.ts";

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
  /** Default `accept`: `/api` and `/clob` ignore fields that they do not know, with a warning. `refuse`: 400. */
  readonly unknownFields?: "accept" | "refuse";
  /** Default `auto`: a block every 2 seconds of virtual time while something is pending. */
  readonly settlement?: "instant" | "auto" | "manual";
  /** Default `optimistic`: what a fill brings can be spent at once. */
  readonly balances?: "optimistic" | "settled";
  /** The directory that keeps the exchange; without it nothing is kept. */
  readonly data?: string;
  /** Default `process`: what is answered survives the end of the process; `power`: of the machine. */
  readonly durability?: "process" | "power" | "memory";
  /** Removes first what the directory holds. */
  readonly reset?: boolean;
  /** The directory for a report of each defect. */
  readonly report?: string;
}

const DEFAULTS: StartOptions = { port: 0, logLevel: "silent" };

const flagOf = (option: string): string => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const optionOf = (flag: string): string =>
  flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Starts an exchange in this process; several can live side by side.
 * @throws ConfigError when an option is not what it should be.
 */
export async function startExchange(options: StartOptions = {}): Promise<RunningServer> {
  const flags: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries({ ...DEFAULTS, ...options })) {
    if (value === undefined) continue;
    if (!Object.hasOwn(SETTINGS, flagOf(name))) {
      const like = nearest(flagOf(name), Object.keys(SETTINGS));
      throw new ConfigError(
        `unknown option ${name}${like === undefined ? "" : `, did you mean ${optionOf(like)}?`}`,
      );
    }
    flags[flagOf(name)] = Array.isArray(value) ? value.map(String) : [String(value)];
  }
  return startServer(readConfig({ flags, environment: {} }));
}
