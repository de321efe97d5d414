import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundleInto, bundleProgramInto } from "../../support/bundled.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under way, and what it has printed so far. */
export interface Launched {
  readonly ended: Promise<Ended>;
  /** Resolves when stdout holds the text so often. @throws Error when the process ends before. */
  prints(text: string, times: number): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

/** The program, bundled from the sources that stand now, and a folder of scenarios in which it is started. */
export class Launcher {
  readonly folder = mkdtempSync(join(tmpdir(), "clobsim-cli-run-"));
  readonly #children = new Set<ChildProcess>();
  readonly #program = mkdtempSync(join(tmpdir(), "clobsim-cli-program-"));

  static async bundled(): Promise<Launcher> {
    const launcher = new Launcher();
    await bundleInto(launcher.#program, { cli: "src/cli/main.ts" });
    return launcher;
  }

  /** The same with what the program runs in threads, and other texts for some of the sources, by their paths. */
  static async bundledWith(replaced: ReadonlyMap<string, string>): Promise<Launcher> {
    const launcher = new Launcher();
    await bundleProgramInto(launcher.#program, replaced);
    return launcher;
  }

  /** The program's file. */
  get program(): string {
    return join(this.#program, "cli.js");
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Starts `clobsim run` in the folder. */
  launch(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Launched {
    return this.start([process.execPath, this.program, "run", ...args], environment);
  }

  /** Starts a command line in the folder. */
  start(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Launched {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(?:CLOBSIM_|GITHUB_|FORCE_COLOR$)/.test(name),
    );
    const child = spawn(words[0] as string, words.slice(1), {
      cwd: this.folder,
      env: { ...Object.fromEntries(own), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.add(child);
    child.on("close", () => this.#children.delete(child));
    return watched(child);
  }

  /** Runs `clobsim run` in the folder to its end. */
  run(...args: readonly string[]): Promise<Ended> {
    return this.launch(args).ended;
  }

  /** Ends what still runs, and removes the folders. */
  dispose(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const folder of [this.folder, this.#program]) rmSync(folder, { recursive: true });
  }
}

function watched(child: ChildProcess): Launched {
  const printed = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => {
      printed[stream] += bytes.toString();
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, ...printed })));
  return {
    ended,
    signal: (signal) => void child.kill(signal),
    prints: (text, times) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (printed.stdout.split(text).length > times) {
            waiting.delete(look);
            resolve();
          }
        };
        waiting.add(look);
        void ended.then(({ stdout, stderr }) =>
          reject(new Error(`ended without ${JSON.stringify(text)}: ${stdout}${stderr}`)),
        );
        look();
      }),
  };
}
