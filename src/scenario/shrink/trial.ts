import type { WorldMarkets } from "../language/read-header.ts";
import { readScenario } from "../language/read-scenario.ts";
import type { Scenario } from "../language/scenario.ts";
import { worldMarkets } from "../language/world-markets.ts";
import type { Failure } from "../run/result.ts";
import { runScenario } from "../run/run-scenario.ts";
import type { Soon, Venue } from "../venue/venue.ts";
import { type Signature, signatureOf } from "./signature.ts";

/** What trying a text came to: it could not be read, it passed, or it failed. */
export type Outcome = { readonly kind: "unreadable" } | { readonly kind: "passed" } | Failed;

/** A text that failed, as it was read, and how. */
export interface Failed {
  readonly kind: "failed";
  readonly scenario: Scenario;
  readonly failure: Failure;
  readonly signature: Signature;
}

/** Where the texts of a scenario are tried. */
export interface Place {
  /** The scenario's file, as the user named it. */
  readonly file: string;
  /** Where the paths in it begin. */
  readonly folder: string;
  /** Opens an exchange for one scenario. */
  readonly open: (scenario: Scenario) => Soon<Venue>;
}

/** Runs the texts of one file, and remembers which of them did not fail as wanted. */
export class Trial {
  readonly place: Place;
  /** Whether every invariant is judged after each step. */
  judges = true;
  readonly #rejected = new Set<string>();
  readonly #worlds = new Map<string, readonly string[]>();
  #runs = 0;

  constructor(place: Place) {
    this.place = place;
  }

  /** How many scenarios were run. */
  get runs(): number {
    return this.#runs;
  }

  /** Reads and runs a text. */
  async run(text: string): Promise<Outcome> {
    const scenario = this.read(text);
    if (scenario === null) return { kind: "unreadable" };
    const failure = await this.failureOf(scenario, this.place.open);
    if (failure === null) return { kind: "passed" };
    return { kind: "failed", scenario, failure, signature: signatureOf(failure) };
  }

  /** Whether a text fails as wanted; the answer is null where it does not. */
  async fails(text: string, { key }: Signature): Promise<Failed | null> {
    const outcome = await this.attempt(text);
    if (outcome?.kind === "failed" && outcome.signature.key === key) return outcome;
    this.#rejected.add(text);
    return null;
  }

  /** The same with every invariant judged after each step. */
  async failsJudged(text: string, { key }: Signature): Promise<boolean> {
    const judges = this.judges;
    this.judges = true;
    const outcome = await this.run(text);
    this.judges = judges;
    return outcome.kind === "failed" && outcome.signature.key === key;
  }

  /** What a text comes to; null when it is known not to fail as wanted. */
  async attempt(text: string): Promise<Outcome | null> {
    return this.#rejected.has(text) ? null : this.run(text);
  }

  /** Notes that a text does not fail as wanted. */
  reject(text: string): void {
    this.#rejected.add(text);
  }

  /** The scenario of a text, or null. */
  read(text: string): Scenario | null {
    const { file, folder } = this.place;
    return readScenario(file, text, { folder, worldMarkets: this.#worldMarkets }).scenario;
  }

  /** Why a scenario fails on the exchanges that `open` opens. */
  async failureOf(scenario: Scenario, open: Place["open"]): Promise<Failure | null> {
    this.#runs += 1;
    const judging = this.judges ? { everyRows: null } : null;
    const { result } = await runScenario(scenario, { way: "process", open, judging, isHashed: false });
    return result.failure;
  }

  readonly #worldMarkets: WorldMarkets = (path) => {
    const known = this.#worlds.get(path) ?? worldMarkets(path);
    this.#worlds.set(path, known);
    return known;
  };
}
