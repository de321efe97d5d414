import { UUID } from "../../core/format.ts";
import type { TokenName } from "../language/declarations.ts";
import type { FillLine } from "../language/order-line.ts";
import type { Place } from "../language/page.ts";
import type { Scenario, Step } from "../language/steps.ts";
import type { Venue } from "../venue/venue.ts";
import type { Checks, Fill, TokenRef } from "../venue/views.ts";
import { type DiffLine, type Mismatch, note, type RaceReport } from "./result.ts";

export class ScenarioFailure extends Error {
  override readonly name = "ScenarioFailure";
  readonly mismatches: readonly Mismatch[];

  constructor(mismatches: readonly Mismatch[]) {
    super(mismatches[0]?.message);
    this.mismatches = mismatches;
  }
}

/** Thrown if a run is stopped before its end. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
}

/** A file, or a value in a file, that a run found outdated. */
export type Update = { readonly file: string; readonly text: string } & (
  | { readonly kind: "file" }
  /** `before` is the text of its line up to its end, which `text` replaces. */
  | { readonly kind: "value"; readonly line: number; readonly before: string }
);

/** The known orders of a run, restored by races and snapshots. */
interface KnownOrders {
  /** Keys of named orders. */
  readonly orders: Map<string, string>;
  /** Why named orders do not exist. */
  readonly missing: Map<string, string>;
  readonly labels: Map<string, { readonly name: string; readonly account: string }>;
  placed: number;
  fillsRead: number;
}

const ORDER_ID = new RegExp(`(?:the (?:resting )?)?(?:order )?(${UUID})`, "g");

export interface SessionOptions {
  /** Whether golden files and hashes are written instead of compared. */
  readonly isUpdating?: boolean;
  /** What earlier scenarios of the suite have written while updating: contents by golden file, hashes by place. */
  readonly recorded?: ReadonlyMap<string, string> | undefined;
  /** Checks after steps and in flows; null for none. Default: all, in flows at intervals. */
  readonly checks?: Checks | null;
  /** Called before each step and at intervals in a flow; if it returns true, the run throws `RunStopped`. */
  readonly stop?: (() => boolean) | undefined;
  /** Called with a refused step and its error code, or why an order could not be canceled. */
  readonly refused?: ((step: Step, code: string) => void) | undefined;
}

/** One run of a scenario: its venue, its named orders, and its results. */
export class Session {
  readonly scenario: Pick<Scenario, "name" | "seed" | "steps">;
  readonly venue: Venue;
  readonly options: SessionOptions;
  readonly checks: Checks | null;
  readonly transcript: string[] = [];
  /** Where the current order of a race begins in the transcript; 0 before a race and in its first order. */
  orderStart = 0;
  readonly races: RaceReport[] = [];
  readonly updates: Update[] = [];
  /** While updating: the new content of each golden file and each hash, also those of earlier scenarios. */
  readonly recorded: Map<string, string>;
  snapshots: ReadonlyMap<string, { readonly state: unknown; readonly known: KnownOrders }> = new Map();
  steps = 0;
  /** The current step; null before the first. */
  step: Step | null = null;
  stateHash: string | null = null;
  /** Whether a refused step is an outcome instead of a failure, as in a race. */
  isLenient = false;
  #known: KnownOrders = { orders: new Map(), missing: new Map(), labels: new Map(), placed: 0, fillsRead: 0 };

  constructor(scenario: Session["scenario"], venue: Venue, options: SessionOptions) {
    this.scenario = scenario;
    this.venue = venue;
    this.options = options;
    this.recorded = new Map(options.recorded);
    this.checks = options.checks === undefined ? "all" : options.checks;
    if (this.checks !== null) venue.watchFills();
    venue.whenRewound(() => this.#removeUndone());
  }

  /** @throws RunStopped if the run is to end. */
  stopIfDue(): void {
    if (this.options.stop?.() === true) throw new RunStopped();
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

  /** Records an accepted order, with its name if it has one. */
  placed(key: string, name: string | null, account: string): void {
    this.#known.placed += 1;
    this.#known.labels.set(key, { name: name ?? `order ${this.#known.placed}`, account });
    if (name !== null) this.#known.orders.set(name, key);
  }

  /** Records why a named order is unknown. It may exist, if its answer was lost. */
  unplaced(name: string, step: number, code: string): void {
    // A name of an earlier round would mean the order of that round.
    this.#known.orders.delete(name);
    this.#known.missing.set(name, `is unknown: step ${step} was refused with ${code}`);
  }

  orderNamed(name: string): string | undefined {
    return this.#known.orders.get(name);
  }

  /** Returns the key of a named order. @throws ScenarioFailure at `place` if it was never placed. */
  placedAs(name: string, place: Place, diff: readonly DiffLine[] = []): string {
    return this.orderNamed(name) ?? fail(place, this.missing(name), diff, { cause: { kind: "unplaced" } });
  }

  /** Returns the message that a named order does not exist, with the reason if known. */
  missing(name: string): string {
    return `order ${name} ${this.#known.missing.get(name) ?? "was never placed"}`;
  }

  labelOf(key: string): string {
    return this.#known.labels.get(key)?.name ?? "an order of the flow";
  }

  /** Returns the maker of a fill as its expectation names it: by account or by order. */
  makerOf(fill: Fill, line: FillLine | undefined): string {
    if (line?.isMakerOrder !== true) return fill.maker;
    if (this.orderNamed(line.maker) === fill.makerOrder) return line.maker;
    const name = this.#known.labels.get(fill.makerOrder)?.name ?? "";
    return this.orderNamed(name) === fill.makerOrder ? name : fill.maker;
  }

  /** Explains the state of an order, with names instead of order ids. */
  async explain(key: string): Promise<string[]> {
    const lines = await this.venue.explain(key);
    return lines.map((line) =>
      line.replace(ORDER_ID, (words, id: string) => {
        const label = this.#known.labels.get(id);
        if (label === undefined) return words;
        return `${label.name.startsWith("order ") ? "" : "order "}${label.name} of ${label.account}`;
      }),
    );
  }

  /** Returns the fills since the last call. */
  newFills(): readonly Fill[] {
    const from = this.#known.fillsRead;
    this.#known.fillsRead = this.venue.fillCount();
    return this.venue.fills(from);
  }

  set fillsRead(count: number) {
    this.#known.fillsRead = count;
  }

  /** Removes the orders and fills that the exchange has lost by going back to an earlier state. */
  #removeUndone(): void {
    const { orders, missing } = this.#known;
    for (const [name, key] of orders) {
      if (this.venue.hasOrder(key)) continue;
      orders.delete(name);
      missing.set(name, `does not exist any more: step ${this.step?.number} took it back`);
    }
    this.#known.fillsRead = Math.min(this.#known.fillsRead, this.venue.fillCount());
  }

  /** Returns to what was known at a snapshot, except why orders placed since then do not exist. */
  returnTo(known: KnownOrders): void {
    const { missing } = this.#known;
    this.known = { ...known, missing: new Map([...known.missing, ...missing]) };
  }

  get known(): KnownOrders {
    return structuredClone(this.#known);
  }

  set known(known: KnownOrders) {
    this.#known = structuredClone(known);
  }

  log(line: string): void {
    this.transcript.push(line);
  }
}

export function fail(
  place: Place,
  message: string,
  diff: readonly DiffLine[] = [],
  facts: Pick<Mismatch, "cause" | "row"> = {},
): never {
  throw new ScenarioFailure([{ place, message, diff, ...facts }]);
}

const SHOWN_FRAMES = 5;

/** Returns a mismatch for an unexpected error, with the top of its stack. */
export function defectAt(place: Place, error: unknown): Mismatch {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = (stack ?? "").split("\n").slice(1, 1 + SHOWN_FRAMES);
  const diff = trace.map((line) => note(line.trim()));
  return { place, message: `a defect of clobsim: ${message}`, diff, cause: { kind: "defect", message } };
}
