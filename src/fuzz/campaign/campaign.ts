import { VERSION } from "../../config.ts";
import type { Shard } from "../../setting.ts";
import type { SeedOutcome } from "../outcome.ts";
import { bySeed, type FoundFailure, type Results, type ResultsFolder, seedName } from "./results.ts";
import { SeedThread, ThreadEnded, type ThreadOptions } from "./seed-thread.ts";
import { type SeedRange, type SeedSeries, seedAt, seriesOf } from "./seeds.ts";

/** What became of the seeds of a campaign, taken in their order, in whatever order they end. */
class Tally {
  /** What came before its turn, by its place. */
  readonly #early = new Map<number, SeedOutcome>();
  readonly #failures = new Map<string, FoundFailure>();
  #done = 0;
  #commands = 0;

  /** How many seeds have ended, counted from the first without a gap. */
  get done(): number {
    return this.#done;
  }

  /** How many seeds have ended. */
  get ended(): number {
    return this.#done + this.#early.size;
  }

  /** The commands of the seeds that are done. */
  get commands(): number {
    return this.#commands;
  }

  /** By seed. */
  get failures(): FoundFailure[] {
    return [...this.#failures.values()].sort(bySeed);
  }

  /** Takes the outcome of the seed at a place, from 0. Answers those that are the first to fail as they do. */
  add(place: number, outcome: SeedOutcome): SeedOutcome[] {
    this.#early.set(place, outcome);
    const firsts: SeedOutcome[] = [];
    for (;;) {
      const next = this.#early.get(this.#done);
      if (next === undefined) return firsts;
      this.#early.delete(this.#done);
      this.#done += 1;
      this.#commands += next.commands;
      if (this.#isFirst(next)) firsts.push(next);
    }
  }

  /** Changes what is known of a failure. */
  set(fingerprint: string, changes: Partial<FoundFailure>): void {
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) this.#failures.set(fingerprint, { ...known, ...changes });
  }

  #isFirst({ seed, profile, failure }: SeedOutcome): boolean {
    if (failure === null) return false;
    const { fingerprint } = failure;
    const known = this.#failures.get(fingerprint);
    if (known !== undefined) {
      this.set(fingerprint, { count: known.count + 1 });
      return false;
    }
    const files = { scenario: null, report: null, remark: "interrupted before its files were written" };
    this.#failures.set(fingerprint, { ...failure, ...files, seed, profile, count: 1, version: VERSION });
    return true;
  }
}

/** What a campaign is to do. */
interface CampaignOptions extends ThreadOptions {
  readonly seeds: SeedRange;
  readonly shard: Shard;
  /** How many threads run seeds, 1 or more. */
  readonly threads: number;
  /** How long seeds are handed out, in milliseconds. */
  readonly budgetMs: number;
  readonly folder: ResultsFolder;
}

export type CampaignProgress = Campaign["progress"];

/** Why a campaign has ended: every seed is done, its budget is over, or somebody has stopped it. */
export type Ending = "done" | "budget" | "stopped";

/** The fuzzer does not find what is planted to test it: that it finds nothing else says nothing. */
export class CanaryNotFound extends Error {
  override readonly name = "CanaryNotFound";
}

const NOT_WRITTEN = "no scenario and no report: the run does not come to an end by itself";

/** Runs seeds on several threads. What it finds is the same for any number of them. */
export class Campaign {
  readonly #options: CampaignOptions;
  readonly #series: SeedSeries;
  readonly #tally = new Tally();
  readonly #threads = new Set<SeedThread>();
  /** Failures whose files are to be written. */
  readonly #unwritten: SeedOutcome[] = [];
  readonly #endOfBudget: number;
  #handedOut = 0;
  #began: number | null = null;
  #ending: Ending = "done";

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#series = seriesOf(options.seeds, options.shard);
    this.#endOfBudget = performance.now() + options.budgetMs;
  }

  /** How many seeds and different failures there are, commands of seeds that are done, and ms since the first was handed out. */
  get progress() {
    const { ended, commands, failures } = this.#tally;
    const ms = this.#began === null ? 0 : performance.now() - this.#began;
    return { done: ended, total: this.#series.length, commands, failures: failures.length, ms };
  }

  get results(): Results {
    const { seeds, shard, settings } = this.#options;
    const { done, failures } = this.#tally;
    return { settings, ran: [{ engine: VERSION, seeds, shard, done }], failures };
  }

  /** @throws CanaryNotFound; the system's error where results cannot be written. */
  async run(): Promise<Ending> {
    const { threads, folder } = this.#options;
    try {
      await this.#assertCanary();
      this.#began = performance.now();
      await Promise.all(Array.from({ length: threads }, () => this.#runThread()));
      folder.save(this.results);
      return this.#ending;
    } finally {
      await this.stop();
    }
  }

  /** Ends all threads at once; `run` answers then. */
  async stop(): Promise<void> {
    this.#ending = "stopped";
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #assertCanary(): Promise<void> {
    const thread = this.#start();
    const blind = "the fuzzer did not find the defect planted to test it";
    try {
      if (!(await thread.ask({ kind: "findCanary" }))) throw new CanaryNotFound(blind);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (this.#ending !== "stopped") throw new CanaryNotFound(`${blind}: its run ${error.message}`);
    } finally {
      await this.#endThread(thread);
    }
  }

  /** Does what there is to do, in a thread, and in another one whenever a seed has ended it. */
  async #runThread(): Promise<void> {
    let thread: SeedThread | null = null;
    while (this.#ending !== "stopped") {
      const failed = this.#unwritten.shift();
      const place = failed === undefined ? this.#handOut() : null;
      if (failed === undefined && place === null) break;
      thread ??= this.#start();
      try {
        if (failed !== undefined) await this.#writeFiles(thread, failed);
        else if (place !== null) await this.#runSeed(thread, place);
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error;
        await this.#endThread(thread);
        thread = null;
      }
    }
    if (thread !== null) await this.#endThread(thread);
  }

  /** The place of the next seed; null where there is nothing more to run. */
  #handOut(): number | null {
    const isLeft = this.#handedOut < this.#series.length;
    if (isLeft && performance.now() >= this.#endOfBudget) this.#ending = "budget";
    if (!isLeft || this.#ending === "budget") return null;
    this.#handedOut += 1;
    return this.#handedOut - 1;
  }

  /** @throws ThreadEnded when the thread cannot go on. */
  async #runSeed(thread: SeedThread, place: number): Promise<void> {
    const seed = seedAt(this.#series, place);
    try {
      this.#take(place, await thread.ask({ kind: "run", seed }));
    } catch (error) {
      if (error instanceof ThreadEnded && this.#ending !== "stopped")
        this.#take(place, { seed, profile: "", commands: 0, failure: error.failure });
      throw error;
    }
  }

  #take(place: number, outcome: SeedOutcome): void {
    const firsts = this.#tally.add(place, outcome);
    for (const first of firsts) {
      const { failure } = first;
      if (failure === null) continue;
      if (failure.command > 0) this.#unwritten.push(first);
      else this.#tally.set(failure.fingerprint, { remark: NOT_WRITTEN });
    }
    if (firsts.length > 0) this.#options.folder.save(this.results);
  }

  /** @throws ThreadEnded when the thread cannot go on. */
  async #writeFiles(thread: SeedThread, outcome: SeedOutcome): Promise<void> {
    const { folder, settings } = this.#options;
    const name = seedName(outcome.seed, settings);
    const { fingerprint } = outcome.failure ?? { fingerprint: "" };
    try {
      const files = await folder.place((draft) =>
        thread.ask({ kind: "write", outcome, folder: draft, name }),
      );
      this.#tally.set(fingerprint, files);
    } catch (error) {
      if (error instanceof ThreadEnded && this.#ending !== "stopped")
        this.#tally.set(fingerprint, { remark: `no files: writing them ${error.message}` });
      throw error;
    } finally {
      folder.save(this.results);
    }
  }

  #start(): SeedThread {
    const thread = new SeedThread(this.#options);
    this.#threads.add(thread);
    return thread;
  }

  async #endThread(thread: SeedThread): Promise<void> {
    this.#threads.delete(thread);
    await thread.end();
  }
}
