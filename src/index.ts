/// <reference types="node" preserve="true" />

import { nearest } from "./api/nearest.ts";
import {
  faultOfOptions,
  NUMBER,
  type OptionType,
  SECRET,
  TEXT,
  TEXT_OR_NUMBER,
  TEXTS,
  TRUTH,
} from "./api/option-types.ts";
import { type RunningServer, startServer } from "./compose.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { ConfigError, readText, type Setting } from "./setting.ts";

export { CONTRACT_ABIS } from "./api/contract-abis.ts";
export { ExchangeClient } from "./client/client.ts";
export type * from "./client/messages.ts";
export type { ClientOptions } from "./client/options.ts";
export { collect, pages } from "./client/pages.ts";
export type { ExchangeError } from "./client/result.ts";
export { ExchangeFailure, orThrow, type Result } from "./client/result.ts";
export type { WalletAccount } from "./client/wallet.ts";
export { walletOf } from "./client/wallet.ts";
export type { RunningServer } from "./compose.ts";
export { ConfigError } from "./setting.ts";

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
  /** Path of a report or of a data directory: the exchange goes on from there. */
  readonly from?: string;
  /** With `from`: after this line, or at this moment in ISO-8601; else at the end. */
  readonly at?: number | string;
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
  /** Keeps nothing, as without `data`. */
  readonly ephemeral?: boolean;
  /** Default `process`: what is answered survives the end of the process; `power`: of the machine. */
  readonly durability?: "process" | "power" | "memory";
  /** Removes first what the directory holds. */
  readonly reset?: boolean;
  /** The directory for a report of each defect. */
  readonly report?: string;
}

const DEFAULTS: StartOptions = { port: 0, logLevel: "silent" };

/** What each option is in JavaScript; what it may say is a setting's affair. */
const OPTION_TYPES: Readonly<Record<keyof StartOptions, OptionType>> = {
  host: TEXT,
  port: NUMBER,
  seed: TEXT_OR_NUMBER,
  clock: TEXT,
  start: TEXT,
  world: TEXT,
  from: TEXT,
  at: TEXT_OR_NUMBER,
  markets: NUMBER,
  numbers: TEXT,
  credentials: TEXT,
  logLevel: TEXT,
  simToken: SECRET,
  allowHost: TEXTS,
  requestTimeout: TEXT,
  faucet: NUMBER,
  personalSign: TRUTH,
  unknownFields: TEXT,
  settlement: TEXT,
  balances: TEXT,
  data: TEXT,
  ephemeral: TRUTH,
  durability: TEXT,
  reset: TRUTH,
  report: TEXT,
};

const flagOf = (option: string): string => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const optionOf = (flag: string): string =>
  flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Starts an exchange in this process; several can live side by side.
 * @throws ConfigError naming an option that is not what it should be, what was expected and what was found.
 */
export async function startExchange(options: StartOptions = {}): Promise<RunningServer> {
  const fault = faultOfOptions(options, OPTION_TYPES);
  if (fault !== undefined) throw new ConfigError(fault);
  const flags: Record<string, readonly string[]> = {};
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of Object.entries({ ...DEFAULTS, ...Object.fromEntries(given) })) {
    const flag = flagOf(name);
    if (!Object.hasOwn(OPTION_TYPES, name)) {
      const like = nearest(flag, Object.keys(SETTINGS));
      throw new ConfigError(
        `unknown option ${name}${like === undefined ? "" : `, did you mean ${optionOf(like)}?`}`,
      );
    }
    const texts = Array.isArray(value) ? value.map(String) : [String(value)];
    const setting: Setting<unknown> = SETTINGS[flag as keyof typeof SETTINGS];
    for (const text of texts) readText(name, text, setting);
    flags[flag] = texts;
  }
  return startServer(readConfig({ flags, environment: {} }));
}
