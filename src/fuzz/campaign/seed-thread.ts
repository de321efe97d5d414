import { Worker } from "node:worker_threads";
import { durationText, oneLine } from "../../scenario/report/text.ts";
import type { Failure, FailureFiles, SeedOutcome } from "../outcome.ts";
import type { CampaignSettings } from "./results.ts";

/** A task for a thread, which executes one at a time. */
export type Task =
  | { readonly kind: "run"; readonly seed: number }
  | { readonly kind: "write"; readonly outcome: SeedOutcome; readonly folder: string; readonly name: string }
  | { readonly kind: "findCanary" };

/** Result of each kind of task; of `findCanary`, whether it was found. */
export interface TaskResults {
  readonly run: SeedOutcome;
  readonly write: FailureFiles;
  readonly findCanary: boolean;
}

/** A message from a thread: first that it is ready, then the result of each task. */
export type ThreadMessage = "ready" | { readonly result: TaskResults[Task["kind"]] };

/** Heap limit of a thread in MiB. It is the same on every machine because exceeding it is a failure of the seed. */
const MAX_HEAP_MIB = 512;
/** Histories are short-lived objects: a young generation of 64 MiB cuts the time of garbage collection to a third. */
const YOUNG_GENERATION_MIB = 64;
const MAX_TEXT = 200;

/** Thrown when a thread ends before its task is done, with the failure of the seed that it ran. */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.sentence);
    this.failure = failure;
  }
}

export interface ThreadOptions {
  /** Entry point of the thread. */
  readonly program: URL;
  readonly settings: CampaignSettings;
  /** Time limit of one task, in milliseconds. */
  readonly seedTimeoutMs: number;
}

interface PendingTask {
  readonly resolve: (result: TaskResults[Task["kind"]]) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that runs seeds, one task at a time. */
export class SeedThread {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  #pending: PendingTask | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  /** Why the thread has ended; null while it runs. */
  #endReason: Error | null = null;

  constructor({ program, settings, seedTimeoutMs }: ThreadOptions) {
    this.#timeoutMs = seedTimeoutMs;
    this.#worker = new Worker(program, {
      workerData: settings,
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MIB,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
      },
    });
    this.#worker.on("message", (message: ThreadMessage) => this.#receive(message));
    // "error" may arrive before earlier messages of the thread, "exit" arrives after all of them.
    let crash: Failure | null = null;
    this.#worker.on("error", (error: unknown) => {
      crash = crashFailure(error);
    });
    this.#worker.on("exit", (code) => {
      this.#fail(crash ?? failureOf(`ends its process with exit code ${code}`));
    });
  }

  /**
   * Executes a task.
   * @throws ThreadEnded if the thread ends first; it cannot be used again. Error if the thread could not start.
   */
  async execute<Kind extends Task["kind"]>(task: Task & { readonly kind: Kind }): Promise<TaskResults[Kind]> {
    if (this.#endReason !== null) throw this.#endReason;
    const result = await new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#startTimer();
      this.#worker.postMessage(task);
    });
    return result as TaskResults[Kind];
  }

  /** Terminates the thread, even during a task. */
  async end(): Promise<void> {
    this.#close(new ThreadEnded(failureOf("is stopped")));
    await this.#worker.terminate();
  }

  #receive(message: ThreadMessage): void {
    // Messages sent before the end may arrive after it.
    if (this.#endReason !== null) return;
    this.#isReady = true;
    if (message === "ready") {
      this.#startTimer();
      return;
    }
    clearTimeout(this.#timer);
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve(message.result);
  }

  /** Starts the time limit of the pending task once the program is loaded. */
  #startTimer(): void {
    clearTimeout(this.#timer);
    if (!this.#isReady || this.#pending === null) return;
    this.#timer = setTimeout(() => {
      this.#fail(failureOf(`hangs: not done after ${durationText(this.#timeoutMs)}`, "hangs"));
      void this.#worker.terminate();
    }, this.#timeoutMs);
  }

  #fail(failure: Failure): void {
    const ended = new ThreadEnded(failure);
    this.#close(
      this.#isReady ? ended : new Error(`a thread of the fuzzer could not start: ${ended.message}`),
    );
  }

  #close(reason: Error): void {
    if (this.#endReason !== null) return;
    clearTimeout(this.#timer);
    this.#endReason = reason;
    this.#pending?.reject(reason);
    this.#pending = null;
  }
}

/** Returns the failure of a run that did not end by itself. Its command is unknown: 0. */
const failureOf = (sentence: string, fingerprint = sentence): Failure => ({
  fingerprint,
  sentence,
  command: 0,
});

/** Returns the failure of an uncaught error. The fingerprint is without figures. */
function crashFailure(error: unknown): Failure {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return failureOf(`runs out of memory, ${MAX_HEAP_MIB} MiB`, "runs out of memory");
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const sentence = `throws ${oneLine(text).slice(0, MAX_TEXT)}`;
  return failureOf(sentence, sentence.replace(/0x[\da-f]+|[\da-f]{8}-[\da-f-]{27}|-?\d[\d.]*/gi, "N"));
}
