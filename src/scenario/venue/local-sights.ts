import { type Numbers, numbersAs } from "../../api/decimals.ts";
import type { View } from "../../api/view.ts";
import { type SettlementStatus, tradeStatus } from "../../core/chain/settlement.ts";
import { idOf } from "../../core/ids.ts";
import { violations } from "../../core/invariants/invariants.ts";
import type { Market } from "../../core/market.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { FillWatcher } from "../watch/fill-watcher.ts";
import * as views from "./local-views.ts";
import type { Fill, Grid, OrderKey, OrderView, TokenRef } from "./venue.ts";
import { strangerName, type Wallets } from "./wallets.ts";

const NUMBERS: Numbers = numbersAs("number");

/** What a scenario can see of an exchange in this process. */
export class LocalSights {
  readonly exchange: Exchange;
  readonly markets: readonly string[];
  protected readonly wallets: Wallets;
  /** By address, in order of first act. */
  protected readonly names = new Map<string, string>();
  protected fillWatcher: FillWatcher | null = null;
  /** How many trades the world's history had. */
  readonly #tradesBefore: number;

  constructor(exchange: Exchange, wallets: Wallets) {
    this.exchange = exchange;
    this.wallets = wallets;
    this.markets = Array.from(this.state.markets, ({ slug }) => slug);
    this.#tradesBefore = this.state.trades.size;
  }

  get state(): State {
    return this.exchange.state;
  }

  get view(): View {
    return { state: this.state, numbers: NUMBERS };
  }

  get accounts(): readonly string[] {
    return [...this.names.values()];
  }

  now(): Millis {
    return this.exchange.now;
  }

  /** What an account is called here. */
  nameOf(account: number): string {
    const { address } = this.state.accounts.get(account);
    return this.names.get(address) ?? strangerName(address);
  }

  /** The id of a token; of an unknown one, its own words. */
  tokenId({ market, outcome }: { readonly market: string | null; readonly outcome: string }): string {
    const number = market === null ? 1 : this.state.marketBySlug.get(market);
    const tokens = number === undefined ? undefined : this.state.markets.find(number)?.tokenIds;
    const id = outcome === "YES" ? tokens?.[0] : outcome === "NO" ? tokens?.[1] : undefined;
    return id ?? (market === null ? outcome : `${outcome} in ${market}`);
  }

  order(key: OrderKey): OrderView {
    return views.orderView(this.state.orders.get(key as number));
  }

  explain(key: OrderKey): readonly string[] {
    return views.storyLines(this.view, this.state.orders.get(key as number));
  }

  idOf(key: OrderKey): string {
    return typeof key === "number" ? idOf(this.state.idPrefixes.order, key) : key;
  }

  fillCount(): number {
    return this.state.trades.size - this.#tradesBefore;
  }

  fills(from: number): readonly Fill[] {
    const fills: Fill[] = [];
    for (let number = this.#tradesBefore + from + 1; number < this.state.trades.next; number += 1) {
      fills.push(views.fill(this.state, number, (account) => this.nameOf(account)));
    }
    return fills;
  }

  settlementsOf(fills: readonly Fill[]): readonly SettlementStatus[] {
    const { state } = this;
    return fills.map(({ trade }) => tradeStatus(state, state.trades.get(trade as number)));
  }

  book({ market, outcome }: TokenRef) {
    return views.book(this.market(market), outcome);
  }

  holdings(account: string) {
    return views.holdings(this.state, findAccount(this.state, this.wallets.of(account).address));
  }

  quote({ market, outcome }: TokenRef) {
    return views.quote(this.market(market), outcome);
  }

  history({ market, outcome }: TokenRef) {
    return views.history(this.market(market), outcome);
  }

  isComplementary(market: string): boolean {
    return this.market(market).matching === "complementary";
  }

  gridOf(market: string): Grid {
    return this.market(market);
  }

  stateHash(): string {
    return this.exchange.hash;
  }

  watchFills(): void {
    this.fillWatcher ??= new FillWatcher(this.exchange, (account) => this.nameOf(account));
  }

  /** Whether a fill that was watched has broken a rule. */
  get hasBrokenFill(): boolean {
    return this.fillWatcher !== null && this.fillWatcher.broken !== null;
  }

  violations(): readonly string[] {
    const found = violations(this.state).map(({ name, differences }) => `${name}: ${differences.join("; ")}`);
    const broken = this.fillWatcher?.broken ?? null;
    return broken === null ? found : [...found, `${broken.name}: ${broken.text}`];
  }

  protected market(slug: string): Market {
    return this.state.markets.get(this.state.marketBySlug.get(slug) ?? 0);
  }
}
