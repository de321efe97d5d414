import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/local-server.ts";
import type { Answer } from "./http/client.ts";

/** Path of a file of the checkout; the tools are bundles in its `dist-tools`. */
export const inCheckout = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Builds the program unless it is up to date. @throws Error if the build fails; it has printed why. */
export async function buildProgram(): Promise<void> {
  const build = spawn(process.execPath, [inCheckout("bin/setup.js"), "build"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(build, "exit");
  if (code !== 0) throw new Error("the program could not be built");
}

const OK = "HTTP/1.1 200 ";
const RETRY_MS = 1;

/**
 * Returns the milliseconds from the start of a Node server to its first 200, requested every millisecond.
 * @throws Error if it ends or answers anything else.
 */
export async function millisecondsToFirstAnswer(
  argsFor: (port: number) => readonly string[],
  path = "/clob/time",
): Promise<number> {
  const { milliseconds, stop } = await serveProgram(argsFor, path);
  await stop();
  return milliseconds;
}

/** Starts a Node server on a port and waits until it answers a path with 200. */
export async function serveProgram(
  argsFor: (port: number) => readonly string[],
  path: string,
): Promise<Served & { readonly milliseconds: number }> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, argsFor(port), { stdio: "ignore" });
  const stop = stopper(child);
  for (;;) {
    const answer = await answerOf(port, path);
    const milliseconds = performance.now() - start;
    if (answer.startsWith(OK)) return { pid: child.pid as number, port, stop, milliseconds };
    const end = answer !== "" ? `answered ${answer}` : child.exitCode !== null ? "ended" : null;
    if (end !== null) {
      await stop();
      throw new Error(`${argsFor(port).join(" ")} ${end}`);
    }
    await delay(RETRY_MS);
  }
}

/** Returns the milliseconds of running a Node program. @throws Error if it fails. */
export async function millisecondsToEnd(args: readonly string[]): Promise<number> {
  const start = performance.now();
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  const milliseconds = performance.now() - start;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  return milliseconds;
}

/** Returns the status of a server; undefined if it does not listen yet. */
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

/** Runs a Node program. @throws Error if it fails. */
export async function runProgram(program: string, args: readonly string[]): Promise<void> {
  const [code] = await once(spawn(process.execPath, [program, ...args], { stdio: "inherit" }), "exit");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}

/** Creates a folder on the disk of the checkout, which is removed when this process exits. */
export function benchFolder(): string {
  const cache = inCheckout("node_modules/.cache/clobsim");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Server in a separate process. */
export interface Served {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Responses of the bare server. */
interface BareAnswers {
  /** HMAC key of the orders. */
  readonly secret: string;
  readonly page: Answer;
  readonly orders: Readonly<Record<"BUY" | "SELL", Answer>>;
}

/** Starts the built program with a frozen clock, so that signatures stay valid, and without log. */
export async function serveClobsim(...flags: readonly string[]): Promise<Served> {
  const keeping = flags.includes("--data") ? [] : ["--ephemeral"];
  const args = [
    inCheckout("bin/clobsim.js"),
    "serve",
    "--port",
    "0",
    "--clock",
    "frozen",
    ...keeping,
    ...flags,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const stop = stopper(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    return { pid: child.pid as number, port: Number(port), stop };
  }
  throw new Error(`clobsim ${args.slice(1).join(" ")} ended before it answered`);
}

/** Starts a bare node:http server. */
export async function serveBare(answers: BareAnswers): Promise<Served> {
  const child = fork(inCheckout("test/bench/http/bare-server.mjs"));
  const stop = stopper(child);
  child.send(answers);
  const [port] = await once(child, "message");
  return { pid: child.pid as number, port: port as number, stop };
}

/** Ends a child process; also called when this process exits. */
function stopper(child: ChildProcess): () => Promise<void> {
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const closed = once(child, "exit");
  return async () => {
    process.off("exit", kill);
    kill();
    await closed;
  };
}
