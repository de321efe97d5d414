import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HistoryNotTellable, shrinkHistory } from "../../history/shrink/shrink-history.ts";
import { NotRunInTime } from "../../history/shrink/shrink-scenario.ts";
import { Wallets } from "../../scenario/venue/wallets.ts";
import type { FailureFiles, SeedOutcome, SeedRunner, SeedSettings } from "../outcome.ts";
import { check } from "./check.ts";
import type { Finding } from "./finding.ts";
import { readJournal } from "./journal.ts";
import { logText } from "./observation.ts";
import { httpProfile, profileLine } from "./profile.ts";
import { openServer } from "./server.ts";
import { type Evidence, FuzzSession } from "./session.ts";

/** How often a seed whose evidence is gone is run again to find the same. */
const ATTEMPTS = 10;
const SHRINKING_MS = 20_000;

/** A seed that was run, and what is wrong with it. */
interface Run {
  readonly evidence: Evidence;
  readonly finding: Finding | null;
}

/**
 * Runs seeds through real clients of a real server, several at once, and checks that what they saw is one history.
 * Requests are the seed's; in which order a server takes up those of several connections is the machine's, so that a
 * seed may pass where it has failed before. What was seen is kept with the outcome until it is written.
 */
export class OverHttp implements SeedRunner {
  readonly #program: string;
  readonly #wallets = new Wallets();
  readonly #evidence = new WeakMap<SeedOutcome, Run>();

  /** `program` is the file of the built program, which is killed and opened again; default: the one beside this code. */
  constructor(program = fileURLToPath(new URL("./cli.js", import.meta.url))) {
    this.#program = program;
  }

  async run(seed: number, settings: SeedSettings): Promise<SeedOutcome> {
    const run = await this.#run(seed, settings);
    const { evidence, finding } = run;
    const profile = profileLine(httpProfile(seed));
    const { commands } = settings;
    if (finding === null) return { seed, profile, commands, failure: null };
    const { fingerprint, sentence, index } = finding;
    const command = Math.max(1, Math.min(commands, index + 1 - evidence.opening));
    const outcome = { seed, profile, commands, failure: { fingerprint, sentence, command } };
    this.#evidence.set(outcome, run);
    return outcome;
  }

  async write(
    outcome: SeedOutcome,
    settings: SeedSettings,
    folder: string,
    name: string,
  ): Promise<FailureFiles> {
    const run = this.#evidence.get(outcome) ?? (await this.#again(outcome, settings));
    if (run === null) {
      const remark = `it did not fail again in ${ATTEMPTS} attempts: what clients of several connections meet depends on timing`;
      return { scenario: null, report: null, remark };
    }
    const { evidence, finding } = run;
    const report = join(folder, `${name}.ndjson`);
    const seen = join(folder, `${name}.observations.ndjson`);
    writeFileSync(report, evidence.report);
    writeFileSync(seen, logText(evidence.log));
    if (finding?.isOfHistory !== true) {
      const remark = `what clients saw differs from the journal, which no scenario can tell: ${seen} holds every request and answer`;
      return { scenario: null, report, remark };
    }
    const { text, remark } = await scenarioOf(evidence);
    if (text === null) return { scenario: null, report, remark };
    const scenario = join(folder, `${name}.yaml`);
    writeFileSync(scenario, text);
    return { scenario, report, remark };
  }

  async #run(seed: number, { commands }: SeedSettings): Promise<Run> {
    const profile = httpProfile(seed);
    const server = await openServer(profile, () => this.#program);
    try {
      const evidence = await new FuzzSession(profile, server, this.#wallets).run(commands);
      return { evidence, finding: await check(readJournal(Buffer.from(evidence.report)), evidence.log) };
    } finally {
      await server.close();
    }
  }

  /** The seed once more, as often as it takes to fail in the same way; null where it does not. */
  async #again({ seed, failure }: SeedOutcome, settings: SeedSettings): Promise<Run | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const run = await this.#run(seed, settings);
      if (run.finding !== null && run.finding.fingerprint === failure?.fingerprint) return run;
    }
    return null;
  }
}

/** A failing history as a scenario of a few steps; without one, the remark says why. */
async function scenarioOf({ report }: Evidence): Promise<{ text: string | null; remark: string | null }> {
  const { config, start, opening, session, failing } = readJournal(Buffer.from(report)).history;
  const entries = [...opening, ...session, ...(failing === null ? [] : [failing])];
  const end = performance.now() + SHRINKING_MS;
  const isOver = (reserve: number): boolean => performance.now() + reserve >= end;
  try {
    const shrunk = await shrinkHistory({ config, start, entries }, { isOver });
    if (shrunk !== null) return { text: shrunk.text, remark: shrunk.remarks[0] ?? null };
    return { text: null, remark: "the commands of the journal alone do not fail" };
  } catch (error) {
    if (error instanceof HistoryNotTellable || error instanceof NotRunInTime)
      return { text: null, remark: error.message };
    throw error;
  }
}

/** Seeds over HTTP, with the program that this code is a part of. */
export const overHttp: SeedRunner = new OverHttp();
