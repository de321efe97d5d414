import { anyOf, type OrderType, OUTCOMES } from "../../core/terms.ts";
import type { LineWords } from "./fields.ts";
import type { Word } from "./page.ts";
import type { TokenName } from "./parts.ts";

const MAX_LISTED = 5;
const SOMEBODY = "somebody";

/** Some names between commas, of many the first. */
function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** What a scenario has named up to some step; steps can speak only of that, else that is a problem. */
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

  /** Whether there is such a market; none given is right where there is but one. */
  hasMarket(name: string | null): boolean {
    if (this.markets === null) return true;
    return name === null ? this.markets.size === 1 : this.markets.has(name);
  }

  /** The market as a step keeps it: null where there is but one. */
  market(at: Word, name: string | null): string | null {
    if (this.hasMarket(name)) return this.markets?.size === 1 ? null : name;
    const markets = [...(this.markets ?? [])];
    if (name !== null) throw at.unknown("market", markets, null, name);
    const count = markets.length === 0 ? "there is none" : `there are ${listed(markets)}`;
    throw at.wrong(`expected the market to be named, for ${count}`);
  }

  /** Reads `in MARKET`, or nothing where there is but one; its problems stand at what follows, or at the end of the line. */
  marketOf(line: LineWords): string | null {
    const market = line.market();
    return this.market(market ?? line.peek() ?? line.end, market?.text ?? null);
  }

  /** The same as the last of a line. */
  lastMarketOf(line: LineWords): string | null {
    const market = line.market();
    line.requireEnd("in MARKET or the end of the line", ["in"]);
    return this.market(market ?? line.end, market?.text ?? null);
  }

  /** Reads `YES`, or `rain YES` where there are several markets. */
  tokenName(key: Word, others: readonly string[] = []): TokenName {
    const words = key.text.trim().split(/\s+/);
    const [first = "", second] = words;
    const outcome = OUTCOMES.find((known) => known === (second ?? first));
    if (outcome === undefined || words.length > 2) {
      const known = [...others, ...OUTCOMES];
      throw key.unexpected(`${anyOf(known)}, with the market before it where there are several`, known);
    }
    return { market: this.market(key, second === undefined ? null : first), outcome };
  }

  asset(key: Word): "USDC" | TokenName {
    return key.text === "USDC" ? "USDC" : this.tokenName(key, ["USDC"]);
  }

  account(word: Word): string {
    const name = word.textFor("the name of an account");
    if (this.accounts === null || this.accounts.has(name)) return name;
    throw word.unknown("account", this.accounts, this.accountsText);
  }

  /** A party of a trade: with a flow or a world others trade than the accounts of the scenario. `others` might be meant. */
  party(word: Word, name = word.text, what = "account", others: Iterable<string> = []): string {
    const isStranger = this.hasFlow || this.#hasWorld || name === SOMEBODY;
    if (isStranger || this.accounts === null || this.accounts.has(name)) return name;
    throw word.unknown(what, [...this.accounts, ...others], this.accountsText, name);
  }

  /** The accounts that there are, as a hint for whoever has named another. */
  get accountsText(): string {
    const names = [...(this.accounts ?? [])];
    if (names.length === 0) return "there are no accounts";
    return names.length === 1 ? `the only account is ${names[0]}` : `the accounts are ${listed(names)}`;
  }

  orderNamed(word: Word, text = word.text): string {
    const name = this.rounds.named(text);
    if (this.orders.has(name)) return name;
    throw word.unknown("order", this.orders.keys(), null, name);
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
