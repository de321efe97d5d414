import fc from "fast-check";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { toIso } from "../../../src/core/time.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { openWorld } from "../../../src/simulation/opening.ts";
import { writeWorld } from "../../../src/simulation/world.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { FAUCET_OF_10_000, START } from "../../support/exchange.ts";
import { anySteeredMove, chainCommandOf } from "../chain/chain-moves.ts";
import { openArena } from "../properties/moves.ts";

/*
 * A separate program: the world of seed 7, its opening, and a thousand random moves of one seed. It prints every event
 * and the whole state, so that two runs can be compared byte by byte.
 */

const NAMES = ["İnci", "Ångström", "Straße", "ılgın"];

const lines: string[] = [];
const world = await generateWorld({ seed: "7", markets: 12 });
lines.push(...writeWorld(world).split("\n"));

const terms = { ...FAUCET_OF_10_000, credentials: "rotate", ...UNSETTLED } as const;
const exchange = new Exchange({ seed: world.seed, ...terms }, START);
exchange.watch((sequence, at, events) => {
  for (const event of events) lines.push(`${sequence} ${toIso(at)} ${JSON.stringify(event)}`);
});
openWorld(exchange, world, START);

for (const name of NAMES) {
  exchange.submit(eventCommand(name));
  exchange.submit({ kind: "deriveCredentials", address: addressOf(name) });
}
openArena(exchange);
for (const move of fc.sample(anySteeredMove, { seed: 7, numRuns: 1000 })) {
  if (move.kind === "wait") exchange.advanceTo(millis(exchange.now + move.ms));
  const command = chainCommandOf(exchange.state, exchange.now, move);
  const decision = command && exchange.submit(command);
  if (decision?.ok === false) lines.push(JSON.stringify(decision.refusal));
}
lines.push(...canonicalLines(exchange.state), exchange.hash);
process.stdout.write(`${lines.join("\n")}\n`);
