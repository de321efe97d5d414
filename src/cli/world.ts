import { DEFAULT_CONFIG, SETTINGS } from "../config.ts";
import { type Given, readOne, wholeNumber } from "../setting.ts";
import type { World } from "../simulation/world.ts";
import { MAX_MARKETS } from "../simulation/world.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { OUT, save } from "./output.ts";

const EVENTS = wholeNumber(1, MAX_MARKETS);

/** `clobsim world`: writes the world of a seed as JSON. */
export const worldCommand: Command = {
  name: "world",
  summary: "Generate the world of a seed as JSON: the same seed, the same bytes.",
  flags: [
    { name: "seed", group: "World:", text: "Decides everything in it", otherwise: "1" },
    { name: "markets", group: "World:", text: "How many markets", otherwise: "as many as the events hold" },
    { name: "events", group: "World:", text: "How many events, of 1 to 8 markets each", otherwise: "12" },
    { name: "out", group: "Output:", text: "File to write", otherwise: "stdout" },
  ],
  examples: [
    ["world --seed 7 --out world.json", "a world to edit and keep; serve --world opens it"],
    ["world --markets 5000 --out large.json", "a large one"],
  ],
  run: writeGenerated,
};

async function writeGenerated(given: Given): Promise<ExitCode> {
  const seed = readOne("seed", SETTINGS.seed, given) ?? DEFAULT_CONFIG.seed;
  const markets = readOne("markets", SETTINGS.markets, given) ?? undefined;
  const events = readOne("events", EVENTS, given) ?? undefined;
  const out = readOne("out", OUT, given);
  const world = await generate(seed, markets, events);
  const { writeWorld } = await import("../simulation/world-file.ts");
  const text = writeWorld(world);
  if (out === null) process.stdout.write(text);
  else await save(out, text);
  return EXIT.ok;
}

/** @throws UsageError when so many markets cannot share so many events. */
async function generate(
  seed: string,
  markets: number | undefined,
  events: number | undefined,
): Promise<World> {
  const { generateWorld } = await import("../simulation/generate-world.ts");
  try {
    return await generateWorld({ seed, markets, events });
  } catch (error) {
    const isContradiction = markets !== undefined && events !== undefined && error instanceof RangeError;
    throw isContradiction ? new UsageError(error.message) : error;
  }
}
