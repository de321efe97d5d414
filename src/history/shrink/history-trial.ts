import { numbersAs } from "../../api/decimals.ts";
import { refusalError } from "../../api/refusals.ts";
import type { Command } from "../../core/commands.ts";
import { decide } from "../../core/decide.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { violations } from "../../core/invariants/invariants.ts";
import { marketOfToken } from "../../core/market.ts";
import { reservationOf } from "../../core/order.ts";
import { shortfallOf } from "../../core/rules/ledger.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import type { Scenario } from "../../scenario/language/scenario.ts";
import { checkAll } from "../../scenario/run/expectations.ts";
import { failureMessage } from "../../scenario/run/run-scenario.ts";
import { RunStopped, ScenarioFailure, Session } from "../../scenario/run/session.ts";
import { refusedText } from "../../scenario/run/words.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { refusedBy } from "../../scenario/venue/views.ts";
import { Wallets } from "../../scenario/venue/wallets.ts";
import { Remapper, type TracedCommand } from "../trace.ts";
import { brokenInvariant, defectOf, type FailureFingerprint, fingerprintOf } from "./fingerprint.ts";
import { type HistoryExpectation, type HistoryNames, orderNumber, ordersIn } from "./history-expectation.ts";

/** How some commands fail. */
export interface FailingTrace {
  readonly fingerprint: FailureFingerprint;
  /** Those that did something, up to the one at which it fails. */
  readonly trace: readonly TracedCommand[];
}

/** What the commands of a history are tried with. */
export interface TrialSettings {
  /** A fresh exchange that stands where the history begins. */
  readonly open: () => Exchange;
  /** What is known at the end of the whole history. */
  readonly history: State;
  /** Whether the time is over. */
  readonly isOver: () => boolean;
}

/** So many commands are applied before somebody asks again whether the time is over. */
const COMMANDS_AT_ONCE = 256;

/** Tries commands on fresh exchanges. */
export abstract class HistoryTrial {
  readonly #settings: TrialSettings;

  constructor(settings: TrialSettings) {
    this.#settings = settings;
  }

  /** In which ways commands fail, of one moment; none when they do not. @throws RunStopped */
  protected abstract failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]>;

  /** How commands fail; null when they do not. @throws RunStopped */
  async first(trace: readonly TracedCommand[]): Promise<FailingTrace | null> {
    return (await this.failures(trace))[0] ?? null;
  }

  /** How commands fail in the same way; null when they do not. @throws RunStopped */
  async broken(trace: readonly TracedCommand[], { key }: FailureFingerprint): Promise<FailingTrace | null> {
    const failures = await this.failures(trace).catch((error: unknown) => {
      if (error instanceof RunStopped) throw error;
      // Some commands make no sense without others, or speak of what is not there.
      return [];
    });
    return failures.find(({ fingerprint }) => fingerprint.key === key) ?? null;
  }

  protected open(): Remapper {
    const { open, history } = this.#settings;
    return new Remapper(open(), history);
  }

  protected readonly stop = (): boolean => this.#settings.isOver();

  /** Applies commands one by one, adds those that did something to `done`, and answers the index of each. */
  protected *applying(
    remapper: Remapper,
    trace: readonly TracedCommand[],
    done: TracedCommand[],
  ): Generator<number, void> {
    for (const [index, traced] of trace.entries()) {
      if (index % COMMANDS_AT_ONCE === 0 && this.stop()) throw new RunStopped();
      if (remapper.apply(traced) === "done") done.push(traced);
      yield index;
    }
  }

  /** Applies commands; answers those that did something. */
  protected apply(remapper: Remapper, trace: readonly TracedCommand[]): TracedCommand[] {
    const done: TracedCommand[] = [];
    for (const _index of this.applying(remapper, trace, done));
    return done;
  }
}

/** Up to so many commands, the invariants are judged after each of them. */
const FEW = 256;
/** So often they are judged in a longer history, for each time costs as much as the state is large. */
const CHECKS = 8;
/** So often when nothing is found: what is broken may have mended itself. */
const MAX_CHECKS = 1_000;

/** Applies commands until something throws or invariants do not hold; of many, judged now and then. */
export class FailureTrial extends HistoryTrial {
  #checks = CHECKS;

  override async first(trace: readonly TracedCommand[]): Promise<FailingTrace | null> {
    const found = await super.first(trace);
    if (found !== null || trace.length <= FEW) return found;
    this.#checks = MAX_CHECKS;
    return super.first(trace);
  }

  protected async failures(trace: readonly TracedCommand[]): Promise<readonly FailingTrace[]> {
    const { length } = trace;
    const stride = length <= FEW ? 1 : Math.ceil(length / this.#checks);
    const remapper = this.open();
    const done: TracedCommand[] = [];
    let next = 0;
    try {
      for (const index of this.applying(remapper, trace, done)) {
        next = index + 1;
        if (next % stride !== 0 && next !== length) continue;
        const broken = violations(remapper.state);
        if (broken.length > 0)
          return broken.map(({ name }) => ({ fingerprint: brokenInvariant(name), trace: done }));
      }
      return [];
    } catch (error) {
      if (error instanceof RunStopped) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return [{ fingerprint: defectOf(message), trace: [...done, ...trace.slice(next, next + 1)] }];
    }
  }
}

/** Applies commands until an expectation does not hold at their end. */
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
    // Of a world's own trades, no recorded session tells.
    session.fillsRead = fillsBefore;
    for (const name of ordersIn(expectations)) {
      const key = orders.get(orderNumber(name) ?? 0);
      // Whatever the expectation says without it, no scenario could name it.
      if (key === undefined) throw new Error(`order ${name} was never placed`);
      const id = idOf(exchange.state.idPrefixes.order, key);
      session.placed(id, name, venue.nameOf(exchange.state.orders.get(key).account));
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

/** An exchange of which a history was applied, under the names of its accounts. */
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

/** What a venue that nobody opens for a scenario is opened for. */
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

/** A command of which a scenario can expect that it is accepted. */
type Asked = Extract<Command, { readonly kind: "placeOrder" | "cancelOrder" }>;

/** A request at the end of a history that should not have been refused. */
export interface HistoryRefusal {
  readonly names: HistoryNames;
  readonly refused: RefusedEntry;
  /** What it asked for. */
  readonly command: Asked;
}

/**
 * Applies commands, and tries at their end whether a request is refused with the same code, and nothing else keeps it from
 * being accepted that did not in the whole history: then it is accepted once that code is no more.
 */
export class RefusalTrial extends HistoryTrial {
  readonly #refusal: HistoryRefusal;
  /** The request, as the last command. */
  #traced: TracedCommand;
  /** What else decides about it, as it was in the whole history. */
  #circumstances: string | null = null;

  constructor(settings: TrialSettings, refusal: HistoryRefusal) {
    super(settings);
    this.#refusal = refusal;
    const { command, refused } = refusal;
    const before = { isTimed: false, faults: [], orders: settings.history.orders.size };
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
    const own = remapper.own(this.#traced) as Asked | null;
    if (own === null) return [];
    const decision = decide(exchange.state, { at: this.#traced.at, command: own });
    const circumstances = circumstancesOf(exchange.state, own);
    this.#circumstances ??= circumstances;
    if (decision.ok || circumstances !== this.#circumstances) return [];
    const view = { state: exchange.state, numbers: numbersAs("number") };
    const refusal = refusedBy(refusalError(decision.refusal, view));
    if (refusal.code !== refused.request.code) return [];
    const failure = { message: `refused: ${refusedText(refusal)}`, diff: [] };
    const text = `${names.accountOf(command.address)}:`;
    return [{ fingerprint: fingerprintOf({ ...failure, text }), trace: done }];
  }

  /** The same commands at once, one after the other, but where the time between them decides. */
  async withoutWaiting(few: FailingTrace, start: Millis): Promise<FailingTrace> {
    let best = few;
    for (let index = 0; index < best.trace.length; index += 1) {
      const at = best.trace[index - 1]?.at ?? start;
      const trace = best.trace.map((traced, place) => (place === index ? { ...traced, at } : traced));
      best = (await this.broken(trace, few.fingerprint)) ?? best;
    }
    const before = this.#traced;
    this.#traced = { ...before, at: best.trace.at(-1)?.at ?? start };
    if ((await this.broken(best.trace, few.fingerprint)) === null) this.#traced = before;
    return best;
  }
}

/** Whether what an order is for is open and its account can pay, or how the order stands that is to be canceled. */
function circumstancesOf(state: State, command: Asked): string {
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
