import { type PositionChange, positionTransaction } from "../../api/contracts.ts";
import { numbersAs } from "../../api/decimals.ts";
import type { JsonObject } from "../../api/endpoint.ts";
import { endpointOf, filledPath, type Operation, type ReplyTo } from "../../api/endpoints.ts";
import { ApiError } from "../../api/errors.ts";
import { marketReply } from "../../api/markets.ts";
import { BookPages } from "../../api/order-book.ts";
import { refusalError, revertWords } from "../../api/refusals.ts";
import { orderReply, tradeReply } from "../../api/trading.ts";
import type { View } from "../../api/view.ts";
import { Bots } from "../../bots/bots.ts";
import type { Command } from "../../core/commands.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { violations } from "../../core/invariants/invariants.ts";
import type { Refusal } from "../../core/refusals.ts";
import { outcomeOfCall } from "../../core/rules/contract-calls.ts";
import { findAccount, type State } from "../../core/state.ts";
import { type Millis, money, size } from "../../core/units.ts";
import { Exchange, type Snapshot } from "../../engine/exchange.ts";
import { noJournal, type SessionLog } from "../../engine/journal.ts";
import { type CalledService, callHandler, type DirectCall } from "../../server/handlers/all.ts";
import { isNoted, refusedRequest } from "../../server/refused-requests.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { emptyWorld, openWorld } from "../../simulation/opening.ts";
import type { World } from "../../simulation/world.ts";
import type { Scenario } from "../language/steps.ts";
import { FillWatcher } from "../watch/fill-watcher.ts";
import { byCommands, flowCheck, playFlow } from "./play-flow.ts";
import { marketCommand, SCENARIO_EVENT, Venue, Wallets } from "./venue.ts";
import {
  type Attempt,
  book,
  type Checks,
  DONE,
  type Expired,
  type Fill,
  type FlowOutcome,
  fillOf,
  type OrderView,
  orderView,
  refusedBy,
  type Soon,
  type TokenRef,
  type VenueHistory,
} from "./views.ts";

const NO_FAUCET = { collateral: money(0), everyMarket: size(0) };

/** Opens an exchange with the scenario's world or markets. Commands after the world are logged. */
function openedExchange(
  { seed, clock, markets, settlement, balances }: Scenario,
  world: World | null,
  log: SessionLog | null,
): Exchange {
  const config = { seed, faucet: NO_FAUCET, credentials: "rotate", settlement, balances } as const;
  const exchange = new Exchange(config, clock, log ?? noJournal);
  openWorld(exchange, world ?? emptyWorld(seed), clock);
  log?.begin();
  if (markets.length === 0) return exchange;
  exchange.submit(SCENARIO_EVENT);
  for (const terms of markets) exchange.submit(marketCommand(terms, exchange.state.events.size));
  return exchange;
}

/**
 * The exchange of one scenario in this process. Calls the API's handlers without HTTP. Time, snapshots, fills, invariants
 * and order flows use the exchange directly, because HTTP has no operation for them, or a slow one.
 */
export class LocalVenue extends Venue {
  readonly way = "process";
  readonly exchange: Exchange;
  readonly #service: CalledService;
  readonly #wallets: Wallets;
  readonly #opening: { readonly scenario: Scenario; readonly world: World | null };
  readonly #log: SessionLog | null;
  /** Number of trades in the world's history. */
  readonly #tradesBefore: number;
  /** Names of accounts by address, in the order in which they signed in. */
  protected readonly names = new Map<string, string>();
  #fillWatcher: FillWatcher | null = null;

  /**
   * `log` records commands and refused requests for a bug report; `exchange` may be one that is already open.
   * @throws WorldOpeningError if the world cannot be opened at the scenario's clock.
   */
  constructor(
    scenario: Scenario,
    world: World | null = null,
    wallets = new Wallets(),
    log: SessionLog | null = null,
    exchange = openedExchange(scenario, world, log),
  ) {
    super();
    this.exchange = exchange;
    const { checksums } = wallets;
    const numbers = numbersAs("number");
    this.#service = { exchange, numbers, checksums, books: new BookPages(), bots: new Bots(exchange) };
    this.#wallets = wallets;
    this.#opening = { scenario, world };
    this.#log = log;
    this.#tradesBefore = this.state.trades.size;
    this.nameMarkets();
  }

  /** Names every market of the exchange by its slug. */
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

  get accounts(): readonly string[] {
    return [...this.names.values()];
  }

  now(): Millis {
    return this.exchange.now;
  }

  addressOf(account: string): string {
    return this.#wallets.of(account).address;
  }

  /** Makes an account known to the exchange by deriving credentials, as a client does. */
  override signIn(account: string): string {
    const address = this.addressOf(account);
    if (findAccount(this.state, address) === undefined) {
      this.names.set(address, account);
      const derived = this.submit({ kind: "deriveCredentials", address });
      if (!derived.ok) throw new Error(`credentials are refused: ${derived.code}: ${derived.message}`);
    }
    return address;
  }

  /** Returns the name of an account by its number. */
  nameOf(account: number): string {
    const { address } = this.state.accounts.get(account);
    return this.names.get(address) ?? this.strangerName(address);
  }

  override call<O extends Operation>(
    operation: O,
    { caller: name, ...call }: DirectCall = {},
  ): Soon<Attempt<ReplyTo<O>>> {
    const caller = name === undefined ? "" : this.signIn(name);
    try {
      const value = callHandler(this.#service, operation, { ...call, caller });
      const success = (reply: object) => ({ ok: true, value: reply }) as Attempt<ReplyTo<O>>;
      return value instanceof Promise ? value.then(success) : success(value);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#noteRefused(operation, { ...call, caller }, error);
      return refusedBy(error);
    }
  }

  /** Records a command of an account that the rules refused, as if it had been sent to an operation. */
  noteRefusal(operation: Operation, command: Command & { readonly address: string }, refusal: Refusal): void {
    if (this.#log === null) return;
    const { address } = command;
    const error = refusalError(refusal, this.view);
    error.command = command;
    this.#noteRefused(operation, { path: { address }, caller: address }, error);
  }

  #noteRefused(operation: Operation, call: DirectCall, error: ApiError): void {
    const { path = {}, body = {}, caller = "" } = call;
    const endpoint = endpointOf(operation);
    if (this.#log === null || !isNoted(endpoint, error)) return;
    const request = refusedRequest(endpoint, error, {
      path: filledPath(endpoint, path),
      caller,
      claimed: undefined,
      body: body as JsonObject,
      query: [],
      needsKnownFields: false,
    });
    this.#log.refuse({ sequence: this.exchange.sequence, at: this.exchange.now, request });
  }

  submit(command: Command): Attempt<null> {
    const decision = this.exchange.submit(command);
    return decision.ok ? DONE : refusedBy(refusalError(decision.refusal, this.view));
  }

  override async book({ market, outcome }: TokenRef) {
    return book(this.state.markets.get(this.state.marketBySlug.get(market) ?? 0), outcome);
  }

  /** Reads the order without its story, which would take most of the time of a small scenario. */
  override async order(id: string): Promise<OrderView> {
    const { orders, idPrefixes } = this.state;
    return orderView(orderReply(this.view, orders.get(numberOf(idPrefixes.order, id))));
  }

  advanceTo(moment: Millis): readonly Expired[] {
    const expired: Expired[] = [];
    const unwatch = this.exchange.watch((_sequence, at, events) => {
      for (const event of events) {
        if (event.kind === "orderExpired") expired.push({ key: this.#orderId(event.order), at });
      }
    });
    try {
      this.exchange.advanceTo(moment);
    } finally {
      unwatch();
    }
    return expired;
  }

  transact(account: string, market: string, change: PositionChange): Attempt<null> {
    const from = this.signIn(account);
    const transaction = positionTransaction(from, this.marketNamed(market).conditionId, change);
    const { value, call } = transaction;
    const trial = outcomeOfCall(this.state, { from, value: BigInt(value) }, call);
    if (!trial.ok) {
      return { ok: false, code: "TRANSACTION_REVERTED", message: revertWords(trial.reason), hint: null };
    }
    const sent = this.submit(transaction);
    return sent.ok ? sent : { ...sent, code: "TRANSACTION_REFUSED" };
  }

  play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    checks: Checks | null = null,
  ): Promise<FlowOutcome> {
    const check = checks === null ? null : flowCheck(this, checks);
    return playFlow(byCommands(this, market), rows, check);
  }

  snapshot(): Snapshot {
    return this.exchange.snapshot();
  }

  /** Also forgets the accounts that signed in after the snapshot. */
  restore(snapshot: unknown): void {
    this.exchange.restore(snapshot as Snapshot);
    this.#fillWatcher?.reset();
    for (const address of this.names.keys()) {
      if (findAccount(this.state, address) === undefined) this.names.delete(address);
    }
  }

  // Fills are read from the exchange on request, because a long flow has millions.

  fillCount(): number {
    return this.bots.size === 0 ? this.state.trades.size - this.#tradesBefore : this.#ownTrades().length;
  }

  fills(from: number): readonly Fill[] {
    const numbers = this.bots.size > 0 ? this.#ownTrades().slice(from) : this.#trades(from);
    return numbers.map((number) => this.#fill(number));
  }

  /** Returns the numbers of the trades after the first `from` of the scenario. */
  #trades(from: number): number[] {
    const first = this.#tradesBefore + from + 1;
    return Array.from({ length: Math.max(0, this.state.trades.next - first) }, (_, index) => first + index);
  }

  /** Returns those not taken by a bot. A scenario over HTTP does not see the others. */
  #ownTrades(): number[] {
    const { accounts, orders, trades } = this.state;
    const takerOf = (number: number) => accounts.get(orders.get(trades.get(number).taker).account);
    return this.#trades(0).filter((number) => !this.bots.has(takerOf(number).address));
  }

  override watchFills(): void {
    this.#fillWatcher ??= new FillWatcher(this.exchange, (account) => this.nameOf(account));
  }

  override get hasBrokenFill(): boolean {
    return this.#fillWatcher !== null && this.#fillWatcher.broken !== null;
  }

  violations(): readonly string[] {
    const found = violations(this.state).map(({ name, differences }) => `${name}: ${differences.join("; ")}`);
    const broken = this.#fillWatcher?.broken ?? null;
    return broken === null ? found : [...found, `${broken.name}: ${broken.text}`];
  }

  history(): VenueHistory | null {
    const log = this.#log;
    if (log === null || log.entries === null) return null;
    const { scenario, world } = this.#opening;
    const opening = { config: this.state.config, start: scenario.clock };
    const { exchange } = this;
    return { kind: "session", world: world ?? emptyWorld(scenario.seed), exchange, opening, log };
  }

  /** Returns a trade, seen from its taker. */
  #fill(number: number): Fill {
    const { orders, trades } = this.state;
    const trade = trades.get(number);
    const ownerOf = (order: number): string => this.nameOf(orders.get(order).account);
    const reply = tradeReply(this.view, trade, "TAKER");
    return fillOf(reply, this.marketName(reply.marketId), ownerOf(trade.taker), ownerOf(trade.maker));
  }

  #orderId(number: number): string {
    return idOf(this.state.idPrefixes.order, number);
  }
}
