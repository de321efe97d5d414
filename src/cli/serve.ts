import type { RunningServer } from "../compose.ts";
import { type Config, DEFAULT_DATA, readConfig } from "../config.ts";
import type { Given } from "../setting.ts";
import { bannerText, type Screen } from "./banner.ts";
import type { Command } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { listenFailure } from "./listen-failure.ts";
import { SERVE_FLAGS } from "./serve-flags.ts";
import { stopSignal } from "./stop-signal.ts";
import { whenUnread } from "./unread.ts";

/** `clobsim serve`: opens an exchange and answers until it is told to stop. */
export const serveCommand: Command = {
  name: "serve",
  summary: "Open an exchange and answer over HTTP until stopped.",
  flags: SERVE_FLAGS,
  examples: [
    ["serve", "the world of seed 1 on port 7070"],
    ["serve --port 0 --seed 7 --clock frozen", "for a test: a free port, a frozen clock"],
    ["serve --clock 60x", "an hour of the exchange in a minute"],
    ["serve --world world.json", "a world made by clobsim world, or by hand"],
    ["serve --from bug.ndjson --at 17", "an exchange as a report has it after its 17th line"],
    ["serve --data run-7 --durability power", "kept in run-7, whatever happens to the machine"],
  ],
  run: serve,
};

async function serve(given: Given): Promise<ExitCode> {
  const config = readConfig(given, DEFAULT_DATA);
  const stopped = stopSignal();
  // Whoever wanted to read that it has started may have gone; whoever trades has not.
  whenUnread(process.stdout, () => {});
  const server = await start(config);
  process.stdout.write(bannerText(server, screenOf(given.environment)));
  await stopped;
  process.stderr.write("clobsim: stopping\n");
  await server.close();
  const broken = server.keeping?.broken() ?? null;
  if (broken === null) return EXIT.ok;
  warn(`${broken.message}; what was answered before is kept`);
  return broken.reason === "disk" ? EXIT.disk : EXIT.defect;
}

const warn = (message: string): void => {
  process.stderr.write(`clobsim: ${message}\n`);
};

/** Express and all that comes with it are loaded no sooner than here. */
async function start(config: Config): Promise<RunningServer> {
  const { startServer } = await import("../compose.ts");
  try {
    return await startServer(config, warn);
  } catch (error) {
    throw listenFailure(error, config);
  }
}

function screenOf(environment: Given["environment"]): Screen {
  const { isTTY, columns } = process.stdout;
  const isPlain = (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return { isColoured: isTTY === true && !isPlain, columns: isTTY === true ? columns : undefined };
}
