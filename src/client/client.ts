import type { AnyEndpoint, BodyAt, QueryAt, ReplyAt, Route } from "../api/endpoints.ts";
import { Connection, type RawRequest, type TimeSync } from "./connection.ts";
import type * as message from "./messages.ts";
import { type ClientOptions, requireOptions } from "./options.ts";
import { failure, noWallet, type RawReply, type Result, success, unsigned } from "./result.ts";
import { openTransport } from "./transport.ts";
import { attest, type WalletAccount, type WalletScheme } from "./wallet.ts";

const POLYGON = 137;
const TIMEOUT_MS = 30_000;

type Table = Readonly<Record<string, Route<Exclude<AnyEndpoint, { readonly access: "signed" }>>>>;

type PathParameters<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [parameter: string, ...PathParameters<Rest>]
  : [];

/** Takes the parameters of the path, then the body or the query, which may be left out where the endpoint can do without. */
type Method<R extends Route> = (
  ...args: [
    ...PathParameters<R>,
    ...([BodyAt<R>] extends [never]
      ? [keyof QueryAt<R>] extends [never]
        ? []
        : [query?: QueryAt<R>]
      : [body: BodyAt<R>]),
  ]
) => Promise<Result<ReplyAt<R>>>;

type Methods<T extends Table> = { readonly [Name in keyof T]: Method<T[Name]> };

/** A class with a method for each row of a table. */
function methodsOf<const T extends Table>(table: T): new (connection: Connection) => Methods<T> {
  class Calls {
    constructor(connection: Connection) {
      for (const [name, route] of Object.entries(table)) {
        const [method, path = ""] = route.split(" ");
        const count = path.split("{").length - 1;
        const value = (...args: unknown[]) => {
          const sent = { [method === "GET" ? "query" : "body"]: args[count] };
          return connection.ask(route, { path: args.slice(0, count) as string[], ...sent });
        };
        Object.defineProperty(this, name, { value, writable: true, configurable: true });
      }
    }
  }
  return Calls as new (
    connection: Connection,
  ) => Methods<T>;
}

/** `/sim/chain`: when blocks are mined, and what goes wrong with settlements. */
export class ChainControl extends methodsOf({
  /** Head, what is pending, when the next block is due, and the contracts. */
  info: "GET /sim/chain",
  /** Latest first, with their transactions. */
  blocks: "GET /sim/chain/blocks",
  /** What waits for a block or was lost, oldest first, and why. */
  pending: "GET /sim/chain/pending",
  /** Shares and locked USDC of a market, in the ledger and on the chain. */
  supply: "GET /sim/chain/supply/{idOrSlug}",
  /** Lets the exchange raise its fees: a gas spike keeps nothing of its own out of a block any more. */
  bump: "POST /sim/chain/bump",
  /** Oldest first, with how often each has struck. */
  faults: "GET /sim/chain/faults",
  /** Lets settlements fail, be retried, delayed or lost; lets gas spike; reorganizes the chain. */
  addFault: "POST /sim/chain/faults",
  /** Ends a fault, and answers it as it stood. */
  deleteFault: "DELETE /sim/chain/faults/{id}",
  clearFaults: "DELETE /sim/chain/faults",
}) {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super(connection);
    this.#connection = connection;
  }

  /** Mines blocks at once; all that is pending is in the first. */
  mine(blocks = 1): Promise<Result<message.Chain>> {
    return this.#connection.ask("POST /sim/chain/mine", { body: { blocks } });
  }
}

/** The control plane `/sim`, which is no part of the imitated service. Values are the bodies of its replies. */
export class ControlPlane extends methodsOf({
  /** Version, seed, clock, sequence, state hash, config, dev accounts. */
  info: "GET /sim",
  clock: "GET /sim/clock",
  /** Freezes, scales, sets or advances the clock; answers what fired on the way. */
  setClock: "POST /sim/clock",
  /** Starts anew from the opened world; credentials are forgotten with all else. */
  reset: "POST /sim/reset",
  account: "GET /sim/accounts/{address}",
  /** Oldest first. */
  accounts: "GET /sim/accounts",
  /** Adds USDC, and shares by token id. */
  fund: "POST /sim/accounts/{address}/fund",
  /** API credentials of any address without its wallet's signature: a new set each time, with funds the first time. */
  credentials: "POST /sim/accounts/{address}/credentials",
  createEvent: "POST /sim/events",
  createMarket: "POST /sim/markets",
  /** Ends a market's trading; what rests is canceled. */
  close: "POST /sim/markets/{idOrSlug}/close",
  /** Why an order is where it is: the queue it joined, every fill, what ended it. */
  order: "GET /sim/orders/{id}",
  /** Each invariant with its figures. */
  invariants: "GET /sim/invariants",
  /** The whole state, canonical. */
  state: "GET /sim/state",
  stateHash: "GET /sim/state/hash",
  /** Why a signed request would be a 401. */
  explainAuth: "POST /sim/explain-auth",
  /** Oldest first. */
  snapshots: "GET /sim/snapshots",
  /** Goes back to a snapshot, by its id or name; of several with one name to the latest. */
  restore: "POST /sim/snapshots/{idOrName}/restore",
  /** Forgets a snapshot, and answers it. */
  deleteSnapshot: "DELETE /sim/snapshots/{idOrName}",
  /** Injects a fault into `/api` and `/clob`. */
  addFault: "POST /sim/faults",
  /** Oldest first, with how often each has fired. */
  faults: "GET /sim/faults",
  /** Removes a fault, and answers it as it stood. */
  deleteFault: "DELETE /sim/faults/{id}",
  clearFaults: "DELETE /sim/faults",
}) {
  /** `/sim/chain`: blocks, what is pending, settlement faults. */
  readonly chain: ChainControl;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    super(connection);
    this.chain = new ChainControl(connection);
    this.#connection = connection;
  }

  resolve(idOrSlug: string, winningOutcome: message.WinningOutcome): Promise<Result<message.Market>> {
    const body = { winningOutcome };
    return this.#connection.ask("POST /sim/markets/{idOrSlug}/resolve", { path: [idOrSlug], body });
  }

  /** Keeps books, accounts, clock, timers and id counters as they stand. */
  snapshot(name?: string): Promise<Result<message.Snapshot>> {
    return this.#connection.ask("POST /sim/snapshots", name === undefined ? {} : { body: { name } });
  }

  /** All that was done since the exchange was opened, as a scenario that passes. */
  scenario(name?: string): Promise<Result<message.RecordedScenario>> {
    return this.#connection.ask("GET /sim/scenario", { query: { name } });
  }

  /** All that another machine needs to replay what was done, a JSON object a line: the content of a report's file. */
  report(reason?: string): Promise<Result<string>> {
    return this.#connection.askText("GET /sim/report", { query: { reason } });
  }
}

/**
 * A client of one exchange. Every call answers a `Result`: a value that is the reply's body as the contract types it,
 * or an error as a value; no call is ever sent twice.
 */
export class ExchangeClient extends methodsOf({
  markets: "GET /api/markets",
  market: "GET /api/markets/{idOrSlug}",
  /** Prices at which one token of a market traded, oldest first. */
  history: "GET /api/markets/{idOrSlug}/prices-history",
  /** A market's trades as their takers saw them, newest first. */
  marketTrades: "GET /api/markets/{idOrSlug}/trades",
  /** Newest first. */
  events: "GET /api/events",
  event: "GET /api/events/{idOrSlug}",
  /** The server's time in Unix seconds. */
  serverTime: "GET /clob/time",
}) {
  /** `/sim`: clock, funding, markets, and what the exchange knows of itself. */
  readonly control: ControlPlane;
  readonly #connection: Connection;
  readonly #account: WalletAccount | null;
  readonly #chainId: number;
  readonly #close: () => void;

  /**
   * `url` is where the exchange is, such as `http://127.0.0.1:7070`, or `http://127.0.0.1:7070/3` of a pool.
   * @throws TypeError when it, or an option, is something else.
   */
  constructor(url: string, options: ClientOptions = {}) {
    requireOptions(options);
    const base = baseOf(url);
    const { transport, timeoutMs = TIMEOUT_MS } = options;
    const { send, close } =
      transport === undefined ? openTransport(base, timeoutMs) : { send: transport, close: () => {} };
    const connection = new Connection(base, {
      transport: send,
      time: options.time ?? "local",
      simToken: options.simToken ?? null,
      credentials: options.credentials ?? null,
    });
    super(connection);
    this.#connection = connection;
    this.control = new ControlPlane(connection);
    this.#account = options.account ?? null;
    this.#chainId = options.chainId ?? POLYGON;
    this.#close = close;
  }

  /** What signed requests are signed with; null before `derive()`. Keep it secret. */
  get credentials(): message.SigningCredentials | null {
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
  ): Promise<Result<message.SigningCredentials>> {
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
    const derived = await this.#connection.ask("POST /clob/auth/derive-api-key", { body });
    if (!derived.ok) return derived;
    const credentials = { ...derived.value, address: account.address };
    this.#connection.credentials = credentials;
    return success(credentials);
  }

  /** Places an order; its immediate fills are the answer's `trades`. */
  place(order: message.NewOrder): Promise<Result<message.PlacedOrder>> {
    const { orderType = "GTC", expiration, ...fields } = order;
    const text = expiration === undefined ? {} : { expiration: expirationText(expiration) };
    const body = { ...fields, orderType, ...text };
    return this.#connection.ask("POST /clob/order", { body, signed: true });
  }

  /** Cancels one order; that it is no longer live is no error but a `notCanceled`. */
  cancel(orderId: string): Promise<Result<message.CancelResult>> {
    const body = { orderId };
    return this.#connection.ask("DELETE /clob/order", { body, signed: true });
  }

  /** Cancels all open orders, oldest first. */
  cancelAll(): Promise<Result<message.CancelResult>> {
    return this.#connection.ask("DELETE /clob/orders/all", { signed: true });
  }

  /** The client's open orders, oldest first. */
  openOrders({ tokenId, ...rest }: message.OrderFilter = {}): Promise<Result<message.Page<message.Order>>> {
    const query = { token_id: tokenId, ...rest };
    return this.#connection.ask("GET /clob/orders", { query, signed: true });
  }

  /** The client's fills, newest first. */
  trades({ tokenId, ...rest }: message.TradeFilter = {}): Promise<Result<message.Page<message.Trade>>> {
    const query = { token_id: tokenId, ...rest };
    return this.#connection.ask("GET /clob/trades", { query, signed: true });
  }

  /** A token's bids and asks, best first. */
  book(tokenId: string): Promise<Result<message.Book>> {
    return this.#ofToken("GET /clob/book", tokenId);
  }

  /** What the token is quoted at, from four requests side by side: a trade in between may come between them. */
  async quotes(tokenId: string): Promise<Result<message.Quotes>> {
    const [price, midpoint, spread, last] = await Promise.all([
      this.#ofToken("GET /clob/price", tokenId),
      this.#ofToken("GET /clob/midpoint", tokenId),
      this.#ofToken("GET /clob/spread", tokenId),
      this.#ofToken("GET /clob/last-trade-price", tokenId),
    ]);
    if (!price.ok) return price;
    if (!midpoint.ok) return midpoint;
    if (!spread.ok) return spread;
    if (!last.ok) return last;
    return success({ ...price.value, ...midpoint.value, ...spread.value, ...last.value });
  }

  tickSize(tokenId: string): Promise<Result<message.TickSize>> {
    return this.#ofToken("GET /clob/tick-size", tokenId);
  }

  /** Of takers, in basis points. */
  feeRate(tokenId: string): Promise<Result<message.FeeRate>> {
    return this.#ofToken("GET /clob/fee-rate", tokenId);
  }

  /** Markets and events in which every word occurs, best first. */
  search(
    words: string,
    window: message.PageWindow = {},
  ): Promise<Result<message.Page<message.SearchResult>>> {
    return this.#connection.ask("GET /api/search", { query: { q: words, ...window } });
  }

  /** Asks the server for its time and from then on signs by the local clock corrected to it. */
  syncTime(): Promise<Result<TimeSync>> {
    return this.#connection.clock.sync();
  }

  /** Sends any request, signed or not, right or wrong; whatever comes back is a success. */
  send(raw: RawRequest): Promise<Result<RawReply>> {
    return this.#connection.send(raw);
  }

  #ofToken<R extends Route>(route: R, tokenId: string): Promise<Result<ReplyAt<R>>> {
    return this.#connection.ask(route, { query: { token_id: tokenId } });
  }
}

function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : null;
  const isWeb = base?.protocol === "http:" || base?.protocol === "https:";
  const isPath = base !== null && /^\/(?:[1-9]\d*\/?)?$/.test(base.pathname);
  if (isWeb && isPath && base.href === base.origin + base.pathname) return base;
  throw new TypeError(
    `expected a URL such as http://127.0.0.1:7070, or http://127.0.0.1:7070/3 of a pool, found ${JSON.stringify(url)}`,
  );
}

/** The text of an expiration; what is no moment becomes a text that the server will refuse. */
function expirationText(expiration: Date | string | number): string {
  const isMoment = expiration instanceof Date && !Number.isNaN(expiration.getTime());
  return isMoment ? expiration.toISOString() : String(expiration);
}
