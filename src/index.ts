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
import type { RunningServer } from "./compose.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { ConfigError, flagOf, type OptionKinds, readText, type Settings } from "./setting.ts";
import type { StartOptions } from "./start-options.ts";

export { CONTRACT_ABIS } from "./api/contract-abis.ts";
export { ExchangeClient } from "./client/client.ts";
// Prices, sizes and money are numbers; a server that was started with `--numbers string` sends their decimal text instead,
// which these types do not show.
export type * from "./client/control-messages.ts";
export type * from "./client/messages.ts";
export type { ClientOptions } from "./client/options.ts";
export { collect, pages } from "./client/pages.ts";
export type { ExchangeError } from "./client/result.ts";
export { ExchangeFailure, orThrow, type Result } from "./client/result.ts";
export type * from "./client/service-messages.ts";
export type { WalletAccount } from "./client/wallet.ts";
export { walletOf } from "./client/wallet.ts";
export type { RunningServer } from "./compose.ts";
export { ConfigError } from "./setting.ts";
export type { StartOptions } from "./start-options.ts";

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
  // Who only asks another server loads none.
  const { startServer } = await import("./compose.ts");
  return startServer(readConfig({ flags, environment: {} }));
}
