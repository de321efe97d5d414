import { parseDocument, stringify } from "yaml";
import { isCausedByTime } from "../../core/commands.ts";
import { listed } from "../../core/format.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import { type ExchangeConfig, FEES, type State } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import { Declarations } from "../../scenario/language/declarations.ts";
import { type Expectation, readExpectations } from "../../scenario/language/expectations.ts";
import { attempt } from "../../scenario/language/page.ts";
import { type Problem, ProblemList } from "../../scenario/language/problem.ts";
import { ScenarioFiles } from "../../scenario/language/scenario-files.ts";
import type { Session } from "../record/record-session.ts";
import { map, moment, type Step, scenarioText } from "../scenario-text.ts";
import { faultedOrder, type TracedCommand, traceCommands } from "../trace.ts";
import {
  AccountNames,
  addressIn,
  Funds,
  freeName,
  MAX_NAME_LENGTH,
  marketEntries,
  type TouchedMarket,
  touchedMarkets,
  Vocabulary,
} from "../vocabulary.ts";
import type { FailureFingerprint } from "./trial.ts";

const ORDER = /^o([1-9]\d{0,15})$/;
const SHOWN_DIGITS = 10;
const LONG_WORD = new RegExp(`[\\w-]{${MAX_NAME_LENGTH + 1},}`, "g");

/** Names in an expectation of a session: those of markets and accounts as in a recorded session, of orders as `o12`. */
export class HistoryNames {
  /** Addresses by name. */
  readonly accounts: ReadonlyMap<string, Address>;
  /** Markets with events in the session; all if there are none. */
  readonly markets: readonly string[];
  /** Names of all markets by number. */
  readonly marketNames: ReadonlyMap<number, string>;
  /** Numbers of the first and last order of the session. */
  readonly orders: readonly [first: number, last: number];
  /** Last sequence before the session. */
  readonly sequenceBefore: number;
  readonly #actors: readonly string[];
  readonly #names: ReadonlyMap<Address, string>;
  /** Names of markets by their slugs. */
  readonly #marketOfSlug: ReadonlyMap<string, string>;

  constructor({ open, entries, devAccounts }: Pick<Session, "open" | "entries" | "devAccounts">) {
    const exchange = open();
    this.sequenceBefore = exchange.sequence;
    const session = runSteps(traceCommands(exchange, entries));
    const { opening, end } = session;
    const accountNames = new AccountNames(session, devAccounts);
    const touched = touchedMarkets(session, accountNames.actors);
    const names = new Map(touched.map(({ number, name }) => [number, name]));
    const taken = new Set(names.values());
    for (const { number, slug } of end.markets) {
      if (names.has(number)) continue;
      const name = freeName(slug, taken);
      names.set(number, name);
      taken.add(name);
    }
    this.marketNames = names;
    this.#marketOfSlug = new Map(
      Array.from(end.markets, ({ number, slug }) => [slug, names.get(number) ?? slug]),
    );
    this.markets = touched.length > 0 ? touched.map(({ name }) => name) : [...names.values()];
    const customers = [...end.accounts].filter(({ number }) => number > FEES);
    this.accounts = new Map(customers.map(({ number, address }) => [accountNames.nameOf(number), address]));
    this.#names = new Map(customers.map(({ number, address }) => [address, accountNames.nameOf(number)]));
    this.#actors = accountNames.actors
      .filter((number) => number > FEES)
      .map((number) => accountNames.nameOf(number));
    this.orders = [opening.orders.size + 1, end.orders.size];
  }

  /** Returns the name of an account; null if the session does not have it. */
  accountOf(address: Address): string | null {
    return this.#names.get(address) ?? null;
  }

  /** Replaces the slugs of markets that are longer than a name in a scenario. */
  withoutLongSlugs(text: string): string {
    return text.replace(LONG_WORD, (word) => this.#marketOfSlug.get(word) ?? word);
  }

  /** Yields the names of the session's orders. */
  *orderNames(): Generator<string> {
    const [first, last] = this.orders;
    for (let number = first; number <= last; number += 1) yield orderName(number);
  }

  /** All names as text, a line for each kind. */
  get lines(): readonly string[] {
    const [first, last] = this.orders;
    return [
      `accounts: ${listed(this.#actors.map((name) => this.#accountText(name)))}`,
      `markets: ${listed(this.markets)}`,
      `orders: ${last < first ? "none" : `${orderName(first)} to ${orderName(last)}, by their numbers in the journal`}`,
    ];
  }

  /** Returns lines about the accounts and orders that are named in a text. */
  linesFor(text: string): readonly string[] {
    const words = new Set(text.match(/[A-Za-z][\w-]*/g));
    const accounts = [...this.accounts.keys()].filter((name) => words.has(name));
    const orders = [...words].filter((word) => orderNumber(word) !== null);
    return [
      ...(accounts.length === 0
        ? []
        : [`accounts: ${listed(accounts.map((name) => this.#accountText(name)))}`]),
      ...(orders.length === 0 ? [] : [`orders: ${listed(orders)}, by their numbers in the journal`]),
    ];
  }

  #accountText(name: string): string {
    return `${name} (${(this.accounts.get(name) ?? "").slice(0, SHOWN_DIGITS)})`;
  }
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
    const root = files.open(text);
    const declared = new Declarations(new Set(names.markets), new Set(names.accounts.keys()));
    for (const name of names.orderNames()) declared.orders.set(name, "GTC");
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

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

/** Whether funds that accounts get before they act are in the header, or all funds in steps. */
export type FundingStyle = "header" | "steps";

/** Commands to write as a scenario. */
export interface TraceToWrite {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly trace: readonly TracedCommand[];
  /** State at the end of the whole history. */
  readonly history: State;
  readonly fingerprint: FailureFingerprint;
  /** Number of commands in the history. */
  readonly count: number;
  readonly style: FundingStyle;
  /** The expectation that fails at the end, or the command that is refused there; null for another failure. */
  readonly expected: HistoryExpectation | RefusedAtEnd | null;
}

/** A command that should be accepted, with the names of its history. */
interface RefusedAtEnd {
  readonly names: HistoryNames;
  readonly traced: TracedCommand;
}

/**
 * Writes commands of a history as a scenario, with markets and initial funds in the header. Funds include what the faucet
 * gave, and grants as shares of both outcomes. `unsupported` describes commands that no step can express.
 */
export function historyScenario(source: TraceToWrite) {
  const { config, start, trace, fingerprint, count, style, expected, history } = source;
  const all = expected !== null && "traced" in expected ? [...trace, expected.traced] : trace;
  const markets = marketsOf(source);
  const accounts = new Map<Address, string>();
  const orders = orderNames(source, all);
  const words = new Vocabulary(markets, history, {
    account: (address) => {
      const { size } = accounts;
      const inHistory = expected?.names.accountOf(address) ?? null;
      const name = accounts.get(address) ?? inHistory ?? NAMES[size] ?? `wallet-${size + 1}`;
      accounts.set(address, name);
      return name;
    },
    order: (number) => orders.get(number),
  });
  const funds = new Map<Address, Funds>();
  const acted = new Set<Address>();
  const unsupported = new Set<string>();
  const steps: Step[] = [];
  let now = start;
  const addStep = (at: Millis, step: Step | null): void => {
    if (at > now) steps.push([["at", moment(at)]]);
    now = at;
    if (step !== null) steps.push(step);
  };
  for (const traced of all) {
    const { at, command } = traced;
    const address = addressIn(command);
    const fundings = fundingsOf(traced, source, markets);
    if (address !== null && fundings !== null) {
      const name = words.accountAt(address);
      const initial = funds.get(address) ?? new Funds();
      const isInHeader = style === "header" && !acted.has(address);
      // The faucet gives only at the first derivation of credentials.
      const isRepeated = command.kind === "deriveCredentials" && funds.has(address);
      funds.set(address, initial);
      for (const [token, amount] of isRepeated ? [] : fundings) {
        if (isInHeader) initial.add(token, amount);
        else if (amount > 0) addStep(at, [[name, words.funding(token, amount)]]);
      }
      continue;
    }
    if (address !== null) acted.add(address);
    const step = words.step(traced);
    if (step === null && isCausedByTime(command)) addStep(at, null);
    else if (step !== null && "unsupported" in step) unsupported.add(step.unsupported);
    else if (step !== null) addStep(at, step);
  }
  if (expected !== null && "text" in expected) {
    const { names, expectations, text } = expected;
    for (const name of accountsIn(expectations)) words.accountAt(names.accounts.get(name) ?? name);
    steps.push([["expect", text]]);
  }
  const sentence = oneLine(fingerprint.sentence);
  const { seed, settlement, balances } = config;
  const text = scenarioText({
    remarks: [`Of a history of ${count} commands, these are enough to fail: ${sentence}.`],
    name: sentence,
    seed,
    clock: start,
    settlement,
    balances,
    markets: marketEntries(markets, []).entries,
    accounts: [...accounts].map(([address, name]) => [
      name,
      map(words.assets(funds.get(address) ?? new Funds())),
    ]),
    steps,
  });
  return { text, unsupported: [...unsupported] };
}

/** Returns what a command funds: micro-USDC if the token is 0, else size units; null if it is no funding. */
function fundingsOf(
  { command }: TracedCommand,
  { config, history }: TraceToWrite,
  markets: readonly TouchedMarket[],
): (readonly [token: number, amount: number])[] | null {
  if (command.kind !== "deriveCredentials" && command.kind !== "fundAccount") return null;
  const { collateral, everyMarket } = command.kind === "fundAccount" ? command : config.faucet;
  const single = (command.kind === "fundAccount" ? command.tokens : []).map(
    ({ tokenId, size }) => [history.tokenById.get(tokenId) ?? 0, size] as const,
  );
  const everywhere = markets.flatMap(({ number }) =>
    (["YES", "NO"] as const).map((outcome) => [tokenOf(number, outcome), everyMarket] as const),
  );
  const isThere = ([token]: readonly [number, number]): boolean =>
    markets.some(({ number }) => number === marketOfToken(token));
  return [[0, collateral], ...single.filter(isThere), ...everywhere];
}

/** Returns the markets that commands create, with their names in the scenario. */
function marketsOf({ trace, history, expected }: TraceToWrite): TouchedMarket[] {
  const names = new Set<string>();
  return trace.flatMap(({ events }) =>
    events.flatMap((event): TouchedMarket[] => {
      if (event.kind !== "marketCreated") return [];
      const name = expected?.names.marketNames.get(event.market) ?? freeName(event.slug, names);
      names.add(name);
      return [{ number: event.market, name, before: null, after: history.markets.get(event.market) }];
    }),
  );
}

/** Names the orders to which commands or expectations refer, by number. */
function orderNames(
  { trace, history, expected }: TraceToWrite,
  all: readonly TracedCommand[],
): Map<number, string> {
  const referenced = new Set<number | "next" | null>();
  for (const traced of all) {
    const { command } = traced;
    if (command.kind === "cancelOrder") referenced.add(numberOf(history.idPrefixes.order, command.orderId));
    if (command.kind === "setSettlementFault") referenced.add(faultedOrder(command.order ?? 0, traced));
  }
  if (expected !== null && "text" in expected) {
    for (const name of ordersIn(expected.expectations)) referenced.add(orderNumber(name));
  }
  const names = new Map<number, string>();
  for (const { placed } of trace) {
    if (placed === null || !referenced.has(placed.order)) continue;
    names.set(placed.order, expected === null ? `order-${names.size + 1}` : orderName(placed.order));
  }
  return names;
}

const MAX_TITLE_LENGTH = 150;

const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, MAX_TITLE_LENGTH);
