import { generateWorld } from "../simulation/generate-world.ts";
import { writeWorld } from "../simulation/world.ts";
import type { Run } from "./commands.ts";
import { EXIT, UsageError } from "./exit-code.ts";
import { save } from "./output-file.ts";

/** `clobsim world`: writes the world of a seed as JSON. @throws UsageError if the markets do not fit into the events */
export const run: Run<"world"> = async ({ seed, markets, events, out }) => {
  const counts = { markets: markets ?? undefined, events: events ?? undefined };
  const world = await generateWorld({ seed, ...counts }).catch((error) => {
    const isContradiction = markets !== null && events !== null && error instanceof RangeError;
    throw isContradiction ? new UsageError(error.message) : error;
  });
  const text = writeWorld(world);
  if (out === null) process.stdout.write(text);
  else await save(out, text);
  return EXIT.ok;
};
