import { confirmationsOf } from "../core/chain/chain.ts";
import type { Command } from "../core/commands.ts";
import { tokenIdIn as tokenIdOf } from "../core/market.ts";
import type { Decision } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { type Millis, millis } from "../core/units.ts";
import { openingCommands, type TokenIdIn } from "./opening-commands.ts";
import type { World } from "./world.ts";

/** An exchange on which a world's history can be played. */
export interface Stage {
  readonly state: State;
  restart(start: Millis): void;
  open(text: string, play: () => void): void;
  advanceTo(target: Millis): void;
  submit(command: Command): Decision;
}

/** A world that cannot be opened; the message is a sentence for the person who asked for it. */
export class WorldOpeningError extends Error {
  override readonly name = "WorldOpeningError";
}

/** Plays the world's opening history, so that the exchange stands at `start`. @throws WorldOpeningError */
export function openWorld(stage: Stage, world: World, start: Millis): void {
  const text = JSON.stringify({ config: stage.state.config, start, world });
  stage.open(text, () => playWorld(stage, world, start));
}

function playWorld(stage: Stage, world: World, start: Millis): void {
  let isFirst = true;
  const tokenIdIn: TokenIdIn = (market, outcome) => tokenIdOf(stage.state.markets.get(market), outcome);
  for (const { at, command } of openingCommands(world, start, tokenIdIn)) {
    if (at < 0) {
      throw new WorldOpeningError(
        `the start ${toIso(start)} leaves no room for the world's history before it: start later`,
      );
    }
    if (isFirst) stage.restart(millis(at));
    isFirst = false;
    stage.advanceTo(at);
    const decision = stage.submit(command);
    if (decision.ok) continue;
    throw new WorldOpeningError(
      `the world's history is refused: ${decision.refusal.code} of ${JSON.stringify(command)}`,
    );
  }
  stage.advanceTo(start);
  settleHistory(stage);
}

/** What a world has traded is final when somebody comes: what is made to go wrong from then on befalls none of it. */
function settleHistory(stage: Stage): void {
  const { chain, config } = stage.state;
  if (chain.pending === 0 && chain.nextBlockAt === null) return;
  stage.submit({ kind: "mineBlocks", count: 1 + confirmationsOf(config.settlement) });
}

/** A world that holds nothing. */
export const emptyWorld = (seed: string): World => ({
  format: "clobsim-world/1",
  seed,
  devAccounts: [],
  traders: [],
  events: [],
  flow: [],
});
