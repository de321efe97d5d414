import { Bots } from "../../src/bots/bots.ts";
import type { BotProfileName } from "../../src/bots/profiles.ts";
import { type ExchangeConfig, findAccount, NO_FAUCET } from "../../src/core/state.ts";
import { type Millis, millis } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { SessionLog } from "../../src/engine/journal.ts";
import { openWorld } from "../../src/simulation/opening.ts";
import { readWorldFile, type World } from "../../src/simulation/world.ts";
import { addressOf } from "../support/commands.ts";
import { AUTO } from "../support/config.ts";
import { START, TestExchange } from "../support/exchange.ts";
import { TINY_WORLD } from "../support/http.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

const tiny = readWorldFile(TINY_WORLD);

/** Milliseconds after the start of every test, as a time. */
export const elapsed = (ms: number): Millis => millis(START + ms);

interface Opening {
  readonly world: World;
  readonly config: Partial<ExchangeConfig>;
}

/** Opens an exchange with a world, by default of three markets; `log` has the commands after that. */
export function openExchange({ world = tiny, config = {} }: Partial<Opening> = {}) {
  const log = new SessionLog();
  const terms = { seed: world.seed, faucet: NO_FAUCET, credentials: "rotate", ...AUTO, ...config } as const;
  const exchange = new Exchange(terms, START, log);
  openWorld(exchange, world, START);
  log.begin();
  return { exchange, log, bots: new Bots(exchange) };
}

/** Opens the same exchange with the bots of a profile. */
export function openWithBots(profile: BotProfileName, options: Partial<Opening> = {}) {
  const opened = openExchange(options);
  opened.bots.start(profile);
  return opened;
}

/** Places an order in the first market; its account gets 1,000 USDC and 1,000 shares of each outcome first. */
export function trade(exchange: Exchange, sentence: string): void {
  const test = new TestExchange(exchange);
  const [name = ""] = sentence.split(" ");
  if (findAccount(exchange.state, addressOf(name)) === undefined)
    test.fund(name, { usdc: 1_000, yes: 1_000, no: 1_000 });
  test.try(sentence);
}
