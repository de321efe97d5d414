import type { OrderType } from "../../core/terms.ts";
import type { LineWords } from "./line-words.ts";
import { orOf, type Page, type TextNode } from "./page.ts";
import type { TokenName } from "./scenario.ts";
import { OUTCOMES } from "./vocabulary.ts";

const SHOWN = 5;
/** What a deployment's other traders are called. */
const SOMEBODY = "somebody";

/** Some names between commas, of many the first. */
function listed(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `${names.slice(0, SHOWN).join(", ")}${more}`;
}

/** What a scenario has named up to some step; steps can speak only of that. */
export class Declarations {
  /** Null while they cannot be known, because what declares them is wrong. */
  readonly markets: ReadonlySet<string> | null;
  readonly accounts: ReadonlySet<string> | null;
  /** The type of each named order; null where the order is to be refused. */
  readonly orders = new Map<string, OrderType | null>();
  readonly snapshots = new Set<string>();
  readonly rounds = new Rounds();
  /** Whether an order flow came, which opens accounts of its own. */
  hasFlow = false;
  readonly #hasWorld: boolean;

  constructor(markets: ReadonlySet<string> | null, accounts: ReadonlySet<string> | null, hasWorld = false) {
    this.markets = markets;
    this.accounts = accounts;
    this.#hasWorld = hasWorld;
  }

  /** Whether others trade than the accounts of the scenario: those of a flow, or of its world. */
  get hasStrangers(): boolean {
    return this.hasFlow || this.#hasWorld;
  }

  /** Whether there is such a market; none given is right where there is but one. */
  hasMarket(name: string | null): boolean {
    if (this.markets === null) return true;
    return name === null ? this.markets.size === 1 : this.markets.has(name);
  }

  /** The market as a step keeps it: null where there is but one. */
  marketName(name: string | null): string | null {
    return this.markets?.size === 1 ? null : name;
  }

  /** Notes that there is no such market, or that none is given though there are several. */
  noMarket(page: Page, at: number, name: string | null): null {
    const markets = this.markets ?? [];
    if (name !== null) return page.unknown(at, "market", name, markets);
    const names = [...markets];
    const count = names.length === 0 ? "there is none" : `there are ${listed(names)}`;
    return page.wrong(at, `expected the market to be named, for ${count}`);
  }

  /** Whether there is such an account; if not, that is a problem. */
  demandAccount(page: Page, at: number, name: string): boolean {
    if (this.accounts === null || this.accounts.has(name)) return true;
    page.unknown(at, "account", name, this.accounts, this.accountsText);
    return false;
  }

  /** Whether an account of that name can be a party of a trade; if not, that is a problem. `others` might be meant. */
  demandParty(
    page: Page,
    at: number,
    name: string,
    what = "account",
    others: Iterable<string> = [],
  ): boolean {
    const isStranger = this.hasStrangers || name === SOMEBODY;
    if (isStranger || this.accounts === null || this.accounts.has(name)) return true;
    page.unknown(at, what, name, [...this.accounts, ...others], this.accountsText);
    return false;
  }

  /** The accounts that there are, as a hint for whoever has named another. */
  get accountsText(): string {
    const names = [...(this.accounts ?? [])];
    if (names.length === 0) return "there are no accounts";
    return names.length === 1 ? `the only account is ${names[0]}` : `the accounts are ${listed(names)}`;
  }

  /** The name of an order that was given before; null with a problem when it was not. */
  orderNamed(page: Page, at: number, text: string): string | null {
    const name = this.rounds.named(text);
    return this.orders.has(name) ? name : page.unknown(at, "order", name, this.orders.keys());
  }

  /** Names an order, whose type is null where it is to be refused. */
  nameOrder(name: string, type: OrderType | null): void {
    this.orders.set(name, type);
    this.rounds.give(`order ${name}`);
  }

  /** Whether no order has a name, but for one of a round before. */
  isFree(name: string): boolean {
    return !this.orders.has(name) || this.rounds.mayGiveAgain(`order ${name}`);
  }
}

/** A repeat that is being read. */
interface Repeat {
  readonly times: number;
  /** From 1. */
  round: number;
  /** The round in which each name was given last. */
  readonly given: Map<string, number>;
}

/** The repeats around a step, and the round of each. */
export class Rounds {
  readonly #repeats: Repeat[] = [];

  /** `(round 2 of 3, round 4 of 20)`, the outer repeat first, after a blank; nothing outside of any. */
  get text(): string {
    if (this.#repeats.length === 0) return "";
    return ` (${this.#repeats.map(({ round, times }) => `round ${round} of ${times}`).join(", ")})`;
  }

  /** A name in which `#` stands for the round, counted on through the rounds of the repeats around; outside of any, as it is. */
  named(text: string): string {
    if (this.#repeats.length === 0 || !text.includes("#")) return text;
    const count = this.#repeats.reduce((before, { round, times }) => before * times + round - 1, 0);
    return text.replaceAll("#", String(count + 1));
  }

  /** Whether a name that was given before may be given again: it is that of a round before. */
  mayGiveAgain(name: string): boolean {
    return this.#repeats.some(({ round, given }) => (given.get(name) ?? round) < round);
  }

  /** Notes that a name is given. */
  give(name: string): void {
    for (const { round, given } of this.#repeats) given.set(name, round);
  }

  /** Reads what is repeated, round by round, until `read` answers that there is no more to be read. */
  repeat(times: number, read: () => boolean): void {
    const repeat: Repeat = { times, round: 1, given: new Map() };
    this.#repeats.push(repeat);
    while (repeat.round <= times && read()) repeat.round += 1;
    this.#repeats.pop();
  }
}

/** Reads `YES`, or `rain YES` where there are several markets. */
export function readTokenName(
  page: Page,
  key: TextNode,
  declared: Declarations,
  others: readonly string[] = [],
): TokenName | null {
  const words = key.value.trim().split(/\s+/);
  const [first = "", second] = words;
  const word = second ?? first;
  const outcome = OUTCOMES.find((known) => known === word);
  if (outcome === undefined || words.length > 2) {
    const known = [...others, ...OUTCOMES];
    return page.unexpected(
      key.start,
      `${orOf(known)}, with the market before it where there are several`,
      key.value,
      known,
    );
  }
  const market = second === undefined ? null : first;
  if (!declared.hasMarket(market)) return declared.noMarket(page, key.start, market);
  return { market: declared.marketName(market), outcome };
}

/** Reads `in MARKET`, or nothing where there is but one; undefined with a problem: no such market, or none named. */
export function readMarketWord(line: LineWords, declared: Declarations): string | null | undefined {
  const isNamed = line.takeIf("in") !== null;
  const word = isNamed ? line.take("a market after in") : line.peek();
  if (isNamed && word === null) return undefined;
  const name = isNamed ? (word?.text ?? null) : null;
  if (declared.hasMarket(name)) return declared.marketName(name);
  declared.noMarket(line.page, word?.at ?? line.end, name);
  return undefined;
}
