// Entry point of a thread that runs seeds. An uncaught error ends the thread.
import { parentPort, workerData } from "node:worker_threads";
import { unreachable } from "../../core/terms.ts";
import type { SeedRunner } from "../seeds.ts";
import type { Task, TaskResults, ThreadMessage } from "./campaign.ts";
import type { CampaignSettings } from "./results.ts";

const settings = workerData as CampaignSettings;
const post = (message: ThreadMessage): void => parentPort?.postMessage(message);

async function execute(runner: SeedRunner, task: Task): Promise<TaskResults[Task["kind"]]> {
  switch (task.kind) {
    case "run":
      return runner.run(task.seed, settings.commands);
    case "write":
      return runner.write(task.result, settings.commands, task.folder, task.name);
    case "findCanary":
      return (await import("../in-process.ts")).findsCanary();
    default:
      throw unreachable(task);
  }
}

async function start(): Promise<void> {
  const runner =
    settings.via === "http"
      ? (await import("../http/session.ts")).httpRunner()
      : (await import("../in-process.ts")).inProcess;
  parentPort?.on("message", async (task: Task) => post({ result: await execute(runner, task) }));
  post("ready");
}

start();
