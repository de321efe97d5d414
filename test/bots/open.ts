import { Bots } from "../../src/bots/bots.ts";
import type { BotProfileName } from "../../src/bots/profiles.ts";
import { type ExchangeConfig, findAccount } from "../../src/core/state.ts";
import { type Millis, millis, money, size } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import type { Accepted } from "../../src/engine/journal.ts";
import { openWorld } from "../../src/simulation/opening.ts";
import { readWorldFile, type World } from "../../src/simulation/world.ts";
import { orderCommand } from "../support/commands.ts";
import { AUTO } from "../support/config.ts";
import { START } from "../support/exchange.ts";
import { TINY_WORLD } from "../support/http.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

const tiny = readWorldFile(TINY_WORLD);

/** Milliseconds after the start of every test, as a time. */
export const elapsed = (ms: number): Millis => millis(START + ms);

/** Opens an exchange with a world, by default of three markets; `entries` are those of later commands. */
export function openExchange({
  world = tiny,
  config = {},
}: {
  readonly world?: World;
  readonly config?: Partial<ExchangeConfig>;
} = {}) {
  const entries: Accepted[] = [];
  const faucet = { collateral: money(0), everyMarket: size(0) };
  const terms = { seed: world.seed, faucet, credentials: "rotate", ...AUTO, ...config } as const;
  const exchange = new Exchange(terms, START, {
    append: (entry) => void entries.push(entry),
    mark: () => entries.length,
    rewind: (_sequence, mark) => {
      entries.length = typeof mark === "number" ? mark : 0;
    },
  });
  openWorld(exchange, world, START);
  entries.length = 0;
  return { exchange, entries, bots: new Bots(exchange) };
}

/** Opens the same exchange with the bots of a profile. */
export function openWithBots(profile: BotProfileName, options: Parameters<typeof openExchange>[0] = {}) {
  const opened = openExchange(options);
  opened.bots.start(profile);
  return opened;
}

/** Places an order in the first market; its account gets 1,000 USDC and 1,000 shares of each outcome first. */
export function trade(exchange: Exchange, sentence: string): void {
  const { tokenIds } = exchange.state.markets.get(1);
  const order = orderCommand(sentence, exchange.now, () => tokenIds[0]);
  if (findAccount(exchange.state, order.address) === undefined) {
    const tokens = tokenIds.map((tokenId) => ({ tokenId, size: size(100_000) }));
    const funds = { collateral: money(1_000_000_000), tokens, everyMarket: size(0) };
    exchange.submit({ kind: "fundAccount", address: order.address, ...funds });
  }
  exchange.submit(order);
}
