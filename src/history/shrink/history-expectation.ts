import { parseDocument, stringify } from "yaml";
import { listed } from "../../core/format.ts";
import { FEES } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import { Declarations } from "../../scenario/language/declarations.ts";
import { type Expectation, readExpectations } from "../../scenario/language/expectations.ts";
import { attempt } from "../../scenario/language/page.ts";
import { type Problem, ProblemList } from "../../scenario/language/problem.ts";
import { ScenarioFiles } from "../../scenario/language/scenario-files.ts";
import type { Session } from "../record/record-session.ts";
import { traceCommands } from "../trace.ts";
import { AccountNames, freeName, MAX_NAME_LENGTH, touchedMarkets } from "../vocabulary.ts";

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
