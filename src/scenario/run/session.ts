import type { FillLine } from "../language/order-line.ts";
import type { TokenName } from "../language/parts.ts";
import type { Place } from "../language/problem.ts";
import type { Scenario, Step } from "../language/scenario.ts";
import type { Venue } from "../venue/venue.ts";
import type { Fill, TokenRef } from "../venue/views.ts";
import type { Judging } from "../watch/flow-judge.ts";
import { note } from "./diff.ts";
import type { DiffLine, RaceReport } from "./result.ts";

export interface Mismatch {
  readonly place: Place;
  readonly message: string;
  readonly diff: readonly DiffLine[];
}

export class ScenarioFailure extends Error {
  readonly mismatches: readonly Mismatch[];

  constructor(mismatches: readonly Mismatch[]) {
    super(mismatches[0]?.message ?? "");
    this.name = "ScenarioFailure";
    this.mismatches = mismatches;
  }
}

/** A run was stopped before its end: how it would have ended is unknown. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
}

/** A file, or a part of one, that a run has found out of date. */
export type Update =
  | { readonly kind: "file"; readonly file: string; readonly text: string }
  | {
      readonly kind: "value";
      readonly file: string;
      readonly range: readonly [start: number, end: number];
      readonly text: string;
    };

/** What a run remembers of its orders; a race or a restored snapshot goes back to it. */
interface Memory {
  readonly orders: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, Label>;
  readonly placed: number;
  readonly fillsRead: number;
}

/** Told of a refused step, with its error code or why an order could not be canceled. */
export type Refusals = (step: Step, code: string) => void;

const ORDER_ID = /(?:the (?:resting )?)?(?:order )?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;

/** What an order is called where its id would say little. */
interface Label {
  readonly name: string;
  readonly account: string;
}

export interface SessionOptions {
  /** Whether goldens and hashes are written instead of compared. */
  readonly isUpdating?: boolean;
  /** What is judged after steps and in flows; null judges nothing. Default: all, in flows as `flowJudge` does. */
  readonly judging?: Judging | null;
  /** Asked before each step and now and then in a flow: where it answers true, the run throws `RunStopped`. */
  readonly stop?: (() => boolean) | undefined;
  readonly refused?: Refusals | undefined;
}

/** One run of one scenario: the venue, the names given to its orders, and what has been seen. */
export class Session {
  readonly scenario: Scenario;
  readonly venue: Venue;
  readonly isUpdating: boolean;
  readonly judging: Judging | null;
  readonly stop: () => boolean;
  readonly refused: Refusals;
  readonly transcript: string[] = [];
  readonly races: RaceReport[] = [];
  readonly updates: Update[] = [];
  /** While updating: what each golden file and each place of a hash holds from now on. */
  readonly recorded = new Map<string, string>();
  readonly snapshots = new Map<string, { readonly kept: unknown; readonly memory: Memory }>();
  steps = 0;
  fillsRead = 0;
  /** Whether a step that is refused does not fail the scenario, but is an outcome like another. */
  isLenient = false;
  readonly unplaced = new Map<string, string>();
  #orders = new Map<string, string>();
  #labels = new Map<string, Label>();
  #placed = 0;

  constructor(scenario: Scenario, venue: Venue, options: SessionOptions) {
    this.scenario = scenario;
    this.venue = venue;
    this.isUpdating = options.isUpdating ?? false;
    this.judging = options.judging === undefined ? { everyRows: null } : options.judging;
    this.stop = options.stop ?? (() => false);
    this.refused = options.refused ?? (() => {});
    if (this.judging !== null) venue.watchFills();
  }

  get hasOneMarket(): boolean {
    return this.venue.markets.length === 1;
  }

  marketOf(name: string | null): string {
    return name ?? this.venue.markets[0] ?? "";
  }

  tokenOf({ market, outcome }: TokenName): TokenRef {
    return { market: this.marketOf(market), outcome };
  }

  /** Remembers an accepted order and whose it is, by its name when it has one. */
  placed(key: string, name: string | null, account: string): void {
    this.#placed += 1;
    this.#labels.set(key, { name: name ?? `order ${this.#placed}`, account });
    if (name !== null) this.#orders.set(name, key);
  }

  orderNamed(name: string): string | undefined {
    return this.#orders.get(name);
  }

  /** The same of one that is needed at a place; `diff` says for what. @throws ScenarioFailure when it was never placed. */
  placedAs(name: string, place: Place, diff: readonly DiffLine[] = []): string {
    return this.#orders.get(name) ?? fail(place, this.neverPlaced(name), diff);
  }

  /** That an order of a name was never placed, and why where that is known. */
  neverPlaced(name: string): string {
    const reason = this.unplaced.get(name);
    return `order ${name} was never placed${reason === undefined ? "" : `: ${reason}`}`;
  }

  labelOf(key: string): string {
    return this.#labels.get(key)?.name ?? "an order of the flow";
  }

  /** Whom a fill met, in the words of its expectation: the account, or its order where a line names orders. */
  makerOf(fill: Fill, line: FillLine | undefined): string {
    if (line?.isMakerOrder !== true) return fill.maker;
    if (this.#orders.get(line.maker) === fill.makerOrder) return line.maker;
    const name = this.#labels.get(fill.makerOrder)?.name;
    return name !== undefined && this.#orders.get(name) === fill.makerOrder ? name : fill.maker;
  }

  /** Why an order is where it is, in sentences in which orders stand by their names. */
  async explain(key: string): Promise<string[]> {
    const lines = await this.venue.explain(key);
    return lines.map((line) =>
      line.replace(ORDER_ID, (words, id: string) => {
        const label = this.#labels.get(id);
        if (label === undefined) return words;
        return `${label.name.startsWith("order ") ? "" : "order "}${label.name} of ${label.account}`;
      }),
    );
  }

  get memory(): Memory {
    return {
      orders: new Map(this.#orders),
      labels: new Map(this.#labels),
      placed: this.#placed,
      fillsRead: this.fillsRead,
    };
  }

  set memory({ orders, labels, placed, fillsRead }: Memory) {
    this.#orders = new Map(orders);
    this.#labels = new Map(labels);
    this.#placed = placed;
    this.fillsRead = fillsRead;
  }

  log(line: string): void {
    this.transcript.push(line);
  }
}

/** What is said where the notes name invariants that do not hold. */
export const BROKEN_INVARIANT = "an invariant does not hold, which is a defect of clobsim";

export function fail(place: Place, message: string, diff: readonly DiffLine[] = []): never {
  throw new ScenarioFailure([{ place, message, diff }]);
}

const SHOWN_FRAMES = 5;

/** That the program threw, with the top of its stack. */
export function defectAt(place: Place, error: unknown): Mismatch {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = (stack ?? "").split("\n").slice(1, 1 + SHOWN_FRAMES);
  return {
    place,
    message: `a defect of clobsim: ${message}`,
    diff: trace.map((line) => note(line.trim())),
  };
}
