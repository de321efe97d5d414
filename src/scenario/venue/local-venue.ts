import type { Command } from "../../core/commands.ts";
import type { Decision } from "../../core/refusals.ts";
import { findAccount } from "../../core/state.ts";
import type { WinningOutcome } from "../../core/terms.ts";
import { type Millis, money, size } from "../../core/units.ts";
import { Exchange, type Snapshot } from "../../engine/exchange.ts";
import { noJournal } from "../../engine/journal.ts";
import type { SessionLog } from "../../engine/session-log.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { emptyWorld, openWorld } from "../../simulation/opening.ts";
import type { World } from "../../simulation/world.ts";
import type { ExactOrder, Funding, OrderWords, Scenario } from "../language/scenario.ts";
import type { Judging } from "../watch/flow-judge.ts";
import { DONE, demandCancel, nothingOf, refusedBy } from "./local-attempts.ts";
import { LocalChain } from "./local-chain.ts";
import { playRows } from "./local-flow.ts";
import { LocalSights } from "./local-sights.ts";
import { fundCommand, marketCommand, SCENARIO_EVENT } from "./opening.ts";
import { expirationOf, orderBodyOf } from "./order-body.ts";
import type {
  Attempt,
  Canceled,
  Expired,
  FlowOutcome,
  OrderKey,
  OrderView,
  Venue,
  VenueDeeds,
} from "./venue.ts";
import type { Wallets } from "./wallets.ts";

/** The scenario's world, or its own markets; what comes after the world is logged. */
function openedExchange(
  { seed, clock, markets, settlement, balances }: Scenario,
  world: World | null,
  log: SessionLog | null,
): Exchange {
  const config = { seed, faucet: FAUCET, credentials: "rotate", settlement, balances } as const;
  const exchange = new Exchange(config, clock, log ?? noJournal);
  openWorld(exchange, world ?? emptyWorld(seed), clock);
  log?.begin();
  if (markets.length === 0) return exchange;
  exchange.submit(SCENARIO_EVENT);
  for (const terms of markets) exchange.submit(marketCommand(terms, exchange.state.events.size));
  return exchange;
}

const FAUCET = { collateral: money(0), everyMarket: size(0) };

/** An exchange of a scenario's own in this process, without a server: commands go straight to the core. */
export class LocalVenue extends LocalSights implements Venue {
  readonly way = "process";
  readonly chain = new LocalChain(this);

  readonly #opening: { readonly scenario: Scenario; readonly world: World | null };
  readonly #log: SessionLog | null;

  /**
   * `log` keeps what is done, where somebody may want it; `exchange` is one that is open already.
   * @throws WorldOpeningError when the world cannot be opened at the scenario's clock.
   */
  constructor(
    scenario: Scenario,
    world: World | null,
    wallets: Wallets,
    log: SessionLog | null = null,
    exchange = openedExchange(scenario, world, log),
  ) {
    super(exchange, wallets);
    this.#opening = { scenario, world };
    this.#log = log;
  }

  /** The address of an account, made known to the exchange as a client's first derivation of keys does. */
  addressOf(account: string): string {
    const { address } = this.wallets.of(account);
    if (findAccount(this.state, address) === undefined) {
      this.names.set(address, account);
      this.#demand({ kind: "deriveCredentials", address });
    }
    return address;
  }

  open(account: string, funding: readonly Funding[]): Attempt<null> {
    const address = this.addressOf(account);
    if (funding.length === 0) return DONE;
    return this.#try(fundCommand(address, funding, (name) => this.tokenId(name)));
  }

  place(
    account: string,
    words: OrderWords,
    exact: ExactOrder | null,
  ): Attempt<OrderView> | Promise<Attempt<OrderView>> {
    const address = this.addressOf(account);
    if (exact === null) return this.#placeWords(address, words);
    const { side, price, size, orderType, expiry } = exact;
    const tokenId = this.tokenId(exact);
    const expiration = expiry === null ? null : expirationOf(expiry, this.exchange.now);
    return this.#place({ kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration });
  }

  cancel(account: string, order: OrderKey): Attempt<Canceled> {
    const orderId = this.idOf(order);
    const decision = this.exchange.submit({ kind: "cancelOrder", address: this.addressOf(account), orderId });
    if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") {
      const { status } = this.state.orders.get(decision.refusal.order);
      return { ok: true, value: { canceled: [], notCanceled: [`already ${status.toLowerCase()}`] } };
    }
    demandCancel(decision);
    return this.#canceled(decision);
  }

  cancelAll(account: string): Attempt<Canceled> {
    return this.#canceled(
      this.exchange.submit({ kind: "cancelAllOrders", address: this.addressOf(account) }),
    );
  }

  fund(account: string, funding: Funding): Attempt<null> {
    return this.#try(fundCommand(this.addressOf(account), [funding], (name) => this.tokenId(name)));
  }

  advanceTo(moment: Millis): readonly Expired[] {
    const expired: Expired[] = [];
    const unwatch = this.exchange.watch((_sequence, at, events) => {
      for (const event of events) if (event.kind === "orderExpired") expired.push({ key: event.order, at });
    });
    try {
      this.exchange.advanceTo(moment);
    } finally {
      unwatch();
    }
    return expired;
  }

  close(market: string): Attempt<null> {
    return this.#try({ kind: "closeMarket", market: this.market(market).number });
  }

  resolve(market: string, winningOutcome: WinningOutcome): Attempt<null> {
    return this.#try({ kind: "resolveMarket", market: this.market(market).number, winningOutcome });
  }

  play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    judging: Judging | null = null,
  ): Promise<FlowOutcome> {
    return playRows(this, rows, market, judging);
  }

  snapshot(): Snapshot {
    return this.exchange.snapshot();
  }

  /** Accounts that came later than the snapshot are unknown again. */
  restore(snapshot: unknown): void {
    this.exchange.restore(snapshot as Snapshot);
    this.fillWatcher?.begin();
    for (const address of this.names.keys()) {
      if (findAccount(this.state, address) === undefined) this.names.delete(address);
    }
  }

  forget(): void {}

  fault(): never {
    throw new Error("a fault needs HTTP");
  }

  request(): never {
    throw new Error("a request needs HTTP");
  }

  deeds(): VenueDeeds | null {
    const entries = this.#log?.entries ?? null;
    if (entries === null) return null;
    const { scenario, world } = this.#opening;
    return {
      kind: "session",
      world: world ?? emptyWorld(scenario.seed),
      exchange: this.exchange,
      opening: { config: this.state.config, start: scenario.clock },
      entries,
    };
  }

  dispose(): void {}

  async #placeWords(address: string, words: OrderWords): Promise<Attempt<OrderView>> {
    // What reads the API's bodies is loaded only for the few orders that a client could get wrong.
    const { readOrderWords } = await import("./read-order-words.ts");
    const body = orderBodyOf(words, this.tokenId(words), this.exchange.now);
    const command = readOrderWords(body, address, this.view);
    return "ok" in command ? command : this.#place(command);
  }

  #place(command: Command): Attempt<OrderView> {
    const number = this.state.orders.next;
    const decision = this.exchange.submit(command);
    return decision.ok ? { ok: true, value: this.order(number) } : refusedBy(decision.refusal, this.view);
  }

  #canceled(decision: Decision): Attempt<Canceled> {
    if (!decision.ok) return refusedBy(decision.refusal, this.view);
    const canceled = decision.events.flatMap((event) =>
      event.kind === "orderCanceled" ? [event.order] : [],
    );
    return { ok: true, value: { canceled, notCanceled: [] } };
  }

  #try(command: Command): Attempt<null> {
    return nothingOf(this.exchange.submit(command), this.view);
  }

  #demand(command: Command): void {
    const outcome = this.#try(command);
    if (!outcome.ok) throw new Error(`${command.kind} is refused: ${outcome.code}: ${outcome.message}`);
  }
}
