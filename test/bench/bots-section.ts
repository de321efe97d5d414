import { setTimeout as sleep } from "node:timers/promises";
import { Bots } from "../../src/bots/bots.ts";
import { BOT_PROFILES, type BotProfileName, KINDS, PROFILES } from "../../src/bots/profiles.ts";
import { FROZEN_START, millis, money, size } from "../../src/core/units.ts";
import { Clock } from "../../src/engine/clock.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import { openWorld } from "../../src/simulation/opening.ts";
import type { World } from "../../src/simulation/world.ts";
import { AUTO } from "../support/config.ts";
import { alone, elapsed, lineOf, measured, type Section } from "./rounds.ts";

const HOUR_MS = 3_600_000;
const MARKETS = { jump: 10, realTime: 50 };
/** Duration of the measurement in real time, after an hour of trading. */
const WATCHED_MS = 10_000;

const FAUCET = { collateral: money(0), everyMarket: size(0) };

/** Opens a world with bots. */
function openMarket(world: World, profile: BotProfileName): Exchange {
  const terms = { seed: world.seed, faucet: FAUCET, credentials: "rotate", ...AUTO } as const;
  const exchange = new Exchange(terms, FROZEN_START);
  openWorld(exchange, world, FROZEN_START);
  new Bots(exchange).start(profile);
  return exchange;
}

/** Milliseconds for a day of virtual time. */
function jump(world: World, profile: BotProfileName): Promise<number> {
  const exchange = openMarket(world, profile);
  return elapsed(() => exchange.advanceTo(millis(exchange.now + 24 * HOUR_MS)));
}

/** Milliseconds of CPU time per second of real time. */
async function inRealTime(world: World, profile: BotProfileName): Promise<number> {
  const exchange = openMarket(world, profile);
  exchange.advanceTo(millis(exchange.now + HOUR_MS));
  const clock = new Clock(exchange, { mode: "real", rate: 1 }, Date.now);
  clock.arm();
  const before = process.cpuUsage();
  await sleep(WATCHED_MS);
  const { user, system } = process.cpuUsage(before);
  clock.stop();
  return (user + system) / WATCHED_MS;
}

const crewOf = (profile: BotProfileName): number =>
  KINDS.reduce((sum, kind) => sum + PROFILES[profile][kind].count, 0);

/** Cost of bots when time is advanced and in real time. */
export const botsSection: Section = {
  name: "bots",
  about: "a market that moves: a day of it at once, and a second of it at real time",
  unit: "ms",
  baseline: null,
  async measure(rounds) {
    const few = await generateWorld({ seed: "bots", markets: MARKETS.jump });
    const many = await generateWorld({ seed: "bots", markets: MARKETS.realTime });
    const lines = (workload: string, measure: typeof jump, world: World) =>
      BOT_PROFILES.map((profile) =>
        lineOf(workload, `${profile}, ${crewOf(profile)} bots`, () => measure(world, profile)),
      );
    const days = lines(`a day of ${MARKETS.jump} markets, the clock jumps`, jump, few);
    const seconds = lines(`processor time of a second of ${MARKETS.realTime} markets`, inRealTime, many);
    return {
      measurements: [
        ...(await measured(days, { rounds, warmUps: 1 }, alone)),
        ...(await measured(seconds, { rounds, warmUps: 0 }, alone)),
      ],
      notes: [
        "Every bot trades in every market. 10 ms of processor time in a second are 1 % of one core.",
        "Without a server and a journal on disk.",
      ],
    };
  },
};
