import { parse, YAMLParseError } from "yaml";
import { endpointOf, type Operation, type ReplyTo } from "../../api/endpoints.ts";
import { isObject } from "../../api/errors.ts";
import { type ClientOptions, ExchangeClient, walletOf } from "../../client/client.ts";
import { collect, ExchangeFailure, orThrow } from "../../client/result.ts";
import { DocumentError, within } from "../../core/document-error.ts";
import { decimalText, MONEY_PLACES, SIZE_PLACES, shellOption, unitsOf } from "../../core/format.ts";
import { anyOf, isWord, SELF_TRADE_POLICIES, SLUG } from "../../core/terms.ts";
import { FULL_PRICE, type Millis, millis, SHARE_UNITS, type Size, size } from "../../core/units.ts";
import { didYouMean } from "../../nearest.ts";
import { FILE_LIMITS, readFailure, readText } from "../../regular-file.ts";
import type { DirectCall } from "../../server/router.ts";
import { ConfigError } from "../../setting.ts";
import { isPrivateKey } from "../../simulation/world-accounts.ts";
import { assetText, type MarketTerms } from "../language/declarations.ts";
import { controlNeedOf, type Scenario } from "../language/steps.ts";
import { HttpClients } from "./http-venue.ts";
import { type PlacedOrder, type Target, Venue } from "./venue.ts";
import {
  type Attempt,
  type Canceled,
  DONE,
  type Fill,
  fillOf,
  NotRunnable,
  type OrderView,
  orderView,
  partIn,
  type RequestReply,
  sizeOf,
  VenueError,
  type VenueHistory,
} from "./views.ts";

/** A market of a deployment. Its self-trade policy is declared because the API does not show it. */
type TargetMarket = Readonly<ReturnType<typeof marketIn>>;

/** A wallet on a deployment, and its funds there. */
interface TargetAccount {
  readonly privateKey: string;
  /** Existing credentials; null to derive new ones. */
  readonly credentials: Readonly<Record<"apiKey" | "secret" | "passphrase", string>> | null;
  /** Units by `USDC`, `YES`, `NO`, or `rain YES`. */
  readonly funds: ReadonlyMap<string, number>;
}

/** Maps a scenario's markets to those of a deployment, and its accounts to wallets. */
type TargetFile = Readonly<ReturnType<typeof readTargetFile>>;

const SECRETS: readonly string[] = ["privateKey", "apiKey", "secret", "passphrase"];
const MAX_ALIASES = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z\d_]{0,63}$/;

/**
 * Reads a wallets file (YAML or JSON): `markets: { market: will-it-rain }`, or with a self-trade policy
 * `markets: { market: { market: will-it-rain, selfTrade: cancel-taker } }`, and
 * `accounts: { alice: { privateKey: 0x..., USDC: 1000 } }`. A secret written `$NAME` is read from the environment.
 * @throws ConfigError, whose message never contains a key
 */
export function readTargetFile(path: string, environment: NodeJS.ProcessEnv) {
  try {
    const whole = load(path);
    const { markets = {}, accounts = {} } = within("the file", () => mappingOf(KEYS, whole));
    return {
      markets: within("markets", () => eachIn(markets, marketIn)),
      accounts: within("accounts", () => eachIn(accounts, (value) => accountIn(value, environment))),
    };
  } catch (error) {
    // The value found is not shown, because it may be a key.
    const why =
      error instanceof DocumentError ? `${error.path}: expected ${error.expected}` : readFailure(error);
    throw new ConfigError(`--wallets ${path}: ${why}`);
  }
}

/** Parses a file without the parser's warnings, which could show a key. */
function load(path: string): unknown {
  const text = readText(path, FILE_LIMITS.wallets);
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES, intAsBigInt: true, logLevel: "error" });
  } catch (error) {
    // Without the parser's message, which quotes the file.
    if (!(error instanceof YAMLParseError))
      throw new Error("no valid YAML: an alias leads nowhere, or too many do");
    const [at] = error.linePos ?? [];
    const place = at === undefined ? "" : ` at line ${at.line}, column ${at.col}`;
    throw new Error(`no valid YAML${place} (${error.code})`);
  }
}

/** Returns a name for messages, or `(a name)` if it may be a key. */
const shown = (name: string): string =>
  /^[A-Za-z][\w -]{0,63}$/.test(name) && !/[\da-f-]{24}/i.test(name) ? name : "(a name)";

/** Returns a slug for messages, for the same reason; an id is not shown. */
const shownSlug = (slug: string): string =>
  SLUG.test(slug) && slug.length <= 128 && !/[\da-f-]{24}/.test(slug) ? JSON.stringify(slug) : "of that id";

const wrong = (expected: string, ...path: readonly string[]): DocumentError =>
  new DocumentError(expected, null, ...path);

function mappingIn(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw wrong("a mapping");
  return value;
}

const KEYS = ["markets", "accounts"] as const;
const MARKET_KEYS = ["market", "selfTrade"] as const;
const KEY_RULE = "0x and 64 hexadecimal digits in quotes, or $NAME of a variable that holds them";

/** Returns a mapping that has no other keys. */
function mappingOf<Key extends string>(keys: readonly Key[], value: unknown) {
  const mapping = mappingIn(value);
  for (const key of Object.keys(mapping)) {
    if (keys.some((known) => known === key)) continue;
    throw wrong(`${anyOf(keys)}, found ${shown(key)}${didYouMean(key, keys)}`);
  }
  return mapping as Partial<Readonly<Record<Key, unknown>>>;
}

const eachIn = <Value>(value: unknown, read: (value: unknown, key: string) => Value): Map<string, Value> =>
  new Map(
    Object.entries(mappingIn(value)).map(([key, each]) => [key, within(shown(key), () => read(each, key))]),
  );

function textIn(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(`a text${typeof value === "bigint" ? ", in quotes" : ""}`);
}

function marketIn(value: unknown) {
  if (typeof value !== "object" || value === null)
    return { idOrSlug: textIn(value), selfTrade: "allow" as const };
  const { market, selfTrade: policy = "allow" } = mappingOf(MARKET_KEYS, value);
  const selfTrade = SELF_TRADE_POLICIES.find((known) => known === policy);
  if (selfTrade === undefined) throw wrong(anyOf(SELF_TRADE_POLICIES), "selfTrade");
  return { idOrSlug: within("market", () => textIn(market)), selfTrade };
}

function accountIn(value: unknown, environment: NodeJS.ProcessEnv): TargetAccount {
  const secrets = new Map<string, string>();
  const funds = new Map<string, number>();
  eachIn(value, (each, key) => {
    if (SECRETS.includes(key)) secrets.set(key, secretIn(each, environment));
    else funds.set(key, unitsIn(each, key));
  });
  const privateKey = secrets.get("privateKey") ?? "";
  if (!isWord(privateKey) || !isPrivateKey(privateKey.slice(2).toLowerCase()))
    throw wrong(KEY_RULE, "privateKey");
  const { apiKey, secret, passphrase } = Object.fromEntries(secrets);
  if (apiKey !== undefined && secret !== undefined && passphrase !== undefined)
    return { privateKey, credentials: { apiKey, secret, passphrase }, funds };
  if (secrets.size === 1) return { privateKey, credentials: null, funds };
  throw wrong("apiKey, secret and passphrase, or none of them");
}

function secretIn(value: unknown, environment: NodeJS.ProcessEnv): string {
  const text = textIn(value);
  if (!text.startsWith("$")) return text;
  const name = text.slice(1);
  if (!VARIABLE.test(name)) throw wrong("the name of a variable after $");
  const found = environment[name];
  if (found === undefined || found === "") throw wrong(`the variable ${name} to be set`);
  return found;
}

function unitsIn(value: unknown, asset: string): number {
  if (!/^(?:USDC|(?:\S+ )?(?:YES|NO))$/.test(asset))
    throw wrong('privateKey, apiKey, secret, passphrase, USDC, YES, NO or "market YES"');
  const units = unitsOf(String(value), placesOf(asset));
  if (units === null) throw wrong("an amount such as 1000");
  return units;
}

const placesOf = (asset: string): number => (asset === "USDC" ? MONEY_PLACES : SIZE_PLACES);

/**
 * Reads the time and each market of a wallets file from a deployment. If the connection is lost after the first answer, the
 * scenarios will fail.
 * @throws ConfigError if the deployment does not answer, or there is none; for an unknown market, with the nearest slug.
 */
async function checkTarget(url: string, source: string, { markets }: TargetFile): Promise<void> {
  const client = new ExchangeClient(url);
  try {
    const time = await client.serverTime();
    const { status = 200, message = "" } = time.ok ? {} : time.error;
    if (status === null) throw new ConfigError(`--target: ${message}`);
    if (status === 404) throw new ConfigError(`--target: there is no exchange at ${url}: ${message}`);
    for (const [name, { idOrSlug }] of markets) {
      const found = await client.market(idOrSlug);
      if (found.ok) continue;
      if (found.error.status === null) return;
      if (found.error.code !== "MARKET_NOT_FOUND") continue;
      const listed = await collect((window) => client.markets(window), { limit: 100 });
      const hint = didYouMean(idOrSlug, listed.ok ? listed.value.map(({ slug }) => slug) : []);
      const what = `there is no market ${shownSlug(idOrSlug)} at ${url}${hint}`;
      throw new ConfigError(`${source}: markets.${shown(name)}: ${what}`);
    }
  } finally {
    client.close();
  }
}

/** Returns what a scenario needs and the wallets file lacks; null if nothing. */
function fileNeedOf({ accounts, markets }: Scenario, file: TargetFile): string | null {
  for (const { name, selfTrade } of markets) {
    const market = file.markets.get(name);
    if (market === undefined) return `needs a market named ${name} in the wallets file`;
    if (market.selfTrade === selfTrade) continue;
    return `needs a market named ${name} with selfTrade ${selfTrade}, the wallets file gives ${market.selfTrade}`;
  }
  for (const { name, funding } of accounts) {
    const account = file.accounts.get(name);
    if (account === undefined) return `needs account ${name} in the wallets file`;
    for (const { asset, amount } of funding) {
      const key = assetText(asset);
      const owned = account.funds.get(key) ?? 0;
      if (owned >= amount) continue;
      const text = (units: number): string => decimalText(units, placesOf(key));
      return `needs ${text(amount)} ${key} for ${name}, the wallets file gives ${text(owned)}`;
    }
  }
  return null;
}

/** Returns how a market differs from the one that the scenario needs; null if it is suitable. */
function misfitOf(terms: MarketTerms, market: ReplyTo<"getMarket">): string | null {
  const { feeRateBps, matching } = terms;
  const [tickSize, minOrderSize] = [terms.tickSize / FULL_PRICE, terms.minOrderSize / SHARE_UNITS];
  const wanted = { tickSize, minOrderSize, feeRateBps, matching };
  const found: Readonly<Record<string, unknown>> = market;
  const name = Object.entries(wanted).find(([key, value]) => found[key] !== value)?.[0];
  if (name !== undefined) return `${name} ${wanted[name as keyof typeof wanted]}, it has ${found[name]}`;
  return market.status === "ACTIVE" ? null : `status ACTIVE, it is ${market.status}`;
}

/**
 * Returns the deployment at an origin.
 * @throws ConfigError if the wallets file is invalid or names an unknown market, or the deployment does not answer.
 */
export async function targetAt(url: string, walletsFile: string, environment = process.env): Promise<Target> {
  const file = readTargetFile(walletsFile, environment);
  await checkTarget(url, `--wallets ${walletsFile}`, file);
  const open: Target["open"] = async (scenario) => {
    const need = controlNeedOf(scenario) ?? fileNeedOf(scenario, file);
    if (need !== null) throw new NotRunnable(need);
    const venue = new TargetVenue(url, file);
    try {
      await venue.openMarkets(scenario, file);
      return venue;
    } catch (error) {
      await venue.dispose();
      throw error;
    }
  };
  return { open, flags: [shellOption("target", url), shellOption("wallets", walletsFile)] };
}

/** Stands for what a deployment cannot do: a scenario with such a step is not run there. */
function needsControlPlane(): never {
  throw new Error("this needs the control plane");
}

/** A deployment of the API, used without its control plane: only the replies to the scenario's requests are known. */
class TargetVenue extends Venue {
  readonly advanceTo = needsControlPlane;
  readonly transact = needsControlPlane;
  readonly play = needsControlPlane;
  readonly snapshot = needsControlPlane;
  readonly restore = needsControlPlane;
  readonly settingsRestorer = needsControlPlane;
  readonly #http: HttpClients;
  readonly #addresses = new Map<string, string>();
  /** The account and the latest known state of each order, because finished orders cannot be read. */
  readonly #orders = new Map<string, { readonly owner: string; view: OrderView }>();
  readonly #fills: Fill[] = [];

  constructor(url: string, { accounts }: TargetFile) {
    super();
    const optionsOf = async (account: string): Promise<ClientOptions> => {
      const { privateKey, credentials } = accounts.get(account) as TargetAccount;
      const wallet = await walletOf(privateKey);
      this.#addresses.set(account, wallet.address);
      const derived = credentials && { credentials: { ...credentials, address: wallet.address } };
      return { account: wallet, time: "server", ...derived };
    };
    this.#http = new HttpClients(url, { optionsOf, isSignedIn: () => true });
  }

  /** Finds the scenario's markets. @throws NotRunnable if one is unsuitable, VenueError if the deployment does not answer. */
  async openMarkets({ markets }: Scenario, file: TargetFile): Promise<void> {
    for (const terms of markets) {
      const { idOrSlug } = file.markets.get(terms.name) as TargetMarket;
      const market = await this.ask("getMarket", { path: { idOrSlug } });
      const misfit = misfitOf(terms, market);
      if (misfit !== null) throw new NotRunnable(`needs a market named ${terms.name} with ${misfit}`);
      this.knownMarkets.set(terms.name, market);
    }
  }

  hasOpened(account: string): boolean {
    return this.#addresses.has(account);
  }

  /** Cancels the orders that still rest, so that the book is as before. @throws VenueError */
  override async dispose(): Promise<void> {
    try {
      for (const account of this.#addresses.keys()) await this.#cancelResting(account);
    } finally {
      this.#http.close();
    }
  }

  /** Cancels an account's orders in the scenario's markets, also those whose reply was lost. @throws VenueError */
  async #cancelResting(account: string): Promise<void> {
    const client = await this.#http.of(account);
    const markets = new Set([...this.knownMarkets.values()].map(({ id }) => id));
    try {
      const resting = orThrow(await collect((window) => client.openOrders(window), { limit: 500 }));
      for (const { id, marketId } of resting) if (markets.has(marketId)) orThrow(await client.cancel(id));
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      throw new VenueError(`orders of ${account} still rest, and cannot be canceled: ${error.message}`);
    }
  }

  async call<O extends Operation>(operation: O, call?: DirectCall): Promise<Attempt<ReplyTo<O>>> {
    const attempt = await this.#http.call(operation, call);
    const { method, path } = endpointOf(operation);
    if (attempt.ok) await this.#noteOrders(`${method} ${path}`, call?.caller ?? "", attempt.value);
    return attempt;
  }

  protected async signIn(account: string): Promise<string> {
    await this.#http.of(account);
    return this.addressOf(account);
  }

  protected addressOf(account: string): string {
    return this.#addresses.get(account) ?? "";
  }

  async now(): Promise<Millis> {
    return millis((await this.ask("getTime")).time * 1000);
  }

  /** Cancels what an interrupted run left. Does not fund the account, because the wallets file declares its funds. */
  override async open(account: string): Promise<Attempt<null>> {
    await this.signIn(account);
    await this.#cancelResting(account);
    return DONE;
  }

  override async request(...[step, text]: Parameters<Venue["request"]>): Promise<RequestReply> {
    const reply = await this.#http.request(step, text);
    const { method, path, as } = step;
    if (as !== null && reply.code === null)
      await this.#noteOrders(`${method} ${path.split("?", 1)[0]}`, as, reply.body);
    return reply;
  }

  /** Notes what a reply says of orders that were placed or canceled. */
  async #noteOrders(route: string, account: string, reply: unknown): Promise<void> {
    if (route === "POST /clob/order") this.#placed(account, reply as PlacedOrder);
    if (route === "DELETE /clob/order" || route === "DELETE /clob/orders/all")
      await this.#canceled(reply as Canceled);
  }

  /** Computes the order from its latest known state and its fills. */
  async order(id: string): Promise<OrderView> {
    const seen = this.#orders.get(id)?.view;
    if (seen === undefined) throw new VenueError(`order ${id} was not placed here`);
    if (seen.status !== "LIVE") return seen;
    const matched = await this.#matched(id);
    return { ...seen, matched, status: matched >= seen.size ? "MATCHED" : "LIVE" };
  }

  override async explain(): Promise<readonly string[]> {
    return [];
  }

  override async stateHash(): Promise<null> {
    return null;
  }

  fillCount(): number {
    return this.#fills.length;
  }

  fills(from: number): readonly Fill[] {
    return this.#fills.slice(from);
  }

  history(reason: string): Promise<VenueHistory | null> {
    return this.#http.history(reason);
  }

  #placed(account: string, order: PlacedOrder): void {
    this.#orders.set(order.id, { owner: account, view: orderView(order) });
    for (const trade of partIn(order, "trades")) {
      const maker = this.#ownerOf(trade.counterOrderId);
      this.#fills.push(fillOf(trade, this.marketName(trade.marketId), account, maker));
    }
  }

  /** Returns the account that placed an order; `somebody` if it is not one of the scenario. */
  #ownerOf(order: string): string {
    return this.#orders.get(order)?.owner ?? "somebody";
  }

  override async tradesOf(order: string) {
    const trades: ReplyTo<"listTrades">["data"][number][] = [];
    const caller = this.#ownerOf(order);
    for (;;) {
      const query = { order, limit: 500, offset: trades.length };
      const page = await this.ask("listTrades", { query, caller });
      trades.push(...partIn(page, "data"));
      if (!page.hasMore) return trades;
    }
  }

  /** Records the final state of canceled orders, which can no longer be read. */
  async #canceled(reply: Canceled): Promise<void> {
    for (const id of partIn(reply, "canceled")) {
      const order = this.#orders.get(id);
      if (order === undefined) continue;
      const matched = await this.#matched(id);
      order.view = { ...order.view, matched, status: "CANCELED", reason: "USER" };
    }
  }

  async #matched(order: string): Promise<Size> {
    const trades = await this.tradesOf(order);
    return size(trades.reduce((matched, trade) => matched + sizeOf(trade.size), 0));
  }
}
