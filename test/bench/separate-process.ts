import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { inCheckout } from "./programs.ts";

/** Measurement that runs in a separate process: opened with options, it returns figures per request. */
export type ProcessTask<Choice> = (choice: Choice) => () => number[] | Promise<number[]>;

const FLAG = "--task";

/** Runs a measurement in a separate process, whose heap contains only what is measured. */
export class SeparateProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;

  /** @param name of a task given to `serveTasks`. */
  constructor(name: string, choice: object) {
    this.#child = fork(inCheckout("dist-tools/bench.js"), [FLAG, name, JSON.stringify(choice)]);
    this.#exit = once(this.#child, "exit");
  }

  /** Returns the next figures. @throws Error if the process failed; it has printed why. */
  async ask(): Promise<number[]> {
    this.#child.send("next");
    const answer = await Promise.race([once(this.#child, "message"), this.#exit.then(() => null)]);
    if (answer === null) throw new Error("a task in a separate process failed");
    return (answer as [number[]])[0];
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }
}

/** Returns whether this process was started for a task; if so, it serves its parent until that exits. */
export function serveTasks(tasks: Readonly<Record<string, ProcessTask<never>>>): boolean {
  const [flag, name = "", choice = ""] = process.argv.slice(2);
  if (flag !== FLAG) return false;
  const task = tasks[name] as ProcessTask<unknown>;
  const answer = task(JSON.parse(choice));
  process.on("message", async () => process.send?.(await answer()));
  process.on("disconnect", () => process.exit());
  return true;
}
