import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { inCheckout } from "./programs.ts";

/** What a process of its own does: opened with a choice, it answers figures as often as it is asked. */
export type Part<Choice> = (choice: Choice) => () => number[] | Promise<number[]>;

const FLAG = "--apart";

/** A part of the benchmark in a process of its own, whose heap holds nothing but what is measured. */
export class Apart {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;

  /** @param name of one of the parts that `answerApart` was given. */
  constructor(name: string, choice: object) {
    this.#child = fork(inCheckout("dist-tools/bench.js"), [FLAG, name, JSON.stringify(choice)]);
    this.#exit = once(this.#child, "exit");
  }

  /** The part's next figures. @throws Error when it failed; it has then said why. */
  async ask(): Promise<number[]> {
    this.#child.send("next");
    const answer = await Promise.race([once(this.#child, "message"), this.#exit.then(() => null)]);
    if (answer === null) throw new Error("a part of the benchmark failed");
    return (answer as [number[]])[0];
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }
}

/** Whether this process is such a part; if so, it answers until its parent goes. */
export function answerApart(parts: Readonly<Record<string, Part<never>>>): boolean {
  const [flag, name = "", choice = ""] = process.argv.slice(2);
  if (flag !== FLAG) return false;
  const part = parts[name] as Part<unknown>;
  const answer = part(JSON.parse(choice));
  process.on("message", async () => process.send?.(await answer()));
  process.on("disconnect", () => process.exit());
  return true;
}
