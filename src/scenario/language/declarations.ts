import type { CommandOf } from "../../core/commands.ts";
import { listed } from "../../core/format.ts";
import { anyOf, type OrderType, OUTCOMES, type Outcome } from "../../core/terms.ts";
import { type Money, price, type Size, size } from "../../core/units.ts";
import { isName, isPartyName, type LineWords, NAME_RULE } from "./fields.ts";
import type { Place, Word } from "./page.ts";

export type MarketRules = Pick<
  CommandOf<"createMarket">,
  "tickSize" | "minOrderSize" | "feeRateBps" | "matching" | "selfTrade"
>;

/** A market that the scenario declares; its name is its slug. */
export interface MarketTerms extends MarketRules {
  readonly name: string;
}

export interface AccountTerms {
  readonly name: string;
  readonly place: Place;
  readonly funding: readonly Funding[];
}

/** An outcome of a market; the market is null if the scenario has only one. */
export interface TokenName {
  readonly market: string | null;
  readonly outcome: Outcome;
}

/** Returns `YES`, or `rain YES` with a market. */
export const tokenText = ({ market, outcome }: TokenName): string =>
  market === null ? outcome : `${market} ${outcome}`;

export const assetText = (asset: "USDC" | TokenName): string => (asset === "USDC" ? asset : tokenText(asset));

/** USDC in micro-USDC, or shares in size units. */
export type Funding =
  | { readonly asset: "USDC"; readonly amount: Money }
  | { readonly asset: TokenName; readonly amount: Size };

/** Returns the market of a scenario that declares none, and the default terms of every market. */
export const defaultMarket = (): MarketTerms => ({
  name: "market",
  tickSize: price(100),
  minOrderSize: size(100),
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
});

/** The names that a scenario has declared before the step being read. A step that uses another name is a problem. */
export class Declarations {
  /** Null if unknown, because their declaration is wrong. */
  readonly markets: ReadonlySet<string> | null;
  readonly accounts: ReadonlySet<string> | null;
  /** The type of each named order; null for an order that must be refused. */
  readonly orders = new Map<string, OrderType | null>();
  readonly snapshots = new Set<string>();
  readonly rounds = new Rounds();
  /** Whether an order flow was read, which opens its own accounts. */
  hasFlow = false;
  readonly #hasWorld: boolean;

  constructor(markets: ReadonlySet<string> | null, accounts: ReadonlySet<string> | null, hasWorld = false) {
    this.markets = markets;
    this.accounts = accounts;
    this.#hasWorld = hasWorld;
  }

  /** Whether the market exists; null is valid if there is only one. */
  hasMarket(name: string | null): boolean {
    if (this.markets === null) return true;
    return name === null ? this.markets.size === 1 : this.markets.has(name);
  }

  /** Returns the market as a step stores it: null if there is only one. */
  market(at: Word, name: string | null, missing = "the name of a market"): string | null {
    if (this.hasMarket(name)) return this.markets?.size === 1 ? null : name;
    const markets = [...(this.markets ?? [])];
    if (name !== null) throw at.unknown("market", markets, null, name);
    const count = markets.length === 0 ? "there is none" : `there are ${listed(markets)}`;
    throw at.wrong(`expected ${missing}`, count);
  }

  /** Reads `in MARKET`, optional if there is only one market; if it is missing, the problem is at the next word. */
  marketOf(line: LineWords): string | null {
    const market = line.market();
    return this.market(market ?? line.peek() ?? line.end, market?.text ?? null, "in MARKET");
  }

  /** Reads the same at the end of a line. */
  lastMarketOf(line: LineWords): string | null {
    const market = line.market();
    line.requireEnd("in MARKET or the end of the line", ["in"]);
    return this.market(market ?? line.end, market?.text ?? null, "in MARKET");
  }

  /** Reads `YES`, or `rain YES` if there are several markets. */
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

  account(word: Word, name = word.textFor("the name of an account")): string {
    if (this.accounts === null || this.accounts.has(name)) return name;
    throw word.unknown("account", this.accounts, this.accountsText, name);
  }

  /** Reads an account that may be one of a flow, which is known only when the step runs. */
  accountOrStranger(word: Word, name?: string): string {
    return this.hasFlow && isPartyName(name ?? word.text) ? (name ?? word.text) : this.account(word, name);
  }

  /** Reads a party of a trade: any name with a flow or a world, else a declared account. */
  party(word: Word): string {
    return this.#mayBeParty(word.text) ? word.text : this.account(word);
  }

  /** Reads the account of a maker; its order could have been named instead. */
  makerAccount(word: Word, name: string): string {
    if (this.#mayBeParty(name) || this.accounts === null || this.accounts.has(name)) return name;
    this.#requireNotLater(word, name);
    const known = [...this.accounts, ...this.orders.keys()];
    throw word.unknown("account or order", known, this.accountsText, name);
  }

  #mayBeParty(name: string): boolean {
    return this.hasFlow || this.#hasWorld || name === "somebody";
  }

  /** Lists the accounts, as a hint for an unknown name. */
  get accountsText(): string {
    const names = [...(this.accounts ?? [])];
    if (names.length === 0) return "there are no accounts";
    return names.length === 1 ? `the only account is ${names[0]}` : `the accounts are ${listed(names)}`;
  }

  orderNamed(word: Word, text = word.text): string {
    const name = this.rounds.numbered(text);
    if (this.orders.has(name)) return name;
    this.#requireNotLater(word, text);
    throw word.unknown("order", this.orders.keys(), null, name);
  }

  /** Reports an order that a later line of the file names. */
  #requireNotLater(word: Word, text: string): void {
    const { page, at } = word;
    const later = isName(text.replaceAll("#", ""))
      ? page.text.slice(at).search(new RegExp(`\\sas ${text}(?![\\w#-])`))
      : -1;
    if (later < 0) return;
    const { line } = page.place(at + later);
    throw word.wrong(`order ${text} is used before it is placed`, `line ${line} places it`);
  }

  /** Declares an order; its type is null if it must be refused. */
  nameOrder(name: string, type: OrderType | null): void {
    this.orders.set(name, type);
    this.rounds.declare(`order ${name}`);
  }
}

/** The repeats that enclose a step, and the round of each. */
class Rounds {
  /** `round` from 1; `declared`: the latest round in which each name was declared. */
  readonly #repeats: { readonly times: number; round: number; readonly declared: Map<string, number> }[] = [];

  /** ` (round 2 of 3, round 4 of 20)`, the outermost first; empty outside a repeat. */
  get text(): string {
    if (this.#repeats.length === 0) return "";
    return ` (${this.#repeats.map(({ round, times }) => `round ${round} of ${times}`).join(", ")})`;
  }

  /** Replaces `#` in a name by the number of the round, counted through all enclosing repeats. */
  numbered(text: string): string {
    if (this.#repeats.length === 0 || !text.includes("#")) return text;
    const count = this.#repeats.reduce((before, { round, times }) => before * times + round - 1, 0);
    return text.replaceAll("#", String(count + 1));
  }

  /** Reads a name that may contain `#` in a repeat. */
  nameIn(word: Word): string {
    const name = this.numbered(word.textFor(NAME_RULE));
    if (name.includes("#"))
      throw word.wrong(
        `# in a name is the number of the round, found ${word.description} outside of a repeat`,
      );
    if (!isName(name)) throw word.unexpected(NAME_RULE);
    return name;
  }

  /** Whether a name may be declared again, because its declaration is from an earlier round. */
  mayRedeclare(name: string): boolean {
    return this.#repeats.some(({ round, declared }) => (declared.get(name) ?? round) < round);
  }

  declare(name: string): void {
    for (const { round, declared } of this.#repeats) declared.set(name, round);
  }

  /** Calls `read` for each round, until it returns false. */
  repeat(times: number, read: () => boolean): void {
    const repeat = { times, round: 1, declared: new Map<string, number>() };
    this.#repeats.push(repeat);
    while (repeat.round <= times && read()) repeat.round += 1;
    this.#repeats.pop();
  }
}
