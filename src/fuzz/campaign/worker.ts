// Runs seeds in a thread of its own; what is thrown here ends the thread.
import { parentPort, workerData } from "node:worker_threads";
import { unreachable } from "../../core/unreachable.ts";
import type { SeedRunner } from "../outcome.ts";
import type { CampaignSettings } from "./results.ts";
import type { Answer, Task, TaskResults, ThreadData } from "./seed-thread.ts";

const { settings } = workerData as ThreadData;
const say = (answer: Answer): void => parentPort?.postMessage(answer);

async function runnerOf({ via }: CampaignSettings): Promise<SeedRunner> {
  switch (via) {
    case "process":
      return (await import("../in-process.ts")).inProcess;
    case "http":
      return (await import("../http/session.ts")).overHttp;
    default:
      throw unreachable(via);
  }
}

async function resultOf(runner: SeedRunner, task: Task): Promise<TaskResults[Task["kind"]]> {
  switch (task.kind) {
    case "run":
      return runner.run(task.seed, settings);
    case "write":
      return runner.write(task.outcome, settings, task.folder, task.name);
    case "findCanary":
      return (await import("../canary.ts")).findsCanary();
    default:
      throw unreachable(task);
  }
}

async function begin(): Promise<void> {
  const runner = await runnerOf(settings);
  parentPort?.on("message", async (task: Task) => say({ result: await resultOf(runner, task) }));
  say("ready");
}

begin();
