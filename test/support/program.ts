import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { buildProgram, bundleProgramInto } from "./bundled.ts";

/** Exit and output of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process. */
export interface Launched {
  readonly ended: Promise<Ended>;
  /** Resolves to stdout when a predicate holds for it. @throws Error if the process ends first. */
  printed(isEnough: (stdout: string) => boolean): Promise<string>;
  /** Resolves when stdout has a text. @throws Error if the process ends first. */
  prints(text: string): Promise<string>;
  end(signal: NodeJS.Signals): Promise<Ended>;
  /** Closes the reading end of a stream, as `head` does. */
  stopReading(stream: "stdout" | "stderr"): void;
}

/** A server in another process. */
export interface Served extends Pick<Launched, "ended" | "end" | "stopReading"> {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Sends a message over the channel of `hasChannel`, and returns the next message. */
  ask(message: object): Promise<unknown>;
}

/** Options of a process that differ from this one. */
interface ProcessOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** A stream whose reading end is closed before the process can print. */
  readonly unread?: "stdout" | "stderr";
  /** Whether to open a message channel, for modules that `flags` load. */
  readonly hasChannel?: boolean;
}

/** The program with a temporary working directory. */
export class Program {
  readonly folder: string;
  /** Path of the script that Node runs. */
  readonly entry: string;
  readonly #children = new Set<ChildProcess>();

  /** Additional arguments of every `serve`. */
  readonly #serveArgs: readonly string[];

  private constructor(folder: string, entry: string, serveArgs: readonly string[]) {
    this.folder = folder;
    this.entry = entry;
    this.#serveArgs = serveArgs;
  }

  /** Returns the program of the current sources, which is built if it is not yet. */
  static async built(serveArgs: readonly string[] = []): Promise<Program> {
    return Program.at(await buildProgram(), serveArgs);
  }

  /** Returns a program. `entry` is the path of its `bin/clobsim.js`. */
  static async at(entry: string, serveArgs: readonly string[] = []): Promise<Program> {
    return new Program(await mkdtemp(join(tmpdir(), "clobsim-program-")), entry, serveArgs);
  }

  /** Bundles the program from sources of which some have other texts, by path. */
  static async bundled(replaced: ReadonlyMap<string, string>): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), "clobsim-program-"));
    await bundleProgramInto(join(folder, "dist"), replaced);
    return new Program(folder, join(folder, "dist", "cli.js"), []);
  }

  /** Returns a path in the working directory. */
  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** Returns the texts of the files in a folder, by name. */
  files(folder: string): Readonly<Record<string, string>> {
    const names = readdirSync(this.path(folder)).sort();
    return Object.fromEntries(names.map((name) => [name, this.read(join(folder, name))]));
  }

  /** Starts `clobsim serve` on a free port. Resolves when it answers. @throws Error if it ends first. */
  async serve(args: readonly string[], options: ProcessOptions = {}): Promise<Served> {
    const child = this.#start(["serve", "--port", "0", ...this.#serveArgs, ...args], options);
    const { ended, end, printed, stopReading } = observe(child);
    const address = /http:\/\/127\.0\.0\.1:\d+/;
    const url = address.exec(await printed((stdout) => address.test(stdout)))?.[0] as string;
    const ask: Served["ask"] = async (message) => {
      const answer = once(child, "message").then(([reply]: unknown[]) => reply);
      child.send(message);
      return Promise.race([answer, ended.then(failed)]);
    };
    return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, ended, end, ask, stopReading };
  }

  /** Runs a command to its end. */
  run(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
    return observe(this.#start(args, options)).ended;
  }

  launch(args: readonly string[], options: ProcessOptions = {}): Launched {
    return observe(this.#start(args, options));
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(args: readonly string[], options: ProcessOptions): ChildProcess {
    const { environment, flags = [], unread, hasChannel = false } = options;
    // Node would read the certificates at every start, which takes a third of a short command.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:CLOBSIM_|GITHUB_|FORCE_COLOR$|NODE_EXTRA_CA_CERTS$)/.test(name),
    );
    const child = spawn(process.execPath, [...flags, this.entry, ...args], {
      cwd: this.folder,
      env: { ...Object.fromEntries(inherited), ...environment },
      stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? ["ipc" as const] : [])],
    });
    if (unread !== undefined) child[unread]?.destroy();
    this.#children.add(child);
    child.on("close", () => this.#children.delete(child));
    return child;
  }
}

/** Returns the built program for the tests of a file. */
export async function useProgram(serveArgs: readonly string[] = []): Promise<Program> {
  const program = await Program.built(serveArgs);
  afterAll(() => program.dispose());
  return program;
}

function observe(child: ChildProcess): Launched {
  const output = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => {
      output[stream] += bytes.toString();
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, ...output })),
  );
  const end = (signal: NodeJS.Signals): Promise<Ended> => {
    child.kill(signal);
    return ended;
  };
  const printed = (isEnough: (stdout: string) => boolean): Promise<string> => {
    const matched = new Promise<string>((resolve) => {
      const listener = (): void => {
        if (!isEnough(output.stdout)) return;
        listeners.delete(listener);
        resolve(output.stdout);
      };
      listeners.add(listener);
      listener();
    });
    return Promise.race([matched, ended.then(failed)]);
  };
  const stopReading: Launched["stopReading"] = (stream) => void child[stream]?.destroy();
  return { ended, end, printed, stopReading, prints: (text) => printed((stdout) => stdout.includes(text)) };
}

function failed({ code, stdout, stderr }: Ended): never {
  throw new Error(`ended with ${code} too early: ${stdout}${stderr}`);
}
