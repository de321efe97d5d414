import { Worker } from "node:worker_threads";
import { durationText, oneLine } from "../../scenario/report/text.ts";
import type { Failure, FailureFiles, SeedOutcome } from "../outcome.ts";
import type { CampaignSettings } from "./results.ts";

/** What a thread is started with. */
export interface ThreadData {
  readonly settings: CampaignSettings;
}

/** What a thread is asked to do, one at a time. */
export type Task =
  | { readonly kind: "run"; readonly seed: number }
  | { readonly kind: "write"; readonly outcome: SeedOutcome; readonly folder: string; readonly name: string }
  | { readonly kind: "findCanary" };

/** What each task comes to; of the canary, whether it is found. */
export interface TaskResults {
  readonly run: SeedOutcome;
  readonly write: FailureFiles;
  readonly findCanary: boolean;
}

/** What a thread says: once that it can begin, and at the end of each task its result. */
export type Answer = "ready" | { readonly result: TaskResults[Task["kind"]] };

/** The memory of a thread in MiB, the same on every machine: running out of it is a failure of the seed. */
const MAX_HEAP_MIB = 512;
/** Histories are made and forgotten: with 64 MiB for what is new, collecting it takes a third of the time. */
const NEW_SPACE_MIB = 64;
const MAX_TEXT = 200;

/** A thread has ended before its task: what that is for the seed that it ran. */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.sentence);
    this.failure = failure;
  }
}

export interface ThreadOptions {
  /** The program of the thread. */
  readonly program: URL;
  readonly settings: CampaignSettings;
  /** How long one seed may take, in milliseconds. */
  readonly seedTimeoutMs: number;
}

interface Asked {
  readonly resolve: (result: TaskResults[Task["kind"]]) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that runs seeds, one task at a time. */
export class SeedThread {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  #asked: Asked | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #end: Error | null = null;

  constructor({ program, settings, seedTimeoutMs }: ThreadOptions) {
    const workerData: ThreadData = { settings };
    this.#timeoutMs = seedTimeoutMs;
    this.#worker = new Worker(program, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB, maxYoungGenerationSizeMb: NEW_SPACE_MIB },
    });
    this.#worker.on("message", (answer: Answer) => this.#take(answer));
    // What was thrown may be heard before what the thread had said until then; its exit never is.
    let crash: Failure | null = null;
    this.#worker.on("error", (error: unknown) => {
      crash = crashOf(error);
    });
    this.#worker.on("exit", (code) => {
      this.#fail(crash ?? failureOf(`ends its process with exit code ${code}`));
    });
  }

  /** Does a task. @throws ThreadEnded, after which the thread can do nothing more; Error when it could not even begin. */
  async ask<Kind extends Task["kind"]>(task: Task & { readonly kind: Kind }): Promise<TaskResults[Kind]> {
    if (this.#end !== null) throw this.#end;
    const result = await new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#watch();
      this.#worker.postMessage(task);
    });
    return result as TaskResults[Kind];
  }

  /** Ends it, whatever it does. */
  async end(): Promise<void> {
    this.#close(new ThreadEnded(failureOf("is stopped")));
    await this.#worker.terminate();
  }

  #take(answer: Answer): void {
    // What it said before it was ended may come afterwards.
    if (this.#end !== null) return;
    this.#isReady = true;
    if (answer === "ready") {
      this.#watch();
      return;
    }
    clearTimeout(this.#timer);
    const asked = this.#asked;
    this.#asked = null;
    asked?.resolve(answer.result);
  }

  /** Begins to count the time that a task may take; loading the program does not count. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (!this.#isReady || this.#asked === null) return;
    this.#timer = setTimeout(() => {
      this.#fail(hanging(this.#timeoutMs));
      void this.#worker.terminate();
    }, this.#timeoutMs);
  }

  #fail(failure: Failure): void {
    const ended = new ThreadEnded(failure);
    this.#close(
      this.#isReady ? ended : new Error(`a thread of the fuzzer could not begin: ${ended.message}`),
    );
  }

  #close(end: Error): void {
    if (this.#end !== null) return;
    clearTimeout(this.#timer);
    this.#end = end;
    this.#asked?.reject(end);
    this.#asked = null;
  }
}

/** What is wrong where a run did not come to its end; after which command is not known. */
const failureOf = (sentence: string, fingerprint = sentence): Failure => ({
  fingerprint,
  sentence,
  command: 0,
});

const hanging = (ms: number): Failure => failureOf(`hangs: not done after ${durationText(ms)}`, "hangs");

/** What a run throws that nobody catches: the same whatever its figures are. */
function crashOf(error: unknown): Failure {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return failureOf(`runs out of memory, ${MAX_HEAP_MIB} MiB`, "runs out of memory");
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const sentence = `throws ${oneLine(text).slice(0, MAX_TEXT)}`;
  return failureOf(sentence, sentence.replace(/0x[\da-f]+|[\da-f]{8}-[\da-f-]{27}|-?\d[\d.]*/gi, "N"));
}
