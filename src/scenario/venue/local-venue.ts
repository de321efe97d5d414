import { type PositionChange, positionTransaction } from "../../api/contracts.ts";
import type { JsonObject } from "../../api/endpoint.ts";
import { endpointOf, filledPath, type Operation, type ReplyTo } from "../../api/endpoints.ts";
import type { ApiError } from "../../api/errors.ts";
import { BookTexts } from "../../api/order-book.ts";
import { refusalError } from "../../api/refusals.ts";
import { numbersAs } from "../../api/view.ts";
import { Bots } from "../../bots/bots.ts";
import type { Command } from "../../core/commands.ts";
import { resultOfCall } from "../../core/rules/contract-calls.ts";
import { NO_FAUCET } from "../../core/state.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange, type Snapshot } from "../../engine/exchange.ts";
import { noJournal, type SessionLog } from "../../engine/journal.ts";
import { isRecorded, refusedRequest } from "../../server/refused-requests.ts";
import type { DirectCall } from "../../server/router.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { emptyWorld, openWorld } from "../../simulation/opening.ts";
import type { World } from "../../simulation/world.ts";
import type { Scenario } from "../language/steps.ts";
import { createMarkets, ExchangeVenue } from "./exchange-venue.ts";
import { type ExecuteRow, executed, fundingOf, OrderRefs } from "./play-flow.ts";
import { fundCommand, Wallets } from "./venue.ts";
import { type Attempt, DONE, type MaybePromise, refusedBy, type VenueHistory } from "./views.ts";

/** The operation that each row of a flow stands for. */
const OPERATION = {
  place: "placeOrder",
  cancel: "cancelOrder",
  "cancel-all": "cancelAllOrders",
  fund: "fundAccount",
} as const satisfies Record<FlowRow["op"], Operation>;

/** What the exchange of a scenario is opened with, besides a world. */
type Opening = Pick<Scenario, "seed" | "clock" | "markets" | "settlement" | "balances">;

/** Opens an exchange with the scenario's world or markets. Commands after the world are logged. */
function openedExchange(
  { seed, clock, markets, settlement, balances }: Opening,
  world: World | null,
  log: SessionLog | null,
): Exchange {
  const config = { seed, faucet: NO_FAUCET, credentials: "rotate", settlement, balances } as const;
  const exchange = new Exchange(config, clock, log ?? noJournal);
  openWorld(exchange, world ?? emptyWorld(seed), clock);
  log?.begin();
  createMarkets(exchange, markets);
  return exchange;
}

/**
 * The exchange of one scenario. Calls the API's handlers without HTTP. Time, snapshots and order flows use the exchange
 * directly, because the API has no operation for them, or a slow one.
 */
export class LocalVenue extends ExchangeVenue {
  readonly #world: World;
  readonly #start: Millis;
  readonly #log: SessionLog | null;

  /**
   * `log` records commands and refused requests for a bug report.
   * @throws WorldOpeningError if the world cannot be opened at the scenario's clock.
   */
  constructor(
    opening: Opening | Exchange,
    world: World | null = null,
    wallets = new Wallets(),
    log: SessionLog | null = null,
  ) {
    const exchange = opening instanceof Exchange ? opening : openedExchange(opening, world, log);
    super(
      { exchange, numbers: numbersAs("number"), books: new BookTexts(), bots: new Bots(exchange) },
      wallets,
    );
    this.#world = world ?? emptyWorld(exchange.state.config.seed);
    this.#start = exchange.now;
    this.#log = log;
  }

  /** Makes an account known to the exchange by deriving credentials, as a client does. */
  override signIn(account: string): string {
    const address = this.addressOf(account);
    if (!this.hasSignedIn(account)) {
      const derived = this.submit({ kind: "deriveCredentials", address });
      if (!derived.ok) throw new Error(`credentials are refused: ${derived.code}: ${derived.message}`);
    }
    return address;
  }

  override call<O extends Operation>(
    operation: O,
    { caller: name, ...call }: DirectCall = {},
  ): MaybePromise<Attempt<ReplyTo<O>>> {
    const signed = { ...call, caller: name === undefined ? "" : this.signIn(name) };
    return this.handle(operation, signed, (error) => this.#recordRefused(operation, signed, error));
  }

  #recordRefused(operation: Operation, call: DirectCall, error: ApiError): void {
    const { path = {}, body = {}, caller = "" } = call;
    const endpoint = endpointOf(operation);
    if (this.#log === null || !isRecorded(endpoint, error)) return;
    const sent = { path: filledPath(endpoint, path), caller, body: body as JsonObject, query: [] };
    const request = refusedRequest(endpoint, error, { ...sent, claimed: undefined, needsKnownFields: false });
    this.#log.refuse({ sequence: this.exchange.sequence, at: this.exchange.now, request });
  }

  submit(command: Command): Attempt<null> {
    const decision = this.exchange.submit(command);
    return decision.ok ? DONE : refusedBy(refusalError(decision.refusal, this.view));
  }

  protected override moveClock(moment: Millis): void {
    this.exchange.advanceTo(moment);
  }

  transact(account: string, market: string, change: PositionChange): Attempt<null> {
    const from = this.signIn(account);
    const transaction = positionTransaction(from, this.marketNamed(market).conditionId, change);
    const { value, call } = transaction;
    const trial = resultOfCall(this.state, { from, value: BigInt(value) }, call);
    if (!trial.ok) {
      const message = `execution reverted: ${trial.reason}`;
      return { ok: false, code: "TRANSACTION_REVERTED", message, hint: null };
    }
    const sent = this.submit(transaction);
    return sent.ok ? sent : { ...sent, code: "TRANSACTION_REFUSED" };
  }

  /** Executes rows as commands, without the API, because flows have millions of rows. */
  protected override rowExecutor(market: string): ExecuteRow {
    const { exchange } = this;
    const start = exchange.now;
    const addresses = new Map<string, string>();
    const orders = new OrderRefs();
    return (row) => {
      const at = start + row.at;
      if (at > exchange.now) exchange.advanceTo(millis(at));
      let address = addresses.get(row.account);
      if (address === undefined) {
        address = this.signIn(row.account);
        addresses.set(row.account, address);
      }
      const command = this.#commandOf(row, address, market, orders);
      const number = exchange.state.orders.next;
      const decision = exchange.submit(command);
      if (!decision.ok) {
        // As `cancelOrder` of the API does.
        if (decision.refusal.code === "ORDER_NOT_LIVE") return executed(0);
        const error = refusalError(decision.refusal, this.view);
        error.command = command;
        this.#recordRefused(OPERATION[row.op], { path: { address }, caller: address }, error);
        return refusedBy(error);
      }
      const { length } = decision.events;
      if (row.op === "fund") return executed(0);
      if (row.op !== "place") {
        if (row.op === "cancel" && length === 0) throw new Error("a cancel is accepted and cancels nothing");
        return executed(length);
      }
      if (row.ref !== "") orders.set(row.ref, number);
      return executed(1);
    };
  }

  /** Returns the command of a row; `orders` has the numbers of orders by name. */
  #commandOf(row: FlowRow, address: string, market: string, orders: OrderRefs): Command {
    switch (row.op) {
      case "place": {
        const { side, price, size, type: orderType, expiresIn } = row;
        const tokenId = this.tokenId({ market: row.market ?? market, outcome: row.outcome });
        const expiration = expiresIn === null ? null : millis(this.exchange.now + expiresIn);
        return { kind: "placeOrder", address, tokenId, side, price, size, orderType, expiration };
      }
      case "cancel": {
        const number = orders.get(row.ref);
        const orderId = number === undefined ? row.ref : this.orderId(number);
        return { kind: "cancelOrder", address, orderId };
      }
      case "cancel-all":
        return { kind: "cancelAllOrders", address };
      case "fund":
        return fundCommand(address, [fundingOf(row, market)], (token) => this.tokenId(token));
    }
  }

  snapshot(): Snapshot {
    return this.exchange.snapshot();
  }

  restore(snapshot: unknown): void {
    this.exchange.restore(snapshot as Snapshot);
  }

  history(): VenueHistory | null {
    const log = this.#log;
    if (log === null || log.entries === null) return null;
    const opening = { config: this.state.config, start: this.#start };
    return { kind: "session", world: this.#world, exchange: this.exchange, opening, log };
  }
}
