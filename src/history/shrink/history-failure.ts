import { parseDocument, stringify } from "yaml";
import { refusalError } from "../../api/refusals.ts";
import { numbersAs } from "../../api/view.ts";
import type { Command } from "../../core/commands.ts";
import { addressText, listed } from "../../core/format.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { violations } from "../../core/invariants.ts";
import { marketOfToken } from "../../core/market.ts";
import { reservationOf } from "../../core/order.ts";
import { shortfallOf } from "../../core/rules/ledger.ts";
import { decide } from "../../core/rules/rules.ts";
import { FEES, findAccount, type State } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Accepted } from "../../engine/journal.ts";
import { Declarations } from "../../scenario/language/declarations.ts";
import { type Expectation, readExpectations } from "../../scenario/language/expectations.ts";
import { MAX_NAME_LENGTH } from "../../scenario/language/fields.ts";
import { attempt, type Problem, ProblemList } from "../../scenario/language/page.ts";
import { ScenarioFiles } from "../../scenario/language/scenario-files.ts";
import { checkAll } from "../../scenario/run/expectations.ts";
import { fillLike, tradeText } from "../../scenario/run/format.ts";
import { RunStopped, ScenarioFailure, Session } from "../../scenario/run/session.ts";
import { LocalVenue } from "../../scenario/venue/local-venue.ts";
import { refusedBy } from "../../scenario/venue/views.ts";
import { FillWatcher } from "../../scenario/watch/fill-watcher.ts";
import type { RecordedSession } from "../record/record-session.ts";
import { Remapper, type TracedCommand, traceCommands } from "../trace.ts";
import { accountNames, touchedMarkets, uniqueMarketName } from "../vocabulary.ts";
import {
  defectFingerprint,
  type FailureFingerprint,
  fingerprintOf,
  invariantFingerprint,
  refusalFingerprint,
} from "./trial.ts";

const ORDER = /^o([1-9]\d{0,15})$/;
const LONG_WORD = new RegExp(`[\\w-]{${MAX_NAME_LENGTH + 1},}`, "g");

export type HistoryNames = ReturnType<typeof historyNames>;

/** Returns the names in an expectation of a session: those of markets and accounts as in a recorded session, of orders as `o12`. */
export function historyNames(recorded: Pick<RecordedSession, "open" | "entries" | "devAccounts">) {
  const { open, entries, devAccounts } = recorded;
  const exchange = open();
  const sequenceBefore = exchange.sequence;
  const session = runSteps(traceCommands(exchange, entries));
  const { opening, end } = session;
  const { actors, nameOf } = accountNames(session, devAccounts);
  const touched = touchedMarkets(session, actors);
  const marketNames = new Map(touched.map(({ number, name }) => [number, name]));
  const taken = new Set(marketNames.values());
  const nameOfSlug = new Map<string, string>();
  for (const { number, slug } of end.markets) {
    const name = marketNames.get(number) ?? uniqueMarketName(slug, taken);
    marketNames.set(number, name);
    nameOfSlug.set(slug, name);
  }
  const markets = touched.length > 0 ? touched.map(({ name }) => name) : [...marketNames.values()];
  const customers = [...end.accounts].filter(({ number }) => number > FEES);
  const accounts = new Map(customers.map(({ number, address }) => [nameOf(number), address]));
  const names = new Map(customers.map(({ number, address }) => [address, nameOf(number)]));
  const { size: before } = opening.orders;
  const orders = Array.from({ length: end.orders.size - before }, (_, index) =>
    orderName(before + 1 + index),
  );
  const range = orders.length === 1 ? orders[0] : `${orders[0]} to ${orders.at(-1)}`;
  const accountLine = (shown: readonly string[]): string =>
    `accounts: ${listed(shown.map((name) => `${name} (${addressText(accounts.get(name) ?? "")})`))}`;
  return {
    /** Addresses by name. */
    accounts,
    /** Markets with events in the session; all if there are none. */
    markets,
    /** Names of all markets by number. */
    marketNames,
    /** Names of the session's orders. */
    orders,
    /** Last sequence before the session. */
    sequenceBefore,
    /** Returns the name of an account; null if the session does not have it. */
    accountOf: (address: Address): string | null => names.get(address) ?? null,
    /** Replaces the slugs of markets that are longer than a name in a scenario. */
    withoutLongSlugs: (text: string): string =>
      text.replace(LONG_WORD, (word) => nameOfSlug.get(word) ?? word),
    /** All names as text, a line for each kind. */
    lines: [
      accountLine(actors.filter((number) => number > FEES).map(nameOf)),
      `markets: ${listed(markets)}`,
      `orders: ${orders.length === 0 ? "none" : `${range}, by their numbers in the journal`}`,
    ],
    /** Returns lines about the accounts and orders that are named in a text. */
    linesFor: (text: string): readonly string[] => {
      const words = new Set(text.match(/[A-Za-z][\w-]*/g));
      const shown = [...accounts.keys()].filter((name) => words.has(name));
      const ordered = [...words].filter((word) => orderNumber(word) !== null);
      return [
        ...(shown.length === 0 ? [] : [accountLine(shown)]),
        ...(ordered.length === 0 ? [] : [`orders: ${listed(ordered)}, by their numbers in the journal`]),
      ];
    },
  };
}

export const orderName = (number: number): string => `o${number}`;

/** Returns the number of the order with a name; null if it is no such name. */
export function orderNumber(name: string): number | null {
  const digits = ORDER.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Expectations at the end of a history, in the scenario language. */
export interface HistoryExpectation {
  readonly names: HistoryNames;
  readonly expectations: readonly Expectation[];
  /** The same on one line, as after `expect:`. */
  readonly text: string;
}

const FLOW = { schema: "failsafe", collectionStyle: "flow", lineWidth: 0 } as const;
/** Expectations about a whole run, which fail whatever is left out. */
const WHOLE_RUN: ReadonlySet<Expectation["kind"]> = new Set(["golden", "stateHash"]);

/** Reads expectations, written as after `expect:`. `label` is the name of the text in problems. */
export function readHistoryExpectation(
  label: string,
  given: string,
  names: HistoryNames,
): HistoryExpectation | { readonly problems: readonly Problem[] } {
  const text = names.withoutLongSlugs(given);
  const problems = new ProblemList();
  const files = new ScenarioFiles(label, ".", problems);
  const expectations = attempt(() => {
    const root = files.open({ text, problem: null });
    const declared = new Declarations(new Set(names.markets), new Set(names.accounts.keys()));
    for (const name of names.orders) declared.orders.set(name, "GTC");
    return readExpectations({ files, declared }, root);
  });
  const whole = expectations?.find(({ kind }) => WHOLE_RUN.has(kind));
  if (whole !== undefined) {
    const message = `expected an expectation that a few steps can meet, found ${whole.kind}, which is about the whole run`;
    problems.add({ place: whole.place, message, hint: null });
  }
  if (expectations !== undefined && problems.isEmpty) {
    const value: unknown = parseDocument(text, { schema: "failsafe" }).toJS();
    return { names, expectations, text: stringify(value, FLOW).trimEnd() };
  }
  return { problems: problems.inOrder(label) };
}

/** Returns the names of the orders in expectations. */
export const ordersIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "order" || each.kind === "settled") return [each.name];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { maker, isMakerOrder } }) => (isMakerOrder ? [maker] : []));
  });

/** Returns the names of the accounts in expectations. */
export const accountsIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "balance") return [each.account];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { taker, maker, isMakerOrder } }) =>
      isMakerOrder ? [taker] : [taker, maker],
    );
  });

/** A command that a scenario can expect to be accepted. */
type RefusedCommand = Extract<Command, { readonly kind: "placeOrder" | "cancelOrder" }>;

/** A request at the end of a history that should not have been refused. */
export interface HistoryRefusal extends Pick<Accepted, "sequence" | "at"> {
  readonly names: HistoryNames;
  readonly command: RefusedCommand;
  /** Error code with which it was refused. */
  readonly code: string;
}

/** No scenario can express the failure of a history; the message is a sentence for the user. */
export class HistoryNotExpressible extends Error {
  override readonly name = "HistoryNotExpressible";
}

export interface FailingTrace {
  readonly fingerprint: FailureFingerprint;
  /** Those with an effect, up to the one that fails. */
  readonly trace: readonly TracedCommand[];
  /** Trades of the commands before the session; none if the failure does not depend on whose trades they are. */
  readonly tradesBefore?: readonly string[];
}

/** Applies commands to a new exchange and returns all failures at the first that fails. @throws RunStopped */
export type HistoryTrial = (trace: readonly TracedCommand[]) => Promise<readonly FailingTrace[]>;

interface TrialSettings {
  /** Returns a new exchange in the state before the history. */
  readonly open: () => Exchange;
  /** State at the end of the whole history. */
  readonly history: State;
  readonly isOver: () => boolean;
}

/** Applies commands and returns the failure with a fingerprint; null if there is none. @throws RunStopped */
export async function sameFailure(
  trial: HistoryTrial,
  trace: readonly TracedCommand[],
  { key }: FailureFingerprint,
): Promise<FailingTrace | null> {
  const failures = await trial(trace).catch((error: unknown) => {
    if (error instanceof RunStopped) throw error;
    // Commands may depend on others that were left out.
    return [];
  });
  return failures.find(({ fingerprint }) => fingerprint.key === key) ?? null;
}

/** Number of commands applied between two checks whether the time is up. */
const COMMANDS_PER_CHECK = 256;

/** Applies commands one by one, adds those with an effect to `done`, and yields the number of applied ones after each. */
function* applying(
  remapper: Remapper,
  trace: readonly TracedCommand[],
  done: TracedCommand[],
  isOver: () => boolean,
): Generator<number, void> {
  for (const [index, traced] of trace.entries()) {
    if (index % COMMANDS_PER_CHECK === 0 && isOver()) throw new RunStopped();
    if (remapper.apply(traced)) done.push(traced);
    yield index + 1;
  }
}

/** Maximum number of commands for which the invariants are checked after each. */
const MAX_CHECKED_EACH = 256;
/** Number of checks in a longer history, because a check takes time proportional to the state. */
const CHECKS = 8;
/** Number of checks if the first run finds nothing with those: a broken invariant may hold again later. */
const MAX_CHECKS = 1_000;

/** Applies commands until one throws, or invariants or the rules of matching do not hold. */
export function breakingTrial({ open, history, isOver }: TrialSettings): HistoryTrial {
  let checks = CHECKS;
  let isFirst = true;
  const failures = (trace: readonly TracedCommand[]): readonly FailingTrace[] => {
    const { length } = trace;
    const stride = length <= MAX_CHECKED_EACH ? 1 : Math.ceil(length / checks);
    const remapper = new Remapper(open(), history);
    const watcher = new FillWatcher(remapper.exchange, String);
    const done: TracedCommand[] = [];
    let applied = 0;
    try {
      for (applied of applying(remapper, trace, done, isOver)) {
        if (watcher.broken === null && applied % stride !== 0 && applied !== length) continue;
        const broken = [...violations(remapper.state), ...(watcher.broken === null ? [] : [watcher.broken])];
        if (broken.length > 0)
          return broken.map(({ name }) => ({ fingerprint: invariantFingerprint(name), trace: done }));
      }
      return [];
    } catch (error) {
      if (error instanceof RunStopped) throw error;
      const message = error instanceof Error ? error.message : String(error);
      const fingerprint = defectFingerprint(message);
      return [{ fingerprint, trace: [...done, ...trace.slice(applied, applied + 1)] }];
    }
  };
  return async (trace) => {
    const found = failures(trace);
    const isMissed = isFirst && found.length === 0 && trace.length > MAX_CHECKED_EACH;
    isFirst = false;
    if (!isMissed) return found;
    checks = MAX_CHECKS;
    return failures(trace);
  };
}

/** Applies commands, and checks expectations after the last. */
export function expectationTrial(
  { open, history, isOver: stop }: TrialSettings,
  { names, expectations }: HistoryExpectation,
): HistoryTrial {
  return async (trace) => {
    const remapper = new Remapper(open(), history);
    const { exchange, orders } = remapper;
    const venue = new HistoryVenue(exchange, names);
    const done: TracedCommand[] = [];
    let fillsBefore = venue.fillCount();
    for (const applied of applying(remapper, trace, done, stop)) {
      if ((trace[applied - 1]?.sequence ?? 0) <= names.sequenceBefore) fillsBefore = venue.fillCount();
    }
    venue.nameMarkets();
    const scenario = { name: "history", seed: "history", steps: [] };
    const session = new Session(scenario, venue, { checks: null, stop });
    // Expectations do not include trades of the opening.
    session.fillsRead = fillsBefore;
    for (const name of ordersIn(expectations)) {
      const number = orders.get(orderNumber(name) ?? 0);
      // Without the order, a scenario could not refer to it.
      if (number === undefined) {
        const why = "for example because wallets chose nonces and fees, which no step can express";
        throw new HistoryNotExpressible(`a scenario of this history would not place order ${name}, ${why}`);
      }
      const id = idOf(exchange.state.idPrefixes.order, number);
      session.placed(id, name, venue.nameOf(exchange.state.orders.get(number).account));
    }
    try {
      await checkAll(session, expectations);
      return [];
    } catch (error) {
      if (!(error instanceof ScenarioFailure)) throw error;
      const hasTrades = expectations.some(({ kind }) => kind === "trades");
      const before = hasTrades ? venue.fills(0).slice(0, fillsBefore) : [];
      const isAlone = venue.markets.length === 1;
      const tradesBefore = before.map((fill) => tradeText(fillLike(fill, undefined, isAlone)));
      return [{ fingerprint: fingerprintOf(error.mismatches), trace: done, tradesBefore }];
    }
  };
}

/** An exchange with a history, which knows its accounts by name. */
class HistoryVenue extends LocalVenue {
  readonly #names: HistoryNames;

  constructor(exchange: Exchange, names: HistoryNames) {
    super(exchange);
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

/**
 * Applies commands, and checks that a request after them is refused with the same code under the same conditions as in
 * the whole history, which is tried first. It will then be accepted when the cause of that code is fixed.
 */
export function refusalTrial(
  { open, history, isOver }: TrialSettings,
  { names, sequence, at, command, code }: HistoryRefusal,
) {
  const before = { hasExpiries: false, faults: [], orders: history.orders.size };
  /** The request; its time may be changed. */
  const request = { sequence: sequence + 1, at, command, events: [], placed: null, before, reverts: false };
  /** Conditions in the whole history; null before the first run. */
  let wanted: string | null = null;
  const trial: HistoryTrial = async (trace) => {
    const remapper = new Remapper(open(), history);
    const done: TracedCommand[] = [];
    for (const _applied of applying(remapper, trace, done, isOver));
    const { exchange } = remapper;
    exchange.advanceTo(request.at);
    const remapped = remapper.remap(request) as RefusedCommand | null;
    if (remapped === null) return [];
    const { state } = exchange;
    const decision = decide(state, { at: request.at, command: remapped });
    const conditions = conditionsOf(state, remapped);
    wanted ??= conditions;
    if (decision.ok || conditions !== wanted) return [];
    const refusal = refusedBy(refusalError(decision.refusal, { state, numbers: numbersAs("number") }));
    if (refusal.code !== code) return [];
    const fingerprint = refusalFingerprint(`${names.accountOf(command.address)}`, refusal);
    return [{ fingerprint, trace: done }];
  };
  return { trial, request };
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
