import type { PositionChange } from "../../api/contracts.ts";
import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import { MID_PLACES } from "../../api/order-book.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { CommandOf } from "../../core/commands.ts";
import { type Millis, money, SHARE_UNITS, type Size, size, USDC_UNITS } from "../../core/units.ts";
import { didYouMean } from "../../nearest.ts";
import type { DirectCall } from "../../server/router.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { devAddress, namedPrivateKey } from "../../simulation/world-accounts.ts";
import type { Funding, MarketTerms, TokenName } from "../language/declarations.ts";
import { type OrderWords, orderBodyOf } from "../language/order-line.ts";
import type { RequestStep, Scenario } from "../language/steps.ts";
import {
  type Attempt,
  type BookView,
  bookView,
  type Canceled,
  type Checks,
  DONE,
  type Expired,
  exact,
  type Fill,
  type FlowResult,
  holdingsView,
  type MaybePromise,
  type OrderView,
  orderView,
  priceOrNull,
  type RequestReply,
  type TokenRef,
  VenueError,
  type VenueHistory,
} from "./views.ts";

/** What the event of a scenario and its markets have in common. */
const UNDESCRIBED = { description: "", category: "scenario", tags: [], endDate: null } as const;

/** The event of the markets that a scenario declares. */
export const SCENARIO_EVENT = {
  kind: "createEvent",
  title: "Scenario",
  slug: "scenario",
  ...UNDESCRIBED,
} as const;

export function marketCommand({ name, ...terms }: MarketTerms, event: number): CommandOf<"createMarket"> {
  return { kind: "createMarket", event, question: name, slug: name, ...UNDESCRIBED, ...terms };
}

export function fundCommand(
  address: string,
  fundings: readonly Funding[],
  tokenId: (name: TokenName) => string,
): CommandOf<"fundAccount"> {
  let collateral = 0;
  const tokens: { tokenId: string; size: Size }[] = [];
  for (const { asset, amount } of fundings) {
    if (asset === "USDC") collateral += amount;
    else tokens.push({ tokenId: tokenId(asset), size: size(amount) });
  }
  return { kind: "fundAccount", address, collateral: money(collateral), tokens, everyMarket: size(0) };
}

/** Returns the request body for the same, in USDC and shares. */
const fundingBody = ({ collateral, tokens }: CommandOf<"fundAccount">) => ({
  collateral: collateral / USDC_UNITS,
  tokens: Object.fromEntries(tokens.map(({ tokenId, size }) => [tokenId, size / SHARE_UNITS])),
});

/** A wallet of a scenario, whose key is derived from its name. */
export interface Wallet {
  /** Lower case. */
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
  /** Cached signatures by signed message, because every scenario signs the same. */
  readonly signatures: Map<string, Promise<string>>;
}

/** Wallets by name, created on first use. */
export class Wallets {
  readonly #byName = new Map<string, Wallet>();

  of(name: string): Wallet {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const privateKey = namedPrivateKey(name);
    const wallet = { privateKey, address: devAddress(privateKey), signatures: new Map() };
    this.#byName.set(name, wallet);
    return wallet;
  }
}

export type PlacedOrder = ReplyTo<"placeOrder">;
type KnownMarket = Pick<ReplyTo<"closeMarket">, "id" | "conditionId" | "tokens" | "matching">;
type Trade = ReplyTo<"explainOrder">["fills"][number];

const MAX_PAGE = 500;
const BRACES = /\{(token|market|order|address) ([^{}]{1,80})\}/g;

/** A deployment of the API. */
export interface Target {
  /** @throws NotRunnable if the scenario cannot be run there */
  open(scenario: Scenario): Promise<Venue>;
  /** Options of `clobsim run` that name it, quoted, for the command that repeats a failure. */
  readonly flags: readonly string[];
}

/** An exchange on which a scenario runs. Most methods call operations of the API; the rest depends on where it runs. */
export abstract class Venue {
  /** By name in the scenario, in the order in which they were added. */
  protected readonly knownMarkets = new Map<string, KnownMarket>();

  /** Calls an operation of the API for a step; `caller` is the name of an account. */
  abstract call<O extends Operation>(operation: O, call?: DirectCall): MaybePromise<Attempt<ReplyTo<O>>>;
  /** Calls an operation that reads what the scenario expects. */
  protected read<O extends Operation>(operation: O, call?: DirectCall): MaybePromise<Attempt<ReplyTo<O>>> {
    return this.call(operation, call);
  }
  /** Makes an account known to the exchange, and returns its address. */
  protected abstract signIn(account: string): MaybePromise<string>;
  /** Returns the address of an account, which need not be known to the exchange. */
  protected abstract addressOf(account: string): string;
  abstract hasOpened(account: string): boolean;
  /** Names of the accounts that the exchange knows, in order. Empty if balances cannot be read. */
  get accounts(): readonly string[] {
    return [];
  }
  abstract now(): MaybePromise<Millis>;
  abstract advanceTo(moment: Millis): MaybePromise<readonly Expired[]>;
  /** Splits, merges or redeems shares by a transaction of the wallet. It is simulated first, and not sent if it would revert. */
  abstract transact(account: string, market: string, change: PositionChange): MaybePromise<Attempt<null>>;
  /** Plays rows, whose times are relative to now. Stops after the first row after which a check fails. */
  abstract play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    checks?: Checks | null,
  ): Promise<FlowResult>;
  /** Returns a snapshot, for `restore`. */
  abstract snapshot(): MaybePromise<unknown>;
  abstract restore(snapshot: unknown): MaybePromise<void>;
  /** Returns a function that restores what a snapshot does not contain: bots and injected faults. */
  abstract settingsRestorer(): () => void;
  /** Whether the exchange has an order, which it may have lost by going back to an earlier state. */
  hasOrder(_id: string): boolean {
    return true;
  }
  /** Calls `listener` whenever the exchange has gone back to an earlier state. */
  whenRewound(_listener: () => void): void {}
  /** Number of fills of this scenario so far, without those taken by bots. */
  abstract fillCount(): number;
  /** Returns the fills after the first `from`, oldest first. */
  abstract fills(from: number): readonly Fill[];
  /** Returns one sentence for each invariant that does not hold; with `fills`, none unless a watched fill broke a rule. */
  violations(_checks: Checks): MaybePromise<readonly string[]> {
    return [];
  }
  /** Makes `violations` check each fill from now on, if the venue sees fills as they happen. */
  watchFills(): void {}
  /** Returns the history for a bug report about `reason`; null if it was not recorded. */
  abstract history(reason: string): MaybePromise<VenueHistory | null>;
  /** Closes connections, and the server if it was started for this scenario. */
  dispose(): MaybePromise<void> {}

  /** Sends the request of a step; only over HTTP. `text` is a function that `withIds` returned. */
  request(_step: RequestStep, _text: (of: string) => string): MaybePromise<RequestReply> {
    throw new Error("a request needs HTTP");
  }

  /** Returns a function that replaces words in braces by ids: `{token rain YES}`, `{market rain}`, `{order bid}`, `{address alice}`. */
  withIds(orderNamed: (name: string) => string): (text: string) => string {
    const ids = {
      token: (words: string) => {
        const [outcome = "", market = null] = words.split(/\s+/).reverse();
        return this.tokenId({ market, outcome });
      },
      market: (name: string) => this.marketNamed(name).id,
      order: orderNamed,
      address: (name: string) => {
        if (!this.hasOpened(name)) throw new VenueError(this.unknownAccount(name));
        return this.addressOf(name);
      },
    };
    return (text) =>
      text.replace(BRACES, (_, kind: keyof typeof ids, words: string) => ids[kind](words.trim()));
  }

  unknownAccount(name: string): string {
    return `no account is named ${name}${didYouMean(name, this.accounts)}`;
  }

  get markets(): readonly string[] {
    return [...this.knownMarkets.keys()];
  }

  /** Returns the id of a token, or its words if it is unknown. A null market is the first one. */
  tokenId({ market, outcome }: { readonly market: string | null; readonly outcome: string }): string {
    const [first] = this.knownMarkets.values();
    const found = market === null ? first : this.knownMarkets.get(market);
    const token = found?.tokens.find((each) => each.outcome === outcome);
    return token?.tokenId ?? (market === null ? outcome : `${outcome} in ${market}`);
  }

  /** @throws Error if there is none */
  protected marketNamed(name: string): KnownMarket {
    const found = this.knownMarkets.get(name);
    if (found === undefined) throw new Error(`no market ${name}`);
    return found;
  }

  protected marketName(id: string): string {
    for (const [name, market] of this.knownMarkets) if (market.id === id) return name;
    return id;
  }

  /** Makes an account known to the exchange and funds it. */
  async open(account: string, funding: readonly Funding[]): Promise<Attempt<unknown>> {
    const address = await this.signIn(account);
    if (funding.length === 0) return DONE;
    const body = fundingBody(fundCommand(address, funding, (token) => this.tokenId(token)));
    return this.call("fundAccount", { path: { address }, body });
  }

  async place(account: string, words: OrderWords): Promise<Attempt<OrderView>> {
    const body = orderBodyOf(words, this.tokenId(words), await this.now());
    const attempt = await this.call("placeOrder", { body, caller: account });
    return attempt.ok ? { ok: true, value: orderView(attempt.value) } : attempt;
  }

  /** `order` is an order's key in this venue, or any text. */
  async cancel(account: string, order: string): Promise<Attempt<Canceled>> {
    return this.call("cancelOrder", { body: { orderId: order }, caller: account });
  }

  async cancelAll(account: string): Promise<Attempt<Canceled>> {
    return this.call("cancelAllOrders", { caller: account });
  }

  abstract order(id: string): Promise<OrderView>;

  /** Returns the story of an order as sentences; for a resting order, also its summary and place in the queue. */
  async explain(id: string): Promise<readonly string[]> {
    const { order, story, summary, queue } = await this.#explained(id);
    const lines = story.map(({ what }) => what);
    if (order.status !== "LIVE") return lines;
    if (queue === null) return [...lines, summary];
    const { orders, shares } = queue.nowBehind;
    const before = orders === 0 ? "first" : `place ${orders + 1}`;
    const behind = orders === 0 ? "" : `, behind ${shares} shares`;
    return [...lines, summary, `${before} in the queue at its price${behind}`];
  }

  /** Returns the current settlement status of each of some fills. */
  async settlementsOf(fills: readonly Fill[]): Promise<readonly SettlementStatus[]> {
    const statuses = new Map<string, SettlementStatus>();
    for (const order of new Set(fills.map((fill) => fill.order))) {
      for (const { id, status } of await this.tradesOf(order)) statuses.set(id, status);
    }
    return fills.map(({ trade }) => {
      const status = statuses.get(trade);
      if (status === undefined) throw new VenueError(`the server does not know trade ${trade} any more`);
      return status;
    });
  }

  async book(token: TokenRef): Promise<BookView> {
    return bookView(await this.ask("getBook", { query: { token_id: this.tokenId(token) } }));
  }

  /** Returns the account's USDC, then its tokens. */
  async holdings(account: string) {
    const path = { address: this.addressOf(account) };
    return holdingsView(await this.ask("getAccount", { path }), (id) => this.marketName(id));
  }

  /** Prices of a token; the mid in units of 0.00001 USDC. */
  async quote(token: TokenRef) {
    const query = { token_id: this.tokenId(token) };
    const { bestBid, bestAsk } = await this.ask("getPrice", { query });
    const { mid } = await this.ask("getMidpoint", { query });
    return {
      bid: priceOrNull(bestBid),
      ask: priceOrNull(bestAsk),
      mid: mid === null ? null : exact(mid, MID_PLACES),
      spread: priceOrNull((await this.ask("getSpread", { query })).spread),
      last: priceOrNull((await this.ask("getLastTradePrice", { query })).lastTradePrice),
    };
  }

  /** Whether the outcomes of a market share one book. */
  isComplementary(market: string): boolean {
    return this.marketNamed(market).matching === "complementary";
  }

  async stateHash(): Promise<string | null> {
    return (await this.ask("getStateHash")).hash;
  }

  /** Removes the settlement faults of kind `fail`, or all. */
  async endSettlementFaults(which: "fail" | "all"): Promise<Attempt<unknown>> {
    if (which === "all") return this.call("removeSettlementFaults");
    const { data } = await this.ask("listSettlementFaults", { query: { limit: MAX_PAGE, offset: 0 } });
    for (const { id, kind } of data) {
      if (kind !== "fail" || id === null) continue;
      const removed = await this.call("removeSettlementFault", { path: { id } });
      if (!removed.ok) return removed;
    }
    return DONE;
  }

  /** Returns the reason of each pending transaction, oldest first. */
  async pendingReasons(): Promise<readonly string[]> {
    const query = { limit: MAX_PAGE, offset: 0 };
    const { data } = await this.ask("listPendingTransactions", { query });
    const isWaiting = new Set(["MATCH", "REPORT", "CALL"]);
    const waiting = data.filter(({ kind, status }) => isWaiting.has(kind) && status === "PENDING");
    return waiting.map(({ reason }) => reason ?? "");
  }

  /** Reads what must be readable. @throws VenueError */
  async ask<O extends Operation>(operation: O, call?: DirectCall): Promise<ReplyTo<O>> {
    const attempt = await this.read(operation, call);
    if (attempt.ok) return attempt.value;
    throw new VenueError(`${attempt.code}: ${attempt.message}`);
  }

  /** Returns the current fills of an order of this scenario, oldest first. */
  async tradesOf(order: string): Promise<readonly Trade[]> {
    return (await this.#explained(order)).fills;
  }

  #explained(id: string): Promise<ReplyTo<"explainOrder">> {
    return this.ask("explainOrder", { path: { id } });
  }

  /** Returns the path parameters of a market's endpoints. */
  pathOf(market: string): { idOrSlug: string } {
    return { idOrSlug: this.marketNamed(market).id };
  }
}
