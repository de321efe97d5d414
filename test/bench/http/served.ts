import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { inCheckout } from "../checkout.ts";
import type { Answer } from "./call.ts";

/** A server in a process of its own. */
export interface Served {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** What the bare server is to answer. */
export interface BareAnswers {
  /** The HMAC key of the orders. */
  readonly secret: string;
  readonly page: Answer;
  readonly orders: Readonly<Record<"BUY" | "SELL", Answer>>;
}

/** The program as it is shipped, its clock frozen so that signatures stay valid, its log going nowhere. */
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

/** node:http with nothing on it. */
export async function serveBare(answers: BareAnswers): Promise<Served> {
  const child = fork(inCheckout("test/bench/http/bare-server.mjs"));
  const stop = stopper(child);
  child.send(answers);
  const [port] = await once(child, "message");
  return { pid: child.pid as number, port: port as number, stop };
}

/** Ends a child, which must not outlive this process either. */
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
