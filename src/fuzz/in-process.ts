import { writeFailure } from "./failure-files.ts";
import { profileText } from "./generator.ts";
import { History } from "./history.ts";
import type { SeedRunner } from "./outcome.ts";

/** Runs the history of a seed in this process, against the reference exchange. */
export const inProcess: SeedRunner = {
  async run(seed, { commands }) {
    const history = await History.open(seed);
    const failure = await history.run(commands);
    return {
      seed,
      profile: profileText(history.profile),
      commands: failure === null ? commands : failure.command,
      failure,
    };
  },
  write: (outcome, settings, folder, name) => writeFailure(outcome.seed, settings.commands, folder, name),
};
