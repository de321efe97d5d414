import { Worker } from "node:worker_threads";
import { withoutFigures } from "../../core/format.ts";
import { isDiskFailure, isForbidden, isSystemError } from "../../regular-file.ts";
import { durationText, oneLine } from "../../scenario/report/text.ts";
import type { Shard } from "../../setting.ts";
import { VERSION } from "../../version.ts";
import {
  type Failure,
  type SeedRange,
  type SeedResult,
  type SeedRunner,
  type SeedSeries,
  seedAt,
  seriesOf,
} from "../seeds.ts";
import {
  bySeed,
  type CampaignSettings,
  type FoundFailure,
  type Results,
  type ResultsFolder,
  seedName,
} from "./results.ts";

type FailedSeed = SeedResult & { readonly failure: Failure };
const isFailed = (result: SeedResult): result is FailedSeed => result.failure !== null;

/** Counts results in the order of the seeds, although threads finish them in any order. */
class Tally {
  /** Results that wait for an earlier seed, by index of the seed. */
  readonly #waiting = new Map<number, SeedResult>();
  readonly #failures = new Map<string, FoundFailure>();
  /** Number of seeds that have ended, counted from the first up to the first gap. */
  done = 0;
  /** Number of commands of the seeds that are done. */
  commands = 0;

  get ended(): number {
    return this.done + this.#waiting.size;
  }

  /** Sorted by seed. */
  get failures(): FoundFailure[] {
    return [...this.#failures.values()].sort(bySeed);
  }

  /** Adds the result of the seed at an index, from 0. Returns the results with a new fingerprint. */
  add(index: number, result: SeedResult): FailedSeed[] {
    this.#waiting.set(index, result);
    const firsts: FailedSeed[] = [];
    for (;;) {
      const next = this.#waiting.get(this.done);
      if (next === undefined) return firsts;
      this.#waiting.delete(this.done);
      this.done += 1;
      this.commands += next.commands;
      if (isFailed(next) && this.#isFirst(next)) firsts.push(next);
    }
  }

  /** Changes fields of a known failure. */
  update(fingerprint: string, changes: Partial<FoundFailure>): void {
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) this.#failures.set(fingerprint, { ...known, ...changes });
  }

  #isFirst({ seed, profile, failure }: FailedSeed): boolean {
    const { fingerprint } = failure;
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) {
      this.update(fingerprint, { count: known.count + 1 });
      return false;
    }
    const files = { scenario: null, report: null, remark: "interrupted before its files were written" };
    this.#failures.set(fingerprint, { ...failure, ...files, seed, profile, count: 1, version: VERSION });
    return true;
  }
}

interface CampaignOptions extends ThreadOptions {
  readonly seeds: SeedRange;
  readonly shard: Shard;
  /** Number of threads, 1 or more. */
  readonly threads: number;
  /** Time after which no more seeds are started, in milliseconds. */
  readonly budgetMs: number;
  readonly folder: ResultsFolder;
}

export type CampaignProgress = Campaign["progress"];

/** Why a campaign has ended: every seed is done, its budget is used up, or `stop` was called. */
type StopReason = "done" | "budget" | "stopped";

/** Thrown when the fuzzer misses the planted defect, so that finding no failures proves nothing. */
export class CanaryNotFound extends Error {
  override readonly name = "CanaryNotFound";
}

const NOT_WRITTEN = "no scenario and no report: the run does not end by itself";

/** Runs seeds on several threads. The results are the same for any number of threads. */
export class Campaign {
  readonly #options: CampaignOptions;
  readonly #series: SeedSeries;
  readonly #tally = new Tally();
  readonly #threads = new Set<SeedThread>();
  /** Failures whose files are not written yet. */
  readonly #unwritten: FailedSeed[] = [];
  readonly #deadline: number;
  /** Number of seeds that were assigned to a thread. */
  #assigned = 0;
  #startedAt: number | null = null;
  #stopReason: StopReason = "done";

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#series = seriesOf(options.seeds, options.shard);
    this.#deadline = performance.now() + options.budgetMs;
  }

  /** Numbers of seeds, commands and distinct failures, and the milliseconds since the first seed was started. */
  get progress() {
    const { ended, commands, failures } = this.#tally;
    const ms = this.#startedAt === null ? 0 : performance.now() - this.#startedAt;
    return { done: ended, total: this.#series.length, commands, failures: failures.length, ms };
  }

  get results(): Results {
    const { seeds, shard, settings } = this.#options;
    const { done, failures } = this.#tally;
    return { settings, ran: [{ engine: VERSION, seeds, shard, done }], failures };
  }

  /** @throws CanaryNotFound; the system's error if results cannot be written. */
  async run(): Promise<StopReason> {
    const { threads, folder } = this.#options;
    try {
      await this.#assertCanary();
      this.#startedAt = performance.now();
      await Promise.all(Array.from({ length: threads }, () => this.#runThread()));
      folder.save(this.results);
      return this.#stopReason;
    } finally {
      await this.stop();
    }
  }

  /** Terminates all threads, after which `run` returns. */
  async stop(): Promise<void> {
    this.#stopReason = "stopped";
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #assertCanary(): Promise<void> {
    const thread = this.#start();
    const missed = "the fuzzer did not find the defect planted to test it";
    try {
      if (!(await thread.execute("findsCanary"))) throw new CanaryNotFound(missed);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (this.#stopReason !== "stopped") throw new CanaryNotFound(`${missed}: its run ${error.message}`);
    } finally {
      await this.#endThread(thread);
    }
  }

  /** Executes tasks in a thread until none is left. Replaces the thread when a seed ends it. */
  async #runThread(): Promise<void> {
    let thread: SeedThread | null = null;
    while (this.#stopReason !== "stopped") {
      const failed = this.#unwritten.shift();
      const index = failed === undefined ? this.#nextIndex() : null;
      if (failed === undefined && index === null) break;
      thread ??= this.#start();
      try {
        if (failed !== undefined) await this.#writeFiles(thread, failed);
        else if (index !== null) await this.#runSeed(thread, index);
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error;
        await this.#endThread(thread);
        thread = null;
      }
    }
    if (thread !== null) await this.#endThread(thread);
  }

  /** Returns the index of the next seed; null if no seed is left or the budget is used up. */
  #nextIndex(): number | null {
    const isLeft = this.#assigned < this.#series.length;
    if (isLeft && performance.now() >= this.#deadline) this.#stopReason = "budget";
    if (!isLeft || this.#stopReason === "budget") return null;
    this.#assigned += 1;
    return this.#assigned - 1;
  }

  /** @throws ThreadEnded if the thread cannot be used again. */
  async #runSeed(thread: SeedThread, index: number): Promise<void> {
    const seed = seedAt(this.#series, index);
    try {
      this.#add(index, await thread.execute("run", seed, this.#options.settings.commands));
    } catch (error) {
      if (error instanceof ThreadEnded && this.#stopReason !== "stopped")
        this.#add(index, { seed, profile: "", commands: 0, failure: error.failure });
      throw error;
    }
  }

  #add(index: number, result: SeedResult): void {
    const firsts = this.#tally.add(index, result);
    for (const first of firsts) {
      const { command, fingerprint } = first.failure;
      if (command > 0) this.#unwritten.push(first);
      else this.#tally.update(fingerprint, { remark: NOT_WRITTEN });
    }
    if (firsts.length > 0) this.#options.folder.save(this.results);
  }

  /** @throws ThreadEnded if the thread cannot be used again. */
  async #writeFiles(thread: SeedThread, result: FailedSeed): Promise<void> {
    const { folder, settings } = this.#options;
    const name = seedName(result.seed, settings);
    const { fingerprint } = result.failure;
    try {
      const files = await folder.addFiles((draft) =>
        thread.execute("write", result, settings.commands, draft, name),
      );
      this.#tally.update(fingerprint, files);
    } catch (error) {
      if (error instanceof ThreadEnded && this.#stopReason !== "stopped")
        this.#tally.update(fingerprint, { remark: `no files: writing them ${error.message}` });
      throw error;
    } finally {
      folder.save(this.results);
    }
  }

  #start(): SeedThread {
    const thread = startThread(this.#options);
    this.#threads.add(thread);
    return thread;
  }

  async #endThread(thread: SeedThread): Promise<void> {
    this.#threads.delete(thread);
    await thread.end();
  }
}

/** What a thread can do. */
export interface ThreadRunner extends SeedRunner {
  findsCanary(): Promise<boolean>;
}

/** A call of a thread's runner, which executes one at a time. */
export interface Task {
  readonly method: keyof ThreadRunner;
  readonly args: readonly unknown[];
}

/** A message from a thread: first that it is ready, then the result of each task. */
export type ThreadMessage = "ready" | { readonly result: unknown };

/** Heap limit of a thread in MiB. It is the same on every machine because exceeding it is a failure of the seed. */
const MAX_HEAP_MIB = 512;
/** Histories are short-lived objects: a young generation of 64 MiB cuts the time of garbage collection to a third. */
const YOUNG_GENERATION_MIB = 64;
const MAX_TEXT = 200;

/** Thrown when a thread ends before its task is done, with the failure of the seed that it ran. */
class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.sentence);
    this.failure = failure;
  }
}

interface ThreadOptions {
  /** Entry point of the thread. */
  readonly program: URL;
  readonly settings: CampaignSettings;
  /** Time limit of one task, in milliseconds. */
  readonly seedTimeoutMs: number;
}

type SeedThread = ReturnType<typeof startThread>;

/** Starts a thread that runs seeds, one task at a time. */
function startThread({ program, settings, seedTimeoutMs }: ThreadOptions) {
  const worker = new Worker(program, {
    workerData: settings,
    resourceLimits: {
      maxOldGenerationSizeMb: MAX_HEAP_MIB,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
    },
  });
  const nextMessage = (): Promise<ThreadMessage> => new Promise((resolve) => worker.once("message", resolve));
  const ready = nextMessage();
  /** Why this process ends the thread; null if it does not. */
  let endReason: Failure | null = null;
  // "error" may arrive before earlier messages of the thread, "exit" arrives after all of them.
  let crash: Error | null = null;
  worker.on("error", (error: unknown) => {
    crash = isOfMachine(error) ? (error as Error) : new ThreadEnded(crashFailure(error));
  });
  const ended = new Promise<never>((_resolve, reject) => {
    worker.on("exit", (code) => {
      const exited = (): Failure => failureOf(`ends its process with exit code ${code}`);
      reject(endReason === null && crash !== null ? crash : new ThreadEnded(endReason ?? exited()));
    });
  });
  // The thread may end when no task waits for it.
  ended.catch(() => {});
  return {
    /**
     * Executes a task. The time limit begins when the program is loaded.
     * @throws ThreadEnded if the thread ends first; it cannot be used again. Error if the thread could not start, and the
     * system's error if a file could not be written or opened, which is no failure of a seed.
     */
    execute: async <Method extends keyof ThreadRunner>(
      method: Method,
      ...args: Parameters<ThreadRunner[Method]>
    ): Promise<Awaited<ReturnType<ThreadRunner[Method]>>> => {
      await Promise.race([ready, ended]).catch((error: Error) => {
        if (endReason !== null || isOfMachine(error)) throw error;
        throw new Error(`a thread of the fuzzer could not start: ${error.message}`);
      });
      const answer = nextMessage();
      worker.postMessage({ method, args } satisfies Task);
      const timer = setTimeout(() => {
        endReason = failureOf(`hangs: not done after ${durationText(seedTimeoutMs)}`, "hangs");
        void worker.terminate();
      }, seedTimeoutMs);
      try {
        const { result } = (await Promise.race([answer, ended])) as {
          readonly result: Awaited<ReturnType<ThreadRunner[Method]>>;
        };
        // An answer after the time limit does not count.
        if (endReason !== null) await ended;
        return result;
      } finally {
        clearTimeout(timer);
      }
    },
    /** Terminates the thread, even during a task. */
    end: async (): Promise<void> => {
      endReason ??= failureOf("is stopped");
      await worker.terminate();
    },
  };
}

/** Returns the failure of a run that did not end by itself. Its command is unknown: 0. */
function failureOf(sentence: string, fingerprint = sentence): Failure {
  return { fingerprint, sentence, command: 0 };
}

/** Whether the disk, a path or a limit of this machine is the cause of an error. */
const isOfMachine = (error: unknown): boolean =>
  isDiskFailure(error) || isForbidden(error) || isSystemError(error, "ENOENT", "EMFILE", "ENFILE");

/** Returns the failure of an uncaught error. The fingerprint is without figures. */
function crashFailure(error: unknown): Failure {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return failureOf(`runs out of memory, ${MAX_HEAP_MIB} MiB`, "runs out of memory");
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const sentence = `throws ${oneLine(text).slice(0, MAX_TEXT)}`;
  return failureOf(sentence, withoutFigures(sentence));
}
