// Runs seeds in a thread of its own; what is thrown here ends the thread.
import { parentPort, workerData } from "node:worker_threads";
import { unreachable } from "../../core/unreachable.ts";
import type { SeedRunner } from "../outcome.ts";
import type { CampaignSettings } from "./results.ts";
import type { Answer, Task, TaskResult, ThreadData } from "./seed-thread.ts";

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

async function resultOf(runner: SeedRunner, task: Task): Promise<TaskResult> {
  switch (task.kind) {
    case "run":
      for (const seed of task.seeds) say({ kind: "outcome", outcome: await runner.run(seed, settings) });
      return { kind: "run" };
    case "write": {
      const { outcome, folder, name } = task;
      return { kind: "write", files: await runner.write(outcome, settings, folder, name) };
    }
    case "findCanary": {
      const { findsCanary } = await import("../canary.ts");
      return { kind: "findCanary", isFound: await findsCanary() };
    }
    default:
      throw unreachable(task);
  }
}

async function begin(): Promise<void> {
  const runner = await runnerOf(settings);
  parentPort?.on("message", async (task: Task) =>
    say({ kind: "done", result: await resultOf(runner, task) }),
  );
  say({ kind: "ready" });
}

begin();
