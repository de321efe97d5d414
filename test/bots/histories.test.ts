import fc from "fast-check";
import { expect, it } from "vitest";
import { BOT_PROFILES, type ProfileName } from "../../src/bots/profiles.ts";
import { violations } from "../../src/core/invariants/invariants.ts";
import { millis } from "../../src/core/units.ts";
import type { Snapshot } from "../../src/engine/exchange.ts";
import { Generator, profileOf } from "../../src/fuzz/generator.ts";
import { emptyWorld } from "../../src/simulation/opening.ts";
import { runs } from "../support/runs.ts";
import { MINUTE_MS, openExchange } from "./open.ts";

const STEPS = 150;

/** Plays a history of the fuzzer (orders, faults, reorganizations, ended markets, snapshots), with or without bots. */
function play(seed: number, profile: ProfileName | null) {
  const terms = profileOf(seed);
  const opened = openExchange({ world: emptyWorld(terms.config.seed), config: terms.config });
  const { exchange } = opened;
  const generator = new Generator(seed, terms);
  for (const command of generator.opening()) exchange.submit(command);
  if (profile !== null) opened.bots.start(profile);
  let snapshot: Snapshot | null = null;
  for (let step = 0; step < STEPS; step += 1) {
    const next = generator.next(exchange.state, exchange.now);
    if (next.kind === "command") exchange.submit(next.command);
    else if (next.kind === "wait") exchange.advanceTo(millis(next.to + MINUTE_MS));
    else if (next.kind === "snapshot") snapshot = exchange.snapshot();
    else if (next.kind === "restore" && snapshot !== null) exchange.restore(snapshot);
  }
  return opened;
}

it("bots break no invariant and are deterministic in any history of clients and the chain", () => {
  const orders = { without: 0, with: 0 };
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.constantFrom(...BOT_PROFILES), (seed, profile) => {
      const { exchange, entries } = play(seed, profile);
      expect(violations(exchange.state)).toEqual([]);
      expect(play(seed, profile).exchange.hash).toBe(exchange.hash);
      const replayed = openExchange({
        world: emptyWorld(profileOf(seed).config.seed),
        config: profileOf(seed).config,
      });
      for (const entry of entries) replayed.exchange.replay(entry);
      expect(replayed.exchange.hash).toBe(exchange.hash);
      orders.with += exchange.state.orders.size;
      orders.without += play(seed, null).exchange.state.orders.size;
    }),
    runs(60),
  );
  expect(orders.with).toBeGreaterThan(orders.without);
});
