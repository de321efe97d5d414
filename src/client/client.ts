import type { Route } from "../api/endpoints.ts";
import * as option from "../api/option-types.ts";
import { ATTESTATION, type ClobAuth, clobAuth, isNonce } from "../api/wallet-signature.ts";
import type * as api from "./api-messages.ts";
import {
  Connection,
  type NewOrder,
  orderBody,
  type RawRequest,
  type ReplyAt,
  type SigningCredentials,
  type SigningOptions,
  type TimeSync,
} from "./connection.ts";
import { type ControlPlane, controlOf } from "./control.ts";
import { failure, invalidNonce, NO_WALLET, type RawReply, type Result, success, unsigned } from "./result.ts";
import { openTransport, REPLY_TIMEOUT_MS, type Transport } from "./transport.ts";

/** Options of a client. */
export interface ClientOptions extends SigningOptions {
  /** Wallet that derives credentials: a viem account or the result of `walletOf`. */
  readonly account?: WalletAccount;
  /** Transport to use instead of the client's own HTTP connections; `close()` does not close it. */
  readonly transport?: Transport;
  /** Chain id in the typed data that derives credentials; default 137. */
  readonly chainId?: number;
  /** Milliseconds within which a reply must be complete; default 30,000. */
  readonly timeoutMs?: number;
}

const OPTION_TYPES: Readonly<Record<keyof ClientOptions, option.Type>> = {
  account: option.objectWith("a wallet, such as await walletOf(privateKey)", {
    address: option.text,
    signTypedData: option.callable,
    signMessage: option.callable,
  }),
  credentials: option.objectWith("{ address, apiKey, secret, passphrase }, four strings", {
    address: option.text,
    apiKey: option.text,
    secret: option.text,
    passphrase: option.text,
  }),
  time: option.oneOf(["local", "server"], {
    ...option.callable,
    expected: "a function that answers Unix seconds",
  }),
  transport: option.callable,
  simToken: option.secret,
  chainId: option.positive(Number.MAX_SAFE_INTEGER),
  timeoutMs: option.positive(2_147_483_647),
};

const RAW_REQUEST = option.objectWith("a request { method, path, body }", {});

/** Best bid and ask, mid, spread and last trade of a token; null if there is none. `side` is the last taker's. */
export interface Quotes extends api.Quote, api.Midpoint, api.Spread, api.LastTrade {}

/** Chain of the real service. */
const POLYGON = 137;

/**
 * A client of one exchange. Every call returns a `Result`: the body of the reply, typed by the contract, or an error as a
 * value. It never retries.
 */
export class ExchangeClient {
  /** The control plane `/sim`: clock, funding, markets, snapshots, faults, state. */
  readonly control: ControlPlane;
  readonly #connection: Connection;
  readonly #account: WalletAccount | null;
  readonly #chainId: number;
  readonly #close: () => void;

  /**
   * `url` is the exchange's, such as `http://127.0.0.1:7070`, or `http://127.0.0.1:7070/3` in a pool.
   * @throws TypeError if the URL or an option is invalid.
   */
  constructor(url: string, options: ClientOptions = {}) {
    const problem = option.problemIn(options, OPTION_TYPES);
    if (problem !== undefined) throw new TypeError(problem);
    const base = baseOf(url);
    const { transport, timeoutMs = REPLY_TIMEOUT_MS } = options;
    const { send, close } =
      transport === undefined ? openTransport(base, timeoutMs) : { send: transport, close: () => {} };
    this.#connection = new Connection(base, send, options);
    this.control = controlOf(this.#connection);
    this.#account = options.account ?? null;
    this.#chainId = options.chainId ?? POLYGON;
    this.#close = close;
  }

  /** Credentials that sign requests; null before `derive()`. Keep them secret. */
  get credentials(): SigningCredentials | null {
    return this.#connection.credentials;
  }

  /** Closes the client's connections; pending requests fail. */
  close(): void {
    this.#close();
  }

  /**
   * Derives new credentials with the wallet's signature and uses them for later requests.
   * @throws TypeError if the scheme is unknown.
   */
  async derive(
    nonce: number | bigint = 0,
    scheme: WalletScheme = "typed-data",
  ): Promise<Result<SigningCredentials>> {
    const problem = option.problemOf("scheme", scheme, SCHEME);
    if (problem !== undefined) throw new TypeError(problem);
    const account = this.#account;
    if (account === null) return failure(NO_WALLET);
    if (!isNonce(nonce)) return failure(invalidNonce(nonce));
    const now = await this.#connection.now();
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

  /** Places an order; its immediate fills are in the reply's `trades`. */
  place(order: NewOrder): Promise<Result<api.PlacedOrder>> {
    return this.#connection.ask("POST /clob/order", { body: orderBody(order), signed: true });
  }

  /** Cancels one order. An order that is no longer live is reported in `notCanceled`, not as an error. */
  cancel(orderId: string): Promise<Result<api.CancelResult>> {
    return this.#connection.ask("DELETE /clob/order", { body: { orderId }, signed: true });
  }

  /** Cancels all open orders, oldest first. */
  cancelAll(): Promise<Result<api.CancelResult>> {
    return this.#connection.ask("DELETE /clob/orders/all", { signed: true });
  }

  /** The client's open orders, oldest first. */
  openOrders(filter?: api.OrderFilter): Promise<Result<api.Page<api.Order>>> {
    return this.#connection.ask("GET /clob/orders", { query: queryOf(filter), signed: true });
  }

  /** The client's fills, newest first. */
  trades(filter?: api.TradeFilter): Promise<Result<api.Page<api.Trade>>> {
    return this.#connection.ask("GET /clob/trades", { query: queryOf(filter), signed: true });
  }

  /** A token's bids and asks, best first. */
  book(tokenId: string): Promise<Result<api.Book>> {
    return this.#ofToken("GET /clob/book", tokenId);
  }

  /** Returns a token's quotes from four parallel requests. They may be inconsistent if the book changes in between. */
  async quotes(tokenId: string): Promise<Result<Quotes>> {
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

  /** The prices at which one token of a market traded, oldest first. */
  history(idOrSlug: string, range?: api.HistoryRange): Promise<Result<api.PricesHistory>> {
    const path = [idOrSlug];
    return this.#connection.ask("GET /api/markets/{idOrSlug}/prices-history", { path, query: range });
  }

  tickSize(tokenId: string): Promise<Result<api.TickSize>> {
    return this.#ofToken("GET /clob/tick-size", tokenId);
  }

  /** The taker fee rate, in basis points. */
  feeRate(tokenId: string): Promise<Result<api.FeeRate>> {
    return this.#ofToken("GET /clob/fee-rate", tokenId);
  }

  markets(filter?: api.MarketFilter): Promise<Result<api.Page<api.Market>>> {
    return this.#connection.ask("GET /api/markets", { query: filter });
  }

  market(idOrSlug: string): Promise<Result<api.MarketDetail>> {
    return this.#connection.ask("GET /api/markets/{idOrSlug}", { path: [idOrSlug] });
  }

  /** A market's trades from the taker's side, newest first. */
  marketTrades(idOrSlug: string, filter?: api.MarketTradeFilter): Promise<Result<api.Page<api.MarketTrade>>> {
    return this.#connection.ask("GET /api/markets/{idOrSlug}/trades", { path: [idOrSlug], query: filter });
  }

  /** Events, newest first. */
  events(filter?: api.EventFilter): Promise<Result<api.Page<api.MarketEvent>>> {
    return this.#connection.ask("GET /api/events", { query: filter });
  }

  event(idOrSlug: string): Promise<Result<api.EventDetail>> {
    return this.#connection.ask("GET /api/events/{idOrSlug}", { path: [idOrSlug] });
  }

  /** Markets and events that contain every word, best match first. */
  search(words: string, window: api.PageWindow = {}): Promise<Result<api.Page<api.SearchResult>>> {
    return this.#connection.ask("GET /api/search", { query: { q: words, ...window } });
  }

  /** The server's time in Unix seconds. */
  serverTime(): Promise<Result<api.Time>> {
    return this.#connection.ask("GET /clob/time");
  }

  /** Measures the offset of the local clock from the server's and adds it to the time of later signed requests. */
  syncTime(): Promise<Result<TimeSync>> {
    return this.#connection.syncTime();
  }

  /**
   * Sends any request, signed or not, valid or not; any reply is a success.
   * @throws TypeError if the request is no object.
   */
  async send(raw: RawRequest): Promise<Result<RawReply>> {
    const problem = option.problemOf("send", raw, RAW_REQUEST);
    if (problem !== undefined) throw new TypeError(problem);
    return this.#connection.send(raw);
  }

  #ofToken<R extends Route>(route: R, tokenId: string): Promise<Result<ReplyAt<R>>> {
    return this.#connection.ask(route, { query: { token_id: tokenId } });
  }
}

function queryOf(filter: api.OrderFilter | api.TradeFilter = {}) {
  const { tokenId, ...rest } = { ...filter };
  return { token_id: tokenId, ...rest };
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

/** A wallet that signs: a viem account or anything with the same methods. */
export interface WalletAccount {
  /** `0x` and 40 hexadecimal digits. */
  readonly address: `0x${string}`;
  /** EIP-712. */
  signTypedData(typedData: ClobAuth): Promise<string>;
  /** EIP-191. */
  signMessage(text: { readonly message: string }): Promise<string>;
}

/** How a wallet signs: EIP-712 typed data, or the plain attestation text by EIP-191, without time and nonce. */
type WalletScheme = "typed-data" | "personal-sign";

const SCHEME = option.oneOf(["typed-data", "personal-sign"] satisfies readonly WalletScheme[]);

/** Returns the body of POST /clob/auth/derive-api-key; `unixTime` is in seconds. Rejects if the wallet does not sign. */
export async function attest(
  account: WalletAccount,
  claim: Readonly<{ scheme: WalletScheme; chainId: number; unixTime: number; nonce: number | bigint }>,
): Promise<Readonly<Record<string, string>>> {
  const { address } = account;
  if (claim.scheme === "personal-sign") {
    return { address, signature: await account.signMessage({ message: ATTESTATION }) };
  }
  const timestamp = String(claim.unixTime);
  const nonce = BigInt(claim.nonce);
  const signature = await account.signTypedData(clobAuth(address, timestamp, nonce, claim.chainId));
  return { address, signature, timestamp, nonce: String(nonce) };
}

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/**
 * Returns the wallet of a private key, which signs in this process. Loads viem on the first call.
 * @throws TypeError if the text is not `0x` and 64 hex digits, without repeating it; RangeError if the key is not valid.
 */
export async function walletOf(privateKey: string): Promise<WalletAccount> {
  if (!PRIVATE_KEY.test(privateKey)) throw new TypeError("a private key is 0x and 64 hexadecimal digits");
  const { privateKeyToAccount } = await import("viem/accounts");
  try {
    return privateKeyToAccount(privateKey as `0x${string}`);
  } catch {
    throw new RangeError("a private key is above 0 and below the order of secp256k1");
  }
}
