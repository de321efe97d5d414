import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TINY_WORLD } from "../support/http.ts";

/** The build's own bundler. */
const BUNDLER = new URL("../../bin/setup/bundle.js", import.meta.url).href;
type Bundle = (
  entryPoints: Readonly<Record<string, string>>,
  options: { outdir: string },
) => Promise<unknown>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in a process of its own. */
export interface Spawned {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Tells it to stop, and answers all that it has printed. */
  stop(): Promise<Ended>;
}

/** The program as users start it, bundled from the sources that stand now. */
export class Program {
  readonly #folder: string;
  readonly #children = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Bundled as the build does it, but into a folder of its own: a build of the user's is left alone. */
  static async bundled(): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), "clobsim-program-"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const { bundle } = (await import(BUNDLER)) as { readonly bundle: Bundle };
    await bundle({ cli: "src/cli/main.ts" }, { outdir: folder });
    return new Program(folder);
  }

  /** `clobsim serve` over the tiny world on a free port, ready to answer. */
  async serve(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Spawned> {
    const child = this.#start(
      ["serve", "--port", "0", "--ephemeral", "--world", TINY_WORLD, ...args],
      environment,
    );
    const ended = endOf(child);
    const url = await Promise.race([addressOf(child), ended.then(failed)]);
    return {
      url,
      port: Number(new URL(url).port),
      pid: child.pid ?? 0,
      stop: () => {
        child.kill("SIGTERM");
        return ended;
      },
    };
  }

  /** Runs a command to its end. */
  run(args: readonly string[]): Promise<Ended> {
    return endOf(this.#start(args, {}));
  }

  /** Ends what still runs, and removes the bundle. */
  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await rm(this.#folder, { recursive: true });
  }

  #start(args: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CLOBSIM_"));
    const child = spawn(process.execPath, [join(this.#folder, "cli.js"), ...args], {
      env: { ...Object.fromEntries(inherited), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
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
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
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
