import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError } from "../../api/errors.ts";
import { marketReply } from "../../api/markets.ts";
import { sidesOf } from "../../api/order-book.ts";
import { orderReply, tradeReply } from "../../api/trading.ts";
import type { View } from "../../api/view.ts";
import { botsOf } from "../../bots/bot.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { invariants, violations } from "../../core/invariants.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { type CalledService, callHandler, type DirectCall } from "../../server/router.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { MarketTerms } from "../language/declarations.ts";
import { FillWatcher } from "../watch/fill-watcher.ts";
import { type ExecuteRow, playFlow, type RowCheck } from "./play-flow.ts";
import { marketCommand, SCENARIO_EVENT, Venue, type Wallet, type Wallets } from "./venue.ts";
import {
  type Attempt,
  type BookView,
  type Checks,
  type Expired,
  type Fill,
  fillOf,
  type MaybePromise,
  type OrderView,
  orderView,
  refusedBy,
  type TokenRef,
  VenueError,
} from "./views.ts";

/** Minimum number of rows of a flow between two checks. */
const MIN_ROWS = 100;
/** A check of all invariants visits every record, so its interval grows with the number of records. */
const ROWS_PER_RECORD = 8;
const NOTHING: readonly string[] = [];

export function createMarkets(exchange: Exchange, markets: readonly MarketTerms[]): void {
  if (markets.length === 0) return;
  exchange.submit(SCENARIO_EVENT);
  for (const terms of markets) exchange.submit(marketCommand(terms, exchange.state.events.size));
}

/**
 * An exchange in this process, which requests reach in one way or another. What a scenario expects is read from the
 * exchange itself: all trades and owners are known, and no injected fault applies.
 */
export abstract class ExchangeVenue extends Venue {
  readonly exchange: Exchange;
  readonly #service: CalledService;
  readonly #wallets: Wallets;
  /** Number of trades in the world's history. */
  readonly #tradesBefore: number;
  /** Names of accounts by address. */
  protected readonly names = new Map<string, string>();
  #botNames: ReadonlyMap<string, string> | null = null;
  #fillWatcher: FillWatcher | null = null;

  constructor(service: CalledService, wallets: Wallets) {
    super();
    this.exchange = service.exchange;
    this.#service = service;
    this.#wallets = wallets;
    this.#tradesBefore = this.state.trades.size;
    this.nameMarkets();
  }

  nameMarkets(): void {
    for (const market of this.state.markets)
      this.knownMarkets.set(market.slug, marketReply(this.view, market));
  }

  get state(): State {
    return this.exchange.state;
  }

  get view(): View {
    return { state: this.state, numbers: this.#service.numbers };
  }

  override get accounts(): readonly string[] {
    const known = [...this.names].flatMap(([address, name]) => {
      const number = this.state.accountByAddress.get(address);
      return number === undefined ? [] : [{ name, number }];
    });
    return known.sort((a, b) => a.number - b.number).map(({ name }) => name);
  }

  hasOpened(account: string): boolean {
    return [...this.names.values()].includes(account);
  }

  now(): Millis {
    return this.exchange.now;
  }

  addressOf(account: string): string {
    return this.walletOf(account).address;
  }

  protected walletOf(account: string): Wallet {
    const wallet = this.#wallets.of(account);
    this.names.set(wallet.address, account);
    return wallet;
  }

  /** Whether an account has derived credentials, in the present state. */
  protected hasSignedIn(account: string): boolean {
    return (findAccount(this.state, this.addressOf(account))?.derivations ?? 0) > 0;
  }

  nameOf(account: number): string {
    const { address } = this.state.accounts.get(account);
    return this.names.get(address) ?? this.#nameOfBot(address) ?? `trader-${address.slice(2, 10)}`;
  }

  #nameOfBot(address: string): string | undefined {
    if (!this.#service.bots.hasStarted) return undefined;
    this.#botNames ??= new Map(botsOf(this.state.config.seed, null).map((bot) => [bot.address, bot.name]));
    return this.#botNames.get(address);
  }

  protected override read<O extends Operation>(operation: O, call: DirectCall = {}) {
    return this.handle(operation, call);
  }

  /** Calls the handler of an operation; `refused` is called with the reason if it refuses. */
  protected handle<O extends Operation>(
    operation: O,
    call: DirectCall,
    refused: (error: ApiError) => void = () => {},
  ): MaybePromise<Attempt<ReplyTo<O>>> {
    try {
      const value = callHandler(this.#service, operation, call);
      const success = (reply: object) => ({ ok: true, value: reply }) as Attempt<ReplyTo<O>>;
      return value instanceof Promise ? value.then(success) : success(value);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused(error);
      return refusedBy(error);
    }
  }

  async advanceTo(moment: Millis): Promise<readonly Expired[]> {
    const expired: Expired[] = [];
    const unwatch = this.exchange.watch((_sequence, at, events) => {
      for (const event of events) {
        if (event.kind === "orderExpired") expired.push({ key: this.orderId(event.order), at });
      }
    });
    try {
      await this.moveClock(moment);
    } finally {
      unwatch();
    }
    return expired;
  }

  protected abstract moveClock(moment: Millis): MaybePromise<void>;

  override async book({ market, outcome }: TokenRef): Promise<BookView> {
    const number = this.state.marketBySlug.get(market);
    if (number === undefined) throw new VenueError(`the exchange has no market ${market} any more`);
    return sidesOf(this.state.markets.get(number), outcome);
  }

  /** Reads the order without its story, which would take most of the time of a small scenario. */
  async order(id: string): Promise<OrderView> {
    const { orders, idPrefixes } = this.state;
    return orderView(orderReply(this.view, orders.get(numberOf(idPrefixes.order, id))));
  }

  override hasOrder(id: string): boolean {
    const { orders, idPrefixes } = this.state;
    return orders.find(numberOf(idPrefixes.order, id)) !== undefined;
  }

  override whenRewound(listener: () => void): void {
    this.exchange.watchRewind(listener);
  }

  settingsRestorer(): () => void {
    const { bots } = this.#service;
    const { running } = bots;
    return () => bots.resume(running);
  }

  // Fills are read from the exchange on request, because a long flow has millions.

  fillCount(): number {
    const { bots } = this.#service;
    return bots.hasStarted ? this.#ownTrades().length : this.state.trades.size - this.#tradesBefore;
  }

  fills(from: number): readonly Fill[] {
    const numbers = this.#service.bots.hasStarted ? this.#ownTrades().slice(from) : this.#trades(from);
    return numbers.map((number) => this.#fill(number));
  }

  /** Returns the numbers of the trades after the first `from` of the scenario. */
  #trades(from: number): number[] {
    const first = this.#tradesBefore + from + 1;
    return Array.from({ length: Math.max(0, this.state.trades.next - first) }, (_, index) => first + index);
  }

  /** Returns those not taken by a bot. */
  #ownTrades(): number[] {
    const { accounts, orders, trades } = this.state;
    const takerOf = (number: number) => accounts.get(orders.get(trades.get(number).taker).account);
    return this.#trades(0).filter((number) => this.#nameOfBot(takerOf(number).address) === undefined);
  }

  /** Returns a trade, seen from its taker. */
  #fill(number: number): Fill {
    const { orders, trades } = this.state;
    const trade = trades.get(number);
    const ownerOf = (order: number): string => this.nameOf(orders.get(order).account);
    const reply = tradeReply(this.view, trade, "TAKER");
    return fillOf(reply, this.marketName(reply.marketId), ownerOf(trade.taker), ownerOf(trade.maker));
  }

  play(rows: AsyncIterable<readonly FlowRow[]>, market: string, checks: Checks | null = null) {
    return playFlow(this.rowExecutor(market), rows, checks === null ? null : this.#rowCheck(checks));
  }

  /**
   * Returns the check of a flow. Totals of the ledger are checked after 100 rows, or as many as there are
   * balances; all invariants after 100 rows, or eight for each record. So checks take a fixed share of the flow's time.
   */
  #rowCheck(checks: Checks): RowCheck {
    let totalsAt = checks === "fills" ? Number.POSITIVE_INFINITY : MIN_ROWS;
    let allAt = totalsAt;
    const totalsHold = (rows: number): boolean => {
      const totals = invariants(this.state, "totals");
      const count = totals.reduce((sum, { checked }) => sum + checked, 0);
      totalsAt = rows + Math.max(MIN_ROWS, count);
      return totals.every(({ holds }) => holds);
    };
    return (rows) => {
      const isSound = this.#brokenFill === null;
      if (isSound && (rows < totalsAt || (rows < allAt && totalsHold(rows)))) return NOTHING;
      const { orders, trades, chain } = this.state;
      const records = orders.size + trades.size + chain.transactions.size;
      allAt = rows + Math.max(MIN_ROWS, ROWS_PER_RECORD * records);
      totalsAt = Math.min(rows + MIN_ROWS, allAt);
      return this.violations();
    };
  }

  /** Returns what executes the rows of a flow, by default in a market. */
  protected abstract rowExecutor(market: string): ExecuteRow;

  override watchFills(): void {
    this.#fillWatcher ??= new FillWatcher(this.exchange, (account) => this.nameOf(account));
  }

  get #brokenFill() {
    return this.#fillWatcher?.broken ?? null;
  }

  override violations(checks: Checks = "all"): readonly string[] {
    const broken = this.#brokenFill;
    if (broken === null && checks === "fills") return NOTHING;
    const found = violations(this.state).map(({ name, differences }) => `${name}: ${differences.join("; ")}`);
    return broken === null ? found : [...found, `${broken.name}: ${broken.text}`];
  }

  protected orderId(number: number): string {
    return idOf(this.state.idPrefixes.order, number);
  }
}
