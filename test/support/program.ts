import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundleInto, bundleProgramInto } from "./bundled.ts";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under way. */
export interface Launched {
  readonly ended: Promise<Ended>;
  /** Resolves with stdout when it is as it should be. @throws Error when the process ends before. */
  printed(isEnough: (stdout: string) => boolean): Promise<string>;
  /** Resolves when stdout holds the text. @throws Error when the process ends before. */
  prints(text: string): Promise<string>;
  /** Ends it by a signal. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

/** A server in a process of its own. */
export interface Served extends Pick<Launched, "ended" | "end"> {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
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

/** The program with a folder for what it keeps, in which it is started. */
export class Program {
  readonly folder: string;
  /** The file that Node runs. */
  readonly entry: string;
  readonly #children = new Set<ChildProcess>();

  /** What `serve` is told besides. */
  readonly #always: readonly string[];

  private constructor(folder: string, entry: string, always: readonly string[]) {
    this.folder = folder;
    this.entry = entry;
    this.#always = always;
  }

  /**
   * The program, bundled from the sources that stand now. `replaced` holds other texts for some of them, by their paths;
   * then what runs in threads is bundled too.
   */
  static async bundled(
    always: readonly string[] = [],
    replaced?: ReadonlyMap<string, string>,
  ): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), "clobsim-program-"));
    if (replaced === undefined) await bundleInto(join(folder, "dist"), { cli: "src/cli/main.ts" });
    else await bundleProgramInto(join(folder, "dist"), replaced);
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

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** The files of a folder, with their texts. */
  files(folder: string): Readonly<Record<string, string>> {
    const names = readdirSync(this.path(folder)).sort();
    return Object.fromEntries(names.map((name) => [name, this.read(join(folder, name))]));
  }

  /** `clobsim serve` on a free port, once it answers. @throws Error when it ends before. */
  async serve(args: readonly string[], circumstances: Circumstances = {}): Promise<Served> {
    const child = this.#start(["serve", "--port", "0", ...this.#always, ...args], circumstances);
    const { ended, end, printed } = watched(child);
    const address = /http:\/\/127\.0\.0\.1:\d+/;
    const url = address.exec(await printed((stdout) => address.test(stdout)))?.[0] as string;
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
    return watched(this.#start(args, circumstances)).ended;
  }

  /** Starts a command. */
  launch(args: readonly string[], circumstances: Circumstances = {}): Launched {
    return watched(this.#start(args, circumstances));
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(args: readonly string[], circumstances: Circumstances): ChildProcess {
    const { environment, flags = [], umask, unread, hasChannel = false } = circumstances;
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:CLOBSIM_|GITHUB_|FORCE_COLOR$)/.test(name),
    );
    const command = [process.execPath, ...flags, this.entry, ...args];
    const words = umask === undefined ? command : ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...command];
    const child = spawn(words[0] as string, words.slice(1), {
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

function watched(child: ChildProcess): Launched {
  const said = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => {
      said[stream] += bytes.toString();
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, ...said })),
  );
  const end = (signal: NodeJS.Signals): Promise<Ended> => {
    child.kill(signal);
    return ended;
  };
  const printed = (isEnough: (stdout: string) => boolean): Promise<string> => {
    const enough = new Promise<string>((resolve) => {
      const look = (): void => {
        if (!isEnough(said.stdout)) return;
        waiting.delete(look);
        resolve(said.stdout);
      };
      waiting.add(look);
      look();
    });
    return Promise.race([enough, ended.then(failed)]);
  };
  return { ended, end, printed, prints: (text) => printed((stdout) => stdout.includes(text)) };
}

function failed({ code, stdout, stderr }: Ended): never {
  throw new Error(`ended with ${code} too early: ${stdout}${stderr}`);
}
