import { Connection, type RawRequest } from "./connection.ts";
import { ControlPlane } from "./control-plane.ts";
import { attest, type WalletAccount, type WalletScheme } from "./derive.ts";
import { noWallet, unsigned } from "./exchange-error.ts";
import { type ClientOptions, demandOptions } from "./options.ts";
import type { PageWindow } from "./pages.ts";
import type { RawReply } from "./read-reply.ts";
import type * as reply from "./replies.ts";
import type * as request from "./requests.ts";
import { failure, type Result, success } from "./result.ts";
import type { TimeSync } from "./signing-clock.ts";
import { route } from "./target.ts";
import { openTransport } from "./transport.ts";

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
