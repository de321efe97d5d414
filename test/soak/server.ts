import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Ended, Program, Served } from "../support/program.ts";

/** The server: the program in another process, which can be killed and started again. */
export class SoakServer {
  /** How often it was started. */
  starts = 0;
  /** The data directory. */
  readonly data: string;
  readonly #program: Program;
  readonly #probe: string;
  readonly #reports: string;
  /** Resolves to the running server, after a restart if one is pending. */
  ready: Promise<Served>;
  /** Whether it was asked to stop or killed. */
  #isEnding = false;
  /** Set if it ended by itself. */
  #ended: Ended | null = null;

  /** @param probe the path of `memory-probe.mjs`. */
  constructor(program: Program, probe: string) {
    this.#program = program;
    this.#probe = pathToFileURL(probe).href;
    this.data = program.path("data");
    this.#reports = program.path("reports");
    this.ready = this.#open();
  }

  /** @throws Error if it has ended by itself. */
  assertRunning(): void {
    if (this.#ended === null) return;
    const { code, signal, stderr } = this.#ended;
    throw new Error(
      `the server ended by itself with ${signal ?? `exit code ${code}`}: ${stderr.slice(-2_000)}`,
    );
  }

  /** Kills it (SIGKILL), and starts it again. */
  async crash(): Promise<void> {
    const killed = await this.ready;
    this.#isEnding = true;
    this.ready = killed.end("SIGKILL").then(() => this.#open());
    await this.ready;
  }

  /** Returns its memory usage after garbage collection, in bytes. */
  async memory(): Promise<NodeJS.MemoryUsage> {
    return (await (await this.ready).ask({})) as NodeJS.MemoryUsage;
  }

  /** Returns the resident memory of the process, in bytes; null if unknown on this system. */
  async residentBytes(): Promise<number | null> {
    const { pid } = await this.ready;
    const status = orNull(() => readFileSync(`/proc/${pid}/status`, "utf8"));
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? "")?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  }

  /** Returns the number of its open file descriptors; null if unknown on this system. */
  async descriptors(): Promise<number | null> {
    const { pid } = await this.ready;
    return orNull(() => readdirSync(`/proc/${pid}/fd`).length);
  }

  /** Returns the minimum of the next 200 ms, in which closed connections end. */
  async quietDescriptors(): Promise<number | null> {
    let min = await this.descriptors();
    for (let sample = 0; min !== null && sample < QUIET_SAMPLES; sample += 1) {
      await delay(QUIET_MS);
      min = Math.min(min, (await this.descriptors()) ?? min);
    }
    return min;
  }

  /** Stops it (SIGTERM). */
  async stop(): Promise<Ended> {
    this.#isEnding = true;
    return (await this.ready).end("SIGTERM");
  }

  /** Runs a command on its data directory. */
  check(tool: "replay" | "doctor"): Promise<Ended> {
    return this.#program.run([tool, this.data]);
  }

  /** Returns the names of its bug reports: one for each defect. */
  defects(): readonly string[] {
    return orNull(() => readdirSync(this.#reports)) ?? [];
  }

  async #open(): Promise<Served> {
    this.starts += 1;
    this.#isEnding = false;
    const served = await this.#program.serve(
      ["--data", this.data, "--report", this.#reports, "--clock", "real", "--log-level", "error"],
      { flags: ["--expose-gc", "--import", this.#probe], hasChannel: true },
    );
    void served.ended.then((ended) => {
      if (!this.#isEnding) this.#ended = ended;
    });
    return served;
  }
}

/** Returns what a function reads; null if it cannot be read. */
function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}

const QUIET_SAMPLES = 10;
const QUIET_MS = 20;
