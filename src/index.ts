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
import {
  ConfigError,
  flagOf,
  type OptionKinds,
  readText,
  type Setting,
  type Settings,
  type ValueOf,
} from "./setting.ts";

export { CONTRACT_ABIS } from "./api/contract-abis.ts";
/** What any operation of the API answers, by its name in the OpenAPI document: `ReplyTo<"getClock">`. */
export type { ReplyTo } from "./api/endpoints.ts";
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

/** A setting's words where it has some, else the JavaScript type that it takes. */
type OptionOf<S extends Setting<unknown>> = S extends {
  readonly option: infer Kind extends keyof OptionKinds;
}
  ? OptionKinds[Kind]
  : NonNullable<ValueOf<S>> extends string
    ? NonNullable<ValueOf<S>>
    : string;

type Options = { readonly [Name in keyof typeof SETTINGS]?: OptionOf<(typeof SETTINGS)[Name]> };

/**
 * The settings of `clobsim serve`, as docs/reference/configuration.md explains them. Other defaults than there: `port` 0,
 * a free one; `logLevel` silent; nothing is kept on disk unless `data` names a directory.
 */
export interface StartOptions extends Omit<Options, "clock"> {
  /** `real`, `frozen`, or a rate such as `60x`. */
  readonly clock?: "real" | "frozen" | `${number}x`;
}

const DEFAULTS: StartOptions = { port: 0, logLevel: "silent" };

const OPTION_TYPES: Readonly<Record<keyof OptionKinds, OptionType>> = {
  number: NUMBER,
  truth: TRUTH,
  textOrNumber: TEXT_OR_NUMBER,
  texts: TEXTS,
};

const settings: Settings = SETTINGS;

/**
 * Starts an exchange in this process; several can live side by side.
 * @throws ConfigError naming an option that is not what it should be, what was expected and what was found.
 */
export async function startExchange(options: StartOptions = {}): Promise<RunningServer> {
  const types = Object.entries(settings).map(([name, { option, secret }]) => [
    name,
    secret === true ? SECRET : option === undefined ? TEXT : OPTION_TYPES[option],
  ]);
  const fault = faultOfOptions(options, Object.fromEntries(types));
  if (fault !== undefined) throw new ConfigError(fault);
  const flags: Record<string, readonly string[]> = {};
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of Object.entries({ ...DEFAULTS, ...Object.fromEntries(given) })) {
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined;
    if (setting === undefined) {
      const like = nearest(name, Object.keys(settings));
      throw new ConfigError(`unknown option ${name}${like === undefined ? "" : `, did you mean ${like}?`}`);
    }
    const texts = Array.isArray(value) ? value.map(String) : [String(value)];
    for (const text of texts) readText(name, text, setting);
    flags[flagOf(name)] = texts;
  }
  return startServer(readConfig({ flags, environment: {} }));
}
