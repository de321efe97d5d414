import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/local-server.ts";
import type { Rounds } from "./rounds.ts";

/** Path of a file of the checkout; the tools are bundles in its `dist-tools`. */
export const inCheckout = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The built program. */
export const CLOBSIM = inCheckout("bin/clobsim.js");

/** Server in a separate process. */
export interface Served {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const OK = "HTTP/1.1 200 ";
const RETRY_MS = 1;

type ArgsFor = (port: number) => readonly string[];

/** Returns the milliseconds from the start of a Node server to its first 200. @throws Error as `serveProgram` */
export async function millisecondsToFirstAnswer(argsFor: ArgsFor, path = "/clob/time"): Promise<number> {
  const { milliseconds, stop } = await serveProgram(argsFor, path);
  await stop();
  return milliseconds;
}

/**
 * Starts a Node server on a port and waits until it answers a path with 200, requested every millisecond.
 * @throws Error if it ends or answers anything else
 */
async function serveProgram(
  argsFor: ArgsFor,
  path: string,
): Promise<Served & { readonly milliseconds: number }> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, argsFor(port), { stdio: "ignore" });
  const served = servedBy(child, port);
  for (;;) {
    const answer = await answerOf(port, path);
    const milliseconds = performance.now() - start;
    if (answer.startsWith(OK)) return { ...served, milliseconds };
    const end = answer !== "" ? `answered ${answer}` : child.exitCode !== null ? "ended" : null;
    if (end !== null) {
      await served.stop();
      throw new Error(`${argsFor(port).join(" ")} ${end}`);
    }
    await delay(RETRY_MS);
  }
}

/** Returns the begin of an answer; "" if nothing listens yet. */
function answerOf(port: number, path: string): Promise<string> {
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("error", () => resolve(""));
    socket.once("data", (bytes: Buffer) => {
      resolve(bytes.toString("latin1"));
      socket.destroy();
    });
  });
}

/** Returns the milliseconds of running a Node program. @throws Error if it fails. */
export async function millisecondsToEnd(args: readonly string[]): Promise<number> {
  const start = performance.now();
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  const milliseconds = performance.now() - start;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  return milliseconds;
}

function servedBy(child: ChildProcess, port: number): Served {
  const closed = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  return { pid: child.pid as number, port, stop };
}

/** Measurement that runs in a separate process: opened with options, it returns figures per request. */
export type ProcessTask<Choice> = (choice: Choice) => () => number[] | Promise<number[]>;

const FLAG = "--task";

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

/** A measurement in a separate process. */
export class Task {
  readonly #child: ChildProcess;
  readonly #exit: Promise<null>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, "exit").then(() => null);
  }

  /** Returns the next figures. @throws Error if the process failed; it has printed why. */
  async ask(): Promise<number[]> {
    this.#child.send("next");
    const answer = await Promise.race([once(this.#child, "message"), this.#exit]);
    if (answer === null) throw new Error("a task in a separate process failed");
    return (answer as [number[]])[0];
  }

  /** Returns the figures of some rounds, each figure as a list, and ends the process. */
  async columns({ rounds, warmUps }: Rounds): Promise<number[][]> {
    const kept: number[][] = [];
    for (let round = -warmUps; round < rounds; round += 1) {
      const figures = await this.ask();
      if (round >= 0) kept.push(figures);
    }
    this.#child.kill("SIGKILL");
    await this.#exit;
    return kept[0]?.map((_, index) => kept.map((figures) => figures[index] as number)) ?? [];
  }
}

/** Processes and folders of a section, which end with it. */
export class Programs {
  readonly #ends: (() => unknown)[] = [];

  /** Starts the built program with a frozen clock, so that signatures stay valid; its log is read and dropped. */
  async clobsim(...flags: readonly string[]): Promise<Served> {
    const kept = flags.includes("--data") ? [] : ["--ephemeral"];
    const args = [CLOBSIM, "serve", "--port", "0", "--clock", "frozen", ...kept, ...flags];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port === undefined) continue;
      child.stdout.resume();
      return this.#started(servedBy(child, Number(port)));
    }
    throw new Error(`${args.slice(1).join(" ")} ended before it answered`);
  }

  /** Starts a Node server. @throws Error as `serveProgram` */
  async serve(argsFor: ArgsFor, path: string): Promise<Served> {
    return this.#started(await serveProgram(argsFor, path));
  }

  /** Starts a bare node:http server, which sends these responses. */
  async bare(answers: object): Promise<Served> {
    const child = fork(inCheckout("test/bench/bare-server.mjs"));
    child.send(answers);
    const [port] = await once(child, "message");
    return this.#started(servedBy(child, port as number));
  }

  /** Runs a task given to `serveTasks` in a separate process, whose heap contains only what is measured. */
  task(name: string, choice: object): Task {
    const child = fork(inCheckout("dist-tools/bench.js"), [FLAG, name, JSON.stringify(choice)]);
    this.#started(servedBy(child, 0));
    return new Task(child);
  }

  /** Creates a folder on the disk of the checkout. */
  folder(): string {
    const cache = inCheckout("node_modules/.cache/clobsim");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "bench-"));
    this.#ends.push(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  #started(served: Served): Served {
    this.#ends.push(served.stop);
    return served;
  }

  /** Ends what was started last first, so that a folder is removed after its processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
