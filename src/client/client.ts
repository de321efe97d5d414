import type { TimeSync } from "./connection.ts";
import { Connection, type RawRequest, route } from "./connection.ts";
import type * as reply from "./messages.ts";
import type * as request from "./messages.ts";
import type { PageWindow } from "./messages.ts";
import { type ClientOptions, demandOptions } from "./options.ts";
import type { RawReply } from "./result.ts";
import { failure, noWallet, type Result, success, unsigned } from "./result.ts";
import { openTransport } from "./transport.ts";
import { attest, type WalletAccount, type WalletScheme } from "./wallet.ts";

/** `/sim/chain`: when blocks are mined, and what goes wrong with settlements. */
export class ChainControl {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Head, what is pending, when the next block is due, and the contracts. */
  info(): Promise<Result<reply.Chain>> {
    return this.#connection.ask({ path: "/sim/chain" });
  }

  /** Latest first, with their transactions. */
  blocks(window: PageWindow = {}): Promise<Result<reply.Page<reply.ChainBlock>>> {
    return this.#connection.ask({ path: "/sim/chain/blocks", query: { ...window } });
  }

  /** What waits for a block or was lost, oldest first, and why. */
  pending(window: PageWindow = {}): Promise<Result<reply.Page<reply.ChainTransaction>>> {
    return this.#connection.ask({ path: "/sim/chain/pending", query: { ...window } });
  }

  /** Shares and locked USDC of a market, in the ledger and on the chain. */
  supply(idOrSlug: string): Promise<Result<reply.MarketSupply>> {
    return this.#connection.ask({ path: route`/sim/chain/supply/${idOrSlug}` });
  }

  /** Mines blocks at once; all that is pending is in the first. */
  mine(blocks = 1): Promise<Result<reply.Chain>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/mine", body: { blocks } });
  }

  /** Lets the exchange raise its fees: a gas spike keeps nothing of its own out of a block any more. */
  bump(): Promise<Result<reply.BumpedFees>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/bump" });
  }

  /** Oldest first, with how often each has struck. */
  faults(window: PageWindow = {}): Promise<Result<reply.Page<reply.SettlementFault>>> {
    return this.#connection.ask({ path: "/sim/chain/faults", query: { ...window } });
  }

  /** Lets settlements fail, be retried, delayed or lost; lets gas spike; reorganizes the chain. */
  addFault(fault: request.NewSettlementFault): Promise<Result<reply.SettlementFault>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/faults", body: fault });
  }

  /** Ends a fault, and answers it as it stood. */
  deleteFault(id: string): Promise<Result<reply.SettlementFault>> {
    return this.#connection.ask({ method: "DELETE", path: route`/sim/chain/faults/${id}` });
  }

  clearFaults(): Promise<Result<reply.EndedSettlementFaults>> {
    return this.#connection.ask({ method: "DELETE", path: "/sim/chain/faults" });
  }
}

/** The control plane `/sim`, which is no part of the imitated service. Values are the bodies of its replies. */
export class ControlPlane {
  /** `/sim/chain`: blocks, what is pending, settlement faults. */
  readonly chain: ChainControl;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.chain = new ChainControl(connection);
    this.#connection = connection;
  }

  /** Version, seed, clock, sequence, state hash, config, dev accounts. */
  info(): Promise<Result<reply.Info>> {
    return this.#get("/sim");
  }

  clock(): Promise<Result<reply.Clock>> {
    return this.#get("/sim/clock");
  }

  /** Freezes, scales, sets or advances the clock; answers what fired on the way. */
  setClock(change: request.NewClock): Promise<Result<reply.ClockChange>> {
    return this.#post("/sim/clock", change);
  }

  /** Starts anew from the opened world; credentials are forgotten with all else. */
  reset(): Promise<Result<reply.Info>> {
    return this.#post("/sim/reset");
  }

  account(address: string): Promise<Result<reply.Account>> {
    return this.#get(route`/sim/accounts/${address}`);
  }

  /** Oldest first. */
  accounts(window: PageWindow = {}): Promise<Result<reply.Page<reply.Account>>> {
    return this.#connection.ask({ path: "/sim/accounts", query: { ...window } });
  }

  /** Adds USDC, and shares by token id. */
  fund(address: string, funding: request.Funding): Promise<Result<reply.Account>> {
    return this.#post(route`/sim/accounts/${address}/fund`, funding);
  }

  createEvent(event: request.NewEvent): Promise<Result<reply.MarketEvent>> {
    return this.#post("/sim/events", event);
  }

  createMarket(market: request.NewMarket): Promise<Result<reply.Market>> {
    return this.#post("/sim/markets", market);
  }

  /** Ends a market's trading; what rests is canceled. */
  close(idOrSlug: string): Promise<Result<reply.Market>> {
    return this.#post(route`/sim/markets/${idOrSlug}/close`);
  }

  resolve(idOrSlug: string, winningOutcome: request.WinningOutcome): Promise<Result<reply.Market>> {
    return this.#post(route`/sim/markets/${idOrSlug}/resolve`, { winningOutcome });
  }

  /** Why an order is where it is: the queue it joined, every fill, what ended it. */
  order(id: string): Promise<Result<reply.OrderStory>> {
    return this.#get(route`/sim/orders/${id}`);
  }

  /** Each invariant with its figures. */
  invariants(): Promise<Result<reply.Invariants>> {
    return this.#get("/sim/invariants");
  }

  /** The whole state, canonical. */
  state(): Promise<Result<reply.State>> {
    return this.#get("/sim/state");
  }

  stateHash(): Promise<Result<reply.StateHash>> {
    return this.#get("/sim/state/hash");
  }

  /** Why a signed request would be a 401. */
  explainAuth(pasted: request.PastedRequest): Promise<Result<reply.AuthExplanation>> {
    return this.#post("/sim/explain-auth", pasted);
  }

  /** All that was done since the exchange was opened, as a scenario that passes. */
  scenario(name?: string): Promise<Result<reply.RecordedScenario>> {
    return this.#connection.ask({ path: "/sim/scenario", query: { name } });
  }

  /** All that another machine needs to replay what was done, a JSON object a line: the content of a report's file. */
  report(reason?: string): Promise<Result<string>> {
    return this.#connection.askText({ path: "/sim/report", query: { reason } });
  }

  /** Keeps books, accounts, clock, timers and id counters as they stand. */
  snapshot(name?: string): Promise<Result<reply.Snapshot>> {
    return this.#post("/sim/snapshots", name === undefined ? undefined : { name });
  }

  /** Oldest first. */
  snapshots(window: PageWindow = {}): Promise<Result<reply.Page<reply.Snapshot>>> {
    return this.#connection.ask({ path: "/sim/snapshots", query: { ...window } });
  }

  /** Goes back to a snapshot, by its id or name; of several with one name to the latest. */
  restore(idOrName: string): Promise<Result<reply.Info>> {
    return this.#post(route`/sim/snapshots/${idOrName}/restore`);
  }

  /** Forgets a snapshot, and answers it. */
  deleteSnapshot(idOrName: string): Promise<Result<reply.Snapshot>> {
    return this.#delete(route`/sim/snapshots/${idOrName}`);
  }

  /** Injects a fault into `/api` and `/clob`. */
  addFault(fault: request.NewFault): Promise<Result<reply.Fault>> {
    return this.#post("/sim/faults", fault);
  }

  /** Oldest first, with how often each has fired. */
  faults(window: PageWindow = {}): Promise<Result<reply.Page<reply.Fault>>> {
    return this.#connection.ask({ path: "/sim/faults", query: { ...window } });
  }

  /** Removes a fault, and answers it as it stood. */
  deleteFault(id: string): Promise<Result<reply.Fault>> {
    return this.#delete(route`/sim/faults/${id}`);
  }

  clearFaults(): Promise<Result<reply.RemovedFaults>> {
    return this.#delete("/sim/faults");
  }

  #get<Value>(path: string): Promise<Result<Value>> {
    return this.#connection.ask({ path });
  }

  #post<Value>(path: string, body?: object): Promise<Result<Value>> {
    return this.#connection.ask({ method: "POST", path, ...(body && { body }) });
  }

  #delete<Value>(path: string): Promise<Result<Value>> {
    return this.#connection.ask({ method: "DELETE", path });
  }
}

const POLYGON = 137;
const TIMEOUT_MS = 30_000;

/**
 * A client of one exchange. Every call answers a `Result`: a value that is the reply's body as the contract types it,
 * or an error as a value; no call is ever sent twice.
 */
export class ExchangeClient {
  /** `/sim`: clock, funding, markets, and what the exchange knows of itself. */
  readonly control: ControlPlane;
  readonly #connection: Connection;
  readonly #account: WalletAccount | null;
  readonly #chainId: number;
  readonly #close: () => void;

  /** `url` is the server's origin, such as `http://127.0.0.1:7070`. @throws TypeError when it, or an option, is something else. */
  constructor(url: string, options: ClientOptions = {}) {
    demandOptions(options);
    const origin = originOf(url);
    const { transport, timeoutMs = TIMEOUT_MS } = options;
    const { send, close } =
      transport === undefined ? openTransport(origin, timeoutMs) : { send: transport, close: () => {} };
    this.#connection = new Connection(origin, {
      transport: send,
      time: options.time ?? "local",
      simToken: options.simToken ?? null,
      credentials: options.credentials ?? null,
    });
    this.control = new ControlPlane(this.#connection);
    this.#account = options.account ?? null;
    this.#chainId = options.chainId ?? POLYGON;
    this.#close = close;
  }

  /** What signed requests are signed with; null before `derive()`. Keep it secret. */
  get credentials(): reply.SigningCredentials | null {
    return this.#connection.credentials;
  }

  /** Ends the client's connections; what is under way is lost. */
  close(): void {
    this.#close();
  }

  /** Derives credentials from the wallet's signature and keeps them; a new set each time. */
  async derive(
    nonce: number | bigint = 0,
    scheme: WalletScheme = "typed-data",
  ): Promise<Result<reply.SigningCredentials>> {
    const account = this.#account;
    if (account === null) return failure(noWallet());
    const now = await this.#connection.clock.now();
    if (!now.ok) return now;
    let body: object;
    try {
      body = await attest(account, { scheme, chainId: this.#chainId, unixTime: now.value, nonce });
    } catch (error) {
      return failure(unsigned(error));
    }
    const path = "/clob/auth/derive-api-key";
    const derived = await this.#connection.ask<reply.Credentials>({ method: "POST", path, body });
    if (!derived.ok) return derived;
    const credentials = { ...derived.value, address: account.address };
    this.#connection.credentials = credentials;
    return success(credentials);
  }

  /** Places an order; its immediate fills are the answer's `trades`. */
  place(order: request.NewOrder): Promise<Result<reply.PlacedOrder>> {
    const { orderType = "GTC", expiration, ...fields } = order;
    const text = expiration === undefined ? {} : { expiration: expirationText(expiration) };
    const body = { ...fields, orderType, ...text };
    return this.#connection.ask({ method: "POST", path: "/clob/order", body, signed: true });
  }

  /** Cancels one order; that it is no longer live is no error but a `notCanceled`. */
  cancel(orderId: string): Promise<Result<reply.CancelResult>> {
    const body = { orderId };
    return this.#connection.ask({ method: "DELETE", path: "/clob/order", body, signed: true });
  }

  /** Cancels all open orders, oldest first. */
  cancelAll(): Promise<Result<reply.CancelResult>> {
    return this.#connection.ask({ method: "DELETE", path: "/clob/orders/all", signed: true });
  }

  /** The client's open orders, oldest first. */
  openOrders({ tokenId, ...rest }: request.OrderFilter = {}): Promise<Result<reply.Page<reply.Order>>> {
    const query = { token_id: tokenId, ...rest };
    return this.#connection.ask({ path: "/clob/orders", query, signed: true });
  }

  /** The client's fills, newest first. */
  trades({ tokenId, ...rest }: request.TradeFilter = {}): Promise<Result<reply.Page<reply.Trade>>> {
    const query = { token_id: tokenId, ...rest };
    return this.#connection.ask({ path: "/clob/trades", query, signed: true });
  }

  /** A token's bids and asks, best first. */
  book(tokenId: string): Promise<Result<reply.Book>> {
    return this.#ofToken("book", tokenId);
  }

  /** What the token is quoted at, from four requests side by side: a trade in between may come between them. */
  async quotes(tokenId: string): Promise<Result<reply.Quotes>> {
    const [price, midpoint, spread, last] = await Promise.all([
      this.#ofToken<reply.Quote>("price", tokenId),
      this.#ofToken<reply.Midpoint>("midpoint", tokenId),
      this.#ofToken<reply.Spread>("spread", tokenId),
      this.#ofToken<reply.LastTrade>("last-trade-price", tokenId),
    ]);
    if (!price.ok) return price;
    if (!midpoint.ok) return midpoint;
    if (!spread.ok) return spread;
    if (!last.ok) return last;
    return success({ ...price.value, ...midpoint.value, ...spread.value, ...last.value });
  }

  tickSize(tokenId: string): Promise<Result<reply.TickSize>> {
    return this.#ofToken("tick-size", tokenId);
  }

  /** Of takers, in basis points. */
  feeRate(tokenId: string): Promise<Result<reply.FeeRate>> {
    return this.#ofToken("fee-rate", tokenId);
  }

  markets(filter: request.MarketFilter = {}): Promise<Result<reply.Page<reply.Market>>> {
    return this.#connection.ask({ path: "/api/markets", query: { ...filter } });
  }

  market(idOrSlug: string): Promise<Result<reply.MarketDetail>> {
    return this.#connection.ask({ path: route`/api/markets/${idOrSlug}` });
  }

  /** Prices at which one token of a market traded, oldest first. */
  history(idOrSlug: string, range: request.HistoryRange = {}): Promise<Result<reply.PricesHistory>> {
    const path = route`/api/markets/${idOrSlug}/prices-history`;
    return this.#connection.ask({ path, query: { ...range } });
  }

  /** A market's trades as their takers saw them, newest first. */
  marketTrades(
    idOrSlug: string,
    filter: request.MarketTradeFilter = {},
  ): Promise<Result<reply.Page<reply.MarketTrade>>> {
    return this.#connection.ask({ path: route`/api/markets/${idOrSlug}/trades`, query: { ...filter } });
  }

  /** Newest first. */
  events(filter: request.EventFilter = {}): Promise<Result<reply.Page<reply.MarketEvent>>> {
    return this.#connection.ask({ path: "/api/events", query: { ...filter } });
  }

  event(idOrSlug: string): Promise<Result<reply.EventDetail>> {
    return this.#connection.ask({ path: route`/api/events/${idOrSlug}` });
  }

  /** Markets and events in which every word occurs, best first. */
  search(words: string, window: PageWindow = {}): Promise<Result<reply.Page<reply.SearchResult>>> {
    return this.#connection.ask({ path: "/api/search", query: { q: words, ...window } });
  }

  /** The server's time in Unix seconds. */
  serverTime(): Promise<Result<reply.Time>> {
    return this.#connection.ask({ path: "/clob/time" });
  }

  /** Asks the server for its time and from then on signs by the local clock corrected to it. */
  syncTime(): Promise<Result<TimeSync>> {
    return this.#connection.clock.sync();
  }

  /** Sends any request, signed or not, right or wrong; whatever comes back is a success. */
  send(raw: RawRequest): Promise<Result<RawReply>> {
    return this.#connection.send(raw);
  }

  #ofToken<Value>(quantity: string, tokenId: string): Promise<Result<Value>> {
    return this.#connection.ask({ path: `/clob/${quantity}`, query: { token_id: tokenId } });
  }
}

function originOf(url: string): URL {
  const origin = URL.canParse(url) ? new URL(url) : null;
  const isWeb = origin?.protocol === "http:" || origin?.protocol === "https:";
  if (origin !== null && isWeb && origin.href === `${origin.origin}/`) return origin;
  throw new TypeError(`expected an origin such as http://127.0.0.1:7070, found ${JSON.stringify(url)}`);
}

/** The text of an expiration; what is no moment becomes a text that the server will refuse. */
function expirationText(expiration: Date | string | number): string {
  const isMoment = expiration instanceof Date && !Number.isNaN(expiration.getTime());
  return isMoment ? expiration.toISOString() : String(expiration);
}
