import { numbersAs } from "../../api/decimals.ts";
import { refusalError } from "../../api/refusals.ts";
import type { Command } from "../../core/commands.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { violations } from "../../core/invariants/invariants.ts";
import { marketOfToken } from "../../core/market.ts";
import { reservationOf } from "../../core/order.ts";
import { shortfallOf } from "../../core/rules/ledger.ts";
import { decide } from "../../core/rules/rules.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import { checkAll } from "../../scenario/run/expectations.ts";
import { refusedText } from "../../scenario/run/format.ts";
import { failureMessage } from "../../scenario/run/run-scenario.ts";
import { RunStopped, ScenarioFailure, Session } from "../../scenario/run/session.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { refusedBy } from "../../scenario/venue/views.ts";
import { Wallets } from "../../scenario/venue/wallets.ts";
import { Remapper, type TracedCommand } from "../trace.ts";
import { type HistoryExpectation, type HistoryNames, orderNumber, ordersIn } from "./history-scenario.ts";
import { defectFingerprint, type FailureFingerprint, fingerprintOf, invariantFingerprint } from "./trial.ts";

/** Commands that fail. */
export interface FailingTrace {
  readonly fingerprint: FailureFingerprint;
  /** Those with an effect, up to the one that fails. */
  readonly trace: readonly TracedCommand[];
}

export interface TrialSettings {
  /** Returns a new exchange in the state before the history. */
  readonly open: () => Exchange;
  /** State at the end of the whole history. */
  readonly history: State;
  /** Whether the time is up. */
  readonly isOver: () => boolean;
}

/** Number of commands applied between two checks whether the time is up. */
const COMMANDS_PER_CHECK = 256;

/** Tries commands of a history on new exchanges. */
export abstract class HistoryTrial {
  readonly #settings: TrialSettings;

  constructor(settings: TrialSettings) {
    this.#settings = settings;
  }

  /** Applies commands and returns all failures at the first that fails; empty if none does. @throws RunStopped */
  protected abstract failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]>;

  /** Applies commands and returns the first failure; null if there is none. @throws RunStopped */
  async firstFailure(trace: readonly TracedCommand[]): Promise<FailingTrace | null> {
    return (await this.failures(trace))[0] ?? null;
  }

  /** Applies commands and returns the failure with a fingerprint; null if there is none. @throws RunStopped */
  async sameFailure(
    trace: readonly TracedCommand[],
    { key }: FailureFingerprint,
  ): Promise<FailingTrace | null> {
    const failures = await this.failures(trace).catch((error: unknown) => {
      if (error instanceof RunStopped) throw error;
      // Commands may depend on others that were left out.
      return [];
    });
    return failures.find(({ fingerprint }) => fingerprint.key === key) ?? null;
  }

  protected open(): Remapper {
    const { open, history } = this.#settings;
    return new Remapper(open(), history);
  }

  protected readonly stop = (): boolean => this.#settings.isOver();

  /** Applies commands one by one, adds those with an effect to `done`, and yields the index of each. */
  protected *applying(
    remapper: Remapper,
    trace: readonly TracedCommand[],
    done: TracedCommand[],
  ): Generator<number, void> {
    for (const [index, traced] of trace.entries()) {
      if (index % COMMANDS_PER_CHECK === 0 && this.stop()) throw new RunStopped();
      if (remapper.apply(traced)) done.push(traced);
      yield index;
    }
  }

  /** Applies commands; returns those with an effect. */
  protected apply(remapper: Remapper, trace: readonly TracedCommand[]): TracedCommand[] {
    const done: TracedCommand[] = [];
    for (const _index of this.applying(remapper, trace, done));
    return done;
  }
}

/** Maximum number of commands for which the invariants are checked after each. */
const MAX_CHECKED_EACH = 256;
/** Number of checks in a longer history, because a check takes time proportional to the state. */
const CHECKS = 8;
/** Number of checks if those find nothing: a broken invariant may hold again later. */
const MAX_CHECKS = 1_000;

/** Applies commands until one throws or invariants do not hold. */
export class FailureTrial extends HistoryTrial {
  #checks = CHECKS;

  override async firstFailure(trace: readonly TracedCommand[]): Promise<FailingTrace | null> {
    const found = await super.firstFailure(trace);
    if (found !== null || trace.length <= MAX_CHECKED_EACH) return found;
    this.#checks = MAX_CHECKS;
    return super.firstFailure(trace);
  }

  protected async failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]> {
    const { length } = trace;
    const stride = length <= MAX_CHECKED_EACH ? 1 : Math.ceil(length / this.#checks);
    const remapper = this.open();
    const done: TracedCommand[] = [];
    let next = 0;
    try {
      for (const index of this.applying(remapper, trace, done)) {
        next = index + 1;
        if (next % stride !== 0 && next !== length) continue;
        const broken = violations(remapper.state);
        if (broken.length > 0)
          return broken.map(({ name }) => ({ fingerprint: invariantFingerprint(name), trace: done }));
      }
      return [];
    } catch (error) {
      if (error instanceof RunStopped) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return [{ fingerprint: defectFingerprint(message), trace: [...done, ...trace.slice(next, next + 1)] }];
    }
  }
}

/** Applies commands, and checks expectations after the last. */
export class ExpectationTrial extends HistoryTrial {
  readonly #expected: HistoryExpectation;

  constructor(settings: TrialSettings, expected: HistoryExpectation) {
    super(settings);
    this.#expected = expected;
  }

  protected async failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]> {
    const { names, expectations } = this.#expected;
    const remapper = this.open();
    const { exchange, orders } = remapper;
    const venue = new HistoryVenue(exchange, names);
    const opening = trace.filter(({ sequence }) => sequence <= names.sequenceBefore);
    const done = this.apply(remapper, opening);
    const fillsBefore = venue.fillCount();
    done.push(...this.apply(remapper, trace.slice(opening.length)));
    venue.nameMarkets();
    const session = new Session(NO_SCENARIO, venue, {
      isUpdating: false,
      checks: null,
      stop: this.stop,
      refused: undefined,
    });
    // Expectations do not include trades of the opening.
    session.fillsRead = fillsBefore;
    for (const name of ordersIn(expectations)) {
      const number = orders.get(orderNumber(name) ?? 0);
      // Without the order, a scenario could not refer to it.
      if (number === undefined) throw new Error(`order ${name} was never placed`);
      const id = idOf(exchange.state.idPrefixes.order, number);
      session.placed(id, name, venue.nameOf(exchange.state.orders.get(number).account));
    }
    try {
      await checkAll(session, expectations);
      return [];
    } catch (error) {
      if (!(error instanceof ScenarioFailure)) throw error;
      const fingerprint = fingerprintOf({ ...failureMessage(error.mismatches), text: "expect" });
      return [{ fingerprint, trace: done }];
    }
  }
}

/** An exchange with a history, which knows its accounts by name. */
class HistoryVenue extends LocalVenue {
  readonly #names: HistoryNames;

  constructor(exchange: Exchange, names: HistoryNames) {
    super(NO_SCENARIO, null, new Wallets(), null, exchange);
    this.#names = names;
    for (const [name, address] of names.accounts) this.names.set(address, name);
  }

  override get markets(): readonly string[] {
    return this.#names.markets;
  }

  override addressOf(account: string): string {
    return this.#names.accounts.get(account) ?? super.addressOf(account);
  }
}

/** Stands for the scenario of a venue that runs none. */
const NO_SCENARIO: Scenario = {
  name: "history",
  place: { file: "history", line: 1, column: 1 },
  seed: "history",
  clock: 0 as Scenario["clock"],
  settlement: "instant",
  balances: "optimistic",
  world: null,
  markets: [],
  accounts: [],
  steps: [],
};

/** A command that a scenario can expect to be accepted. */
type RefusedCommand = Extract<Command, { readonly kind: "placeOrder" | "cancelOrder" }>;

/** A request at the end of a history that should not have been refused. */
export interface HistoryRefusal {
  readonly names: HistoryNames;
  readonly refused: RefusedEntry;
  /** Command of the request. */
  readonly command: RefusedCommand;
}

/**
 * Applies commands, and checks that a request after them is refused with the same code under the same conditions as in
 * the whole history. It will then be accepted when the cause of that code is fixed.
 */
export class RefusalTrial extends HistoryTrial {
  readonly #refusal: HistoryRefusal;
  /** The request, as the last command. */
  #traced: TracedCommand;
  /** Conditions in the whole history; null before the first run. */
  #conditions: string | null = null;

  constructor(settings: TrialSettings, refusal: HistoryRefusal) {
    super(settings);
    this.#refusal = refusal;
    const { command, refused } = refusal;
    const before = { hasExpiries: false, faults: [], orders: settings.history.orders.size };
    this.#traced = {
      sequence: refused.sequence + 1,
      at: refused.at,
      command,
      events: [],
      placed: null,
      before,
    };
  }

  get names(): HistoryNames {
    return this.#refusal.names;
  }

  get traced(): TracedCommand {
    return this.#traced;
  }

  protected async failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]> {
    const { names, refused, command } = this.#refusal;
    const remapper = this.open();
    const done = this.apply(remapper, trace);
    const { exchange } = remapper;
    exchange.advanceTo(this.#traced.at);
    const remapped = remapper.remap(this.#traced) as RefusedCommand | null;
    if (remapped === null) return [];
    const decision = decide(exchange.state, { at: this.#traced.at, command: remapped });
    const conditions = conditionsOf(exchange.state, remapped);
    this.#conditions ??= conditions;
    if (decision.ok || conditions !== this.#conditions) return [];
    const view = { state: exchange.state, numbers: numbersAs("number") };
    const refusal = refusedBy(refusalError(decision.refusal, view));
    if (refusal.code !== refused.request.code) return [];
    const failure = { message: `refused: ${refusedText(refusal)}`, diff: [] };
    const text = `${names.accountOf(command.address)}:`;
    return [{ fingerprint: fingerprintOf({ ...failure, text }), trace: done }];
  }

  /** Removes the time between commands where the failure does not depend on it. */
  async withoutWaiting(few: FailingTrace, start: Millis): Promise<FailingTrace> {
    let best = few;
    for (let index = 0; index < best.trace.length; index += 1) {
      const at = best.trace[index - 1]?.at ?? start;
      const trace = best.trace.map((traced, other) => (other === index ? { ...traced, at } : traced));
      best = (await this.sameFailure(trace, few.fingerprint)) ?? best;
    }
    const before = this.#traced;
    this.#traced = { ...before, at: best.trace.at(-1)?.at ?? start };
    if ((await this.sameFailure(best.trace, few.fingerprint)) === null) this.#traced = before;
    return best;
  }
}

/** Returns the market's status and whether the account can pay for an order; for a cancel, the order's status. */
function conditionsOf(state: State, command: RefusedCommand): string {
  if (command.kind === "cancelOrder") {
    return state.orders.find(numberOf(state.idPrefixes.order, command.orderId))?.status ?? "unknown";
  }
  const token = state.tokenById.get(command.tokenId) ?? 0;
  const market = state.markets.find(marketOfToken(token));
  if (market === undefined) return "unknown";
  const required = reservationOf(command, command.size, market.feeRateBps);
  const order = { side: command.side, token };
  const account = findAccount(state, command.address);
  const isCovered = shortfallOf(account, market, order, required, state.config.balances) === null;
  return `${market.status} ${isCovered}`;
}
