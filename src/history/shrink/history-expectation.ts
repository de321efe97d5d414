import { parseDocument, stringify } from "yaml";
import { FEES } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import { Declarations } from "../../scenario/language/declarations.ts";
import { type Expectation, readExpectations } from "../../scenario/language/expectations.ts";
import { attempt } from "../../scenario/language/page.ts";
import { type Problem, ProblemList } from "../../scenario/language/problem.ts";
import { ScenarioFiles } from "../../scenario/language/scenario-files.ts";
import type { Session } from "../record/record-session.ts";
import { traceOf } from "../trace.ts";
import { freeName, Parties, touchedMarkets } from "../vocabulary.ts";

const ORDER = /^o([1-9]\d{0,15})$/;
const SHOWN = 8;
const SHOWN_DIGITS = 10;

/**
 * How an expectation of a session speaks of its things: of markets and accounts as a recorded session does, of orders by
 * `o` and their number in the journal.
 */
export class HistoryNames {
  /** Addresses by name. */
  readonly accounts: ReadonlyMap<string, Address>;
  /** The markets that the session touched; all where it touched none. */
  readonly markets: readonly string[];
  /** The names of all markets by number. */
  readonly marketNames: ReadonlyMap<number, string>;
  /** Numbers of the session's first order and of its last. */
  readonly orders: readonly [first: number, last: number];
  /** The last sequence before the session. */
  readonly sequenceBefore: number;
  readonly #actors: readonly string[];
  readonly #names: ReadonlyMap<Address, string>;

  constructor({ open, entries, devAccounts }: Pick<Session, "open" | "entries" | "devAccounts">) {
    const exchange = open();
    this.sequenceBefore = exchange.sequence;
    const session = runSteps(traceOf(exchange, entries));
    const { opening, end } = session;
    const parties = new Parties(session, devAccounts);
    const touched = touchedMarkets(session, parties.actors);
    const names = new Map(touched.map(({ number, name }) => [number, name]));
    const taken = new Set(names.values());
    for (const { number, slug } of end.markets) {
      if (names.has(number)) continue;
      const name = freeName(slug, taken);
      names.set(number, name);
      taken.add(name);
    }
    this.marketNames = names;
    this.markets = touched.length > 0 ? touched.map(({ name }) => name) : [...names.values()];
    const customers = [...end.accounts].filter(({ number }) => number > FEES);
    this.accounts = new Map(customers.map(({ number, address }) => [parties.nameOf(number), address]));
    this.#names = new Map(customers.map(({ number, address }) => [address, parties.nameOf(number)]));
    this.#actors = parties.actors.filter((number) => number > FEES).map((number) => parties.nameOf(number));
    this.orders = [opening.orders.size + 1, end.orders.size];
  }

  /** What an account is called; null of one that the session did not have. */
  accountOf(address: Address): string | null {
    return this.#names.get(address) ?? null;
  }

  /** The names that may stand for orders. */
  *orderNames(): Generator<string> {
    const [first, last] = this.orders;
    for (let number = first; number <= last; number += 1) yield orderName(number);
  }

  /** All of them for a person, a line each kind. */
  get lines(): readonly string[] {
    const [first, last] = this.orders;
    return [
      `accounts: ${listed(this.#actors.map((name) => this.#accountText(name)))}`,
      `markets: ${listed(this.markets)}`,
      `orders: ${last < first ? "none" : `${orderName(first)} to ${orderName(last)}, by their numbers in the journal`}`,
    ];
  }

  /** Those that stand in a text, a sentence each. */
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

/** The number of the order that a name stands for, or null. */
export function orderNumber(name: string): number | null {
  const digits = ORDER.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

const listed = (names: readonly string[]): string =>
  names.length === 0
    ? "none"
    : names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "");

/** What must be true at the end of a history, in the scenario language. */
export interface HistoryExpectation {
  readonly names: HistoryNames;
  readonly expectations: readonly Expectation[];
  /** The same on one line, as it stands behind `expect:`. */
  readonly text: string;
}

const FLOW = { schema: "failsafe", collectionStyle: "flow", lineWidth: 0 } as const;
/** Expectations of a whole run: whatever is left out, they fail. */
const OF_ALL: ReadonlySet<Expectation["kind"]> = new Set(["golden", "stateHash"]);

/** Reads what stands behind `expect:` in a scenario, or says what is wrong with it; `label` is how problems name the text. */
export function readHistoryExpectation(
  label: string,
  text: string,
  names: HistoryNames,
): HistoryExpectation | { readonly problems: readonly Problem[] } {
  const problems = new ProblemList();
  const files = new ScenarioFiles(label, ".", problems);
  const expectations = attempt(() => {
    const root = files.open(text);
    const declared = new Declarations(new Set(names.markets), new Set(names.accounts.keys()));
    for (const name of names.orderNames()) declared.orders.set(name, "GTC");
    return readExpectations({ files, declared }, root);
  });
  const whole = expectations?.find(({ kind }) => OF_ALL.has(kind));
  if (whole !== undefined) {
    const message = `expected what a few steps can bring about, found ${whole.kind}: it is of everything`;
    problems.add({ place: whole.place, message, hint: null });
  }
  if (expectations !== undefined && problems.isEmpty) {
    const value: unknown = parseDocument(text, { schema: "failsafe" }).toJS();
    return { names, expectations, text: stringify(value, FLOW).trimEnd() };
  }
  return { problems: problems.inOrder(label) };
}

/** The names of the orders that expectations speak of. */
export const ordersIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "order" || each.kind === "settled") return [each.name];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { maker, isMakerOrder } }) => (isMakerOrder ? [maker] : []));
  });

/** The names of the accounts that expectations speak of. */
export const accountsIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "balance") return [each.account];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { taker, maker, isMakerOrder } }) =>
      isMakerOrder ? [taker] : [taker, maker],
    );
  });
