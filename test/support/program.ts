import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleInto } from "./bundled.ts";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in a process of its own. */
export interface Served {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Ends it by a signal. */
  end(signal: "SIGTERM" | "SIGKILL" | "SIGHUP"): Promise<Ended>;
  /** Sends a message over the channel that `hasChannel` opens, and answers the next one that comes back. */
  ask(message: object): Promise<unknown>;
  /** Closes the other end of what it prints to, as `head` does when it has seen enough. */
  stopReading(stream: "stdout" | "stderr"): void;
}

/** How a process is started, where that is not as this one was. */
export interface Circumstances {
  readonly environment?: NodeJS.ProcessEnv;
  /** Of Node. */
  readonly flags?: readonly string[];
  readonly umask?: string;
  /** What nobody reads: its other end is closed before anything can be printed. */
  readonly unread?: "stdout" | "stderr";
  /** Opens a channel of messages between the two processes, for what `flags` load into it. */
  readonly hasChannel?: boolean;
}

/** The program with a folder for what it keeps. */
export class Program {
  readonly folder: string;
  readonly #entry: string;
  readonly #children = new Set<ChildProcess>();

  /** What `serve` is told besides. */
  readonly #always: readonly string[];

  private constructor(folder: string, entry: string, always: readonly string[]) {
    this.folder = folder;
    this.#entry = entry;
    this.#always = always;
  }

  /** The program, bundled from the sources that stand now. */
  static async bundled(always: readonly string[]): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), "clobsim-program-"));
    await bundleInto(join(folder, "dist"), { cli: "src/cli/main.ts" });
    return new Program(folder, join(folder, "dist", "cli.js"), always);
  }

  /** The program as it was built: `entry` is the path of its `bin/clobsim.js`. */
  static async built(entry: string, always: readonly string[]): Promise<Program> {
    return new Program(await mkdtemp(join(tmpdir(), "clobsim-program-")), entry, always);
  }

  /** A path in the program's folder. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** `clobsim serve` on a free port, once it answers. @throws Error when it ends before. */
  async serve(args: readonly string[], circumstances: Circumstances = {}): Promise<Served> {
    const child = this.#start(["serve", "--port", "0", ...this.#always, ...args], circumstances);
    const ended = endOf(child);
    const url = await Promise.race([addressOf(child), ended.then(failed)]);
    const end: Served["end"] = (signal) => {
      child.kill(signal);
      return ended;
    };
    const stopReading: Served["stopReading"] = (stream) => void child[stream]?.destroy();
    const ask: Served["ask"] = async (message) => {
      const answer = once(child, "message").then(([told]: unknown[]) => told);
      child.send(message);
      return Promise.race([answer, ended.then(failed)]);
    };
    return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, ended, end, ask, stopReading };
  }

  /** Runs a command to its end. */
  run(args: readonly string[], circumstances: Circumstances = {}): Promise<Ended> {
    return endOf(this.#start(args, circumstances));
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(args: readonly string[], circumstances: Circumstances): ChildProcess {
    const { environment, flags = [], umask, unread, hasChannel = false } = circumstances;
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CLOBSIM_"));
    const command = [process.execPath, ...flags, this.#entry, ...args];
    const words = umask === undefined ? command : ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...command];
    const child = spawn(words[0] as string, words.slice(1), {
      env: { ...Object.fromEntries(inherited), ...environment },
      stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? ["ipc" as const] : [])],
    });
    if (unread !== undefined) child[unread]?.destroy();
    this.#children.add(child);
    child.on("close", () => this.#children.delete(child));
    return child;
  }
}

function endOf(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
}

function failed({ code, stderr }: Ended): never {
  throw new Error(`ended with ${code} before it answered: ${stderr}`);
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let printed = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}
