import type { OrderType } from "../../core/commands.ts";
import type { Page } from "./page.ts";

const SHOWN = 5;

/** What a scenario has named up to some step; steps can speak only of that. */
export class Declarations {
  /** Null while they cannot be known, because what declares them is wrong. */
  readonly markets: ReadonlySet<string> | null;
  readonly accounts: ReadonlySet<string> | null;
  /** The type of each named order; null where the order is to be refused. */
  readonly orders = new Map<string, OrderType | null>();
  readonly snapshots = new Set<string>();
  /** Whether an order flow came, which opens accounts of its own. */
  hasFlow = false;

  constructor(markets: ReadonlySet<string> | null, accounts: ReadonlySet<string> | null) {
    this.markets = markets;
    this.accounts = accounts;
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
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
    const count =
      names.length === 0 ? "there is none" : `there are ${names.slice(0, SHOWN).join(", ")}${more}`;
    return page.wrong(at, `expected the market to be named, for ${count}`);
  }

  /** Whether there is such an account; if not, that is a problem. */
  demandAccount(page: Page, at: number, name: string): boolean {
    if (this.accounts === null || this.accounts.has(name)) return true;
    page.unknown(at, "account", name, this.accounts);
    return false;
  }

  /** Whether an order was named so before; if not, that is a problem. */
  demandOrder(page: Page, at: number, name: string): boolean {
    if (this.orders.has(name)) return true;
    page.unknown(at, "order", name, this.orders.keys());
    return false;
  }
}
