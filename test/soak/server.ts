import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Ended, Program, Served } from "../support/program.ts";

/** What `process.memoryUsage()` tells, in bytes. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

/** The server under soak: the program in a process of its own, which can be killed and opened again. */
export class SoakServer {
  /** How often it was opened. */
  lives = 0;
  /** The directory that keeps its state. */
  readonly data: string;
  readonly #program: Program;
  readonly #probe: string;
  readonly #reports: string;
  #opened: Promise<Served>;
  /** Whether it was told to end. */
  #isEnding = false;
  /** How it ended by itself. */
  #ended: Ended | null = null;

  /** @param probe the path of `memory-probe.mjs`. */
  constructor(program: Program, probe: string) {
    this.#program = program;
    this.#probe = pathToFileURL(probe).href;
    this.data = program.path("data");
    this.#reports = program.path("reports");
    this.#opened = this.#open();
  }

  /** The server as soon as it answers: at once, or once it was opened again. */
  get ready(): Promise<Served> {
    return this.#opened;
  }

  /** @throws Error when it has ended by itself. */
  assertRunning(): void {
    if (this.#ended === null) return;
    const { code, signal, stderr } = this.#ended;
    throw new Error(
      `the server ended by itself with ${signal ?? `exit code ${code}`}: ${stderr.slice(-2_000)}`,
    );
  }

  /** Kills it without warning, and opens it again. */
  async crash(): Promise<void> {
    const { promise, resolve, reject } = withResolvers<Served>();
    const killed = await this.#opened;
    this.#opened = promise;
    this.#isEnding = true;
    await killed.end("SIGKILL");
    this.#open().then(resolve, reject);
    await promise;
  }

  /** What memory it uses after a collection of garbage. */
  async memory(): Promise<Memory> {
    return (await (await this.#opened).ask({})) as Memory;
  }

  /** The memory that it uses now, in bytes, or null where the system does not tell. */
  async residentBytes(): Promise<number | null> {
    const { pid } = await this.#opened;
    try {
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      return kilobytes === undefined ? null : Number(kilobytes) * 1024;
    } catch {
      return null;
    }
  }

  /** How many file descriptors it has open, or null where the system does not tell. */
  async descriptors(): Promise<number | null> {
    const { pid } = await this.#opened;
    try {
      return readdirSync(`/proc/${pid}/fd`).length;
    } catch {
      return null;
    }
  }

  /** The fewest of the next moments, in which connections that were hung up close. */
  async quietDescriptors(): Promise<number | null> {
    let fewest = await this.descriptors();
    for (let look = 0; fewest !== null && look < QUIET_LOOKS; look += 1) {
      await delay(QUIET_MS);
      fewest = Math.min(fewest, (await this.descriptors()) ?? fewest);
    }
    return fewest;
  }

  /** Stops it in good order. */
  async stop(): Promise<Ended> {
    this.#isEnding = true;
    return (await this.#opened).end("SIGTERM");
  }

  /** Runs one of the program's tools on the directory. */
  examine(tool: "replay" | "doctor"): Promise<Ended> {
    return this.#program.run([tool, this.data]);
  }

  /** The names of the bug reports that it has written: one for each defect. */
  defects(): readonly string[] {
    try {
      return readdirSync(this.#reports);
    } catch {
      return [];
    }
  }

  async #open(): Promise<Served> {
    this.lives += 1;
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

const QUIET_LOOKS = 10;
const QUIET_MS = 20;

/** A promise that is settled from outside: `Promise.withResolvers` of later versions of Node. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((succeed, fail) => {
    resolve = succeed;
    reject = fail;
  });
  return { promise, resolve, reject };
}
