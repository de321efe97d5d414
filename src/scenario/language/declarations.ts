import type { OrderType } from "../../core/terms.ts";
import type { Page } from "./page.ts";
import { Rounds } from "./rounds.ts";

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
