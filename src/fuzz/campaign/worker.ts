// Entry point of a thread that runs seeds. An uncaught error ends the thread.
import { parentPort, workerData } from "node:worker_threads";
import type { Task, ThreadMessage, ThreadRunner } from "./campaign.ts";
import type { CampaignSettings } from "./results.ts";

const { via } = workerData as CampaignSettings;
const post = (message: ThreadMessage): void => parentPort?.postMessage(message);

async function start(): Promise<void> {
  const runner: ThreadRunner = {
    ...(via === "http"
      ? (await import("../http/session.ts")).httpRunner()
      : (await import("../in-process.ts")).inProcess),
    findsCanary: async () => (await import("../in-process.ts")).findsCanary(),
  };
  parentPort?.on("message", async ({ method, args }: Task) => {
    const run = runner[method] as (...args: readonly unknown[]) => unknown;
    post({ result: await run(...args) });
  });
  post("ready");
}

start();
