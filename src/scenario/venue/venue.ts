import { faultWords } from "../../api/chain.ts";
import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import type { PositionChange } from "../../api/position-transaction.ts";
import type { ProfileName } from "../../bots/profiles.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { Millis } from "../../core/units.ts";
import type { DirectCall } from "../../server/handlers/all.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { type Funding, type OrderWords, orderBodyOf } from "../language/parts.ts";
import type { RequestStep } from "../language/scenario.ts";
import type { Way } from "../run/result.ts";
import type { Judging } from "../watch/flow-judge.ts";
import { fundCommand, fundingBody } from "./opening.ts";
import * as views from "./views.ts";
import {
  type Attempt,
  type BookView,
  type Canceled,
  DONE,
  done,
  type Expired,
  type Fill,
  type FlowOutcome,
  MarketMap,
  type OrderView,
  type RawReply,
  type Soon,
  type TokenRef,
  VenueError,
  type VenueHistory,
} from "./views.ts";
import { strangerName } from "./wallets.ts";

type PlacedOrder = ReplyTo<"placeOrder">;
type Trade = ReplyTo<"explainOrder">["fills"][number];

const MAX_PAGE = 500;

/**
 * An exchange as a scenario sees it: what it can do there, and what it can know, by the operations of the API. How an
 * operation is called, how time passes and what is remembered depends on where the exchange is.
 */
export abstract class Venue {
  abstract readonly way: Way;
  protected readonly map = new MarketMap();
  /** Names of the bots that were started here, by address. */
  protected readonly bots = new Map<string, string>();

  /** Calls an operation of the API; its caller is an account by name. */
  abstract call<O extends Operation>(operation: O, call?: DirectCall): Soon<Attempt<ReplyTo<O>>>;
  /** Makes an account known to the exchange, and answers its address. */
  protected abstract signIn(account: string): Soon<string>;
  /** The address of an account, known to the exchange or not. */
  protected abstract addressOf(account: string): string;
  /** Called with each accepted order. */
  protected abstract accepted(account: string, order: PlacedOrder): Soon<void>;

  /** Names of the scenario's accounts, in order. */
  abstract readonly accounts: readonly string[];
  abstract now(): Soon<Millis>;
  abstract advanceTo(moment: Millis): Soon<readonly Expired[]>;
  /** Has a wallet change what it holds of a market: its transaction is tried, and sent unless it would revert. */
  abstract transact(account: string, market: string, change: PositionChange): Soon<Attempt<null>>;
  /** Plays rows whose times count from now, up to the first after which an invariant does not hold where they are judged. */
  abstract play(
    rows: AsyncIterable<readonly FlowRow[]>,
    market: string,
    judging?: Judging | null,
  ): Promise<FlowOutcome>;
  /** Takes a snapshot, and answers what `restore` takes. */
  abstract snapshot(): Soon<unknown>;
  abstract restore(snapshot: unknown): Soon<void>;
  /** A snapshot will not be restored any more. */
  abstract forget(snapshot: unknown): Soon<void>;
  /** Only over HTTP; `orderNamed` finds what the step's path and body name. */
  abstract request(step: RequestStep, orderNamed: (name: string) => string | undefined): Soon<RawReply>;
  /** How many fills this scenario has seen so far; those that a bot took do not count. */
  abstract fillCount(): number;
  /** The fills from a count on, oldest first. */
  abstract fills(from: number): readonly Fill[];
  /** The invariants that do not hold, a sentence each. */
  abstract violations(): Soon<readonly string[]>;
  /** From now on `violations` judges each fill, too, where the venue can see them as they happen. */
  abstract watchFills(): void;
  /** Whether a fill that was watched has broken a rule. */
  abstract readonly hasBrokenFill: boolean;
  /** All that was done here, for a bug report written because of `reason`; null when nobody has kept it. */
  abstract history(reason: string): Soon<VenueHistory | null>;
  /** Closes what was opened for it. */
  abstract dispose(): Soon<void>;

  /** Names of all markets, in order. */
  get markets(): readonly string[] {
    return this.map.names;
  }

  /** Makes an account known and gives it what it starts with. */
  async open(account: string, funding: readonly Funding[]): Promise<Attempt<null>> {
    const address = await this.signIn(account);
    if (funding.length === 0) return DONE;
    const body = fundingBody(fundCommand(address, funding, (token) => this.map.tokenId(token)));
    return done(await this.call("fundAccount", { path: { address }, body }));
  }

  fund(account: string, funding: Funding): Promise<Attempt<null>> {
    return this.open(account, [funding]);
  }

  async place(account: string, words: OrderWords): Promise<Attempt<OrderView>> {
    const body = orderBodyOf(words, this.map.tokenId(words), await this.now());
    const attempt = await this.call("placeOrder", { body, caller: account });
    if (!attempt.ok) return attempt;
    await this.accepted(account, attempt.value);
    return { ok: true, value: views.orderView(attempt.value) };
  }

  /** `order` is a key of this venue, or a text that is none. */
  async cancel(account: string, order: string): Promise<Attempt<Canceled>> {
    return canceledOf(await this.call("cancelOrder", { body: { orderId: order }, caller: account }));
  }

  async cancelAll(account: string): Promise<Attempt<Canceled>> {
    return canceledOf(await this.call("cancelAllOrders", { caller: account }));
  }

  async order(id: string): Promise<OrderView> {
    return views.orderView((await this.#explained(id)).order);
  }

  /** Why an order is where it is, a sentence a line. */
  async explain(id: string): Promise<readonly string[]> {
    return views.storyLines(await this.#explained(id));
  }

  /** How far the settlement of an order's fills has come, in their order. */
  async settled(order: string): Promise<readonly SettlementStatus[]> {
    return (await this.tradesOf(order)).map(({ status }) => status);
  }

  /** How far the settlement of each of some fills has come by now. */
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
    return views.bookView(await this.ask("getBook", { query: this.#tokenQuery(token) }));
  }

  /** USDC first, then the tokens that the account has ever touched. */
  async holdings(account: string) {
    const path = { address: this.addressOf(account) };
    return views.holdingsView(await this.ask("getAccount", { path }), this.map);
  }

  async quote(token: TokenRef) {
    const query = this.#tokenQuery(token);
    return views.quoteView({
      ...(await this.ask("getPrice", { query })),
      ...(await this.ask("getMidpoint", { query })),
      ...(await this.ask("getSpread", { query })),
      ...(await this.ask("getLastTradePrice", { query })),
    });
  }

  /** Traded prices, oldest first, times in Unix seconds. */
  async priceHistory(token: TokenRef) {
    const query = { tokenId: this.map.tokenId(token) };
    return views.historyView(await this.ask("getPricesHistory", { path: this.pathOf(token.market), query }));
  }

  /** Whether the outcomes of a market share one book. */
  isComplementary(market: string): boolean {
    return this.map.named(market).isComplementary;
  }

  /** What prices and sizes of a market are multiples of, or not below. */
  async gridOf(market: string) {
    return views.gridView(await this.ask("getMarket", { path: this.pathOf(market) }));
  }

  async stateHash(): Promise<string | null> {
    return (await this.ask("getStateHash")).hash;
  }

  /** `of`: the order whose settlement alone it hits, `next` for the order that is placed next, null for any. */
  async setSettlementFault(terms: SettlementFaultTerms, of: string | null): Promise<Attempt<null>> {
    const body = { ...faultWords(terms), ...(of === null ? {} : { of }) };
    return done(await this.call("addSettlementFault", { body }));
  }

  /** Ends the faults that fail settlements, or all. */
  async endSettlementFaults(which: "fail" | "all"): Promise<void> {
    if (which === "all") {
      await this.ask("removeSettlementFaults");
      return;
    }
    const { data } = await this.ask("listSettlementFaults", { query: { limit: MAX_PAGE, offset: 0 } });
    for (const { id, kind } of data) {
      if (kind === "fail" && id !== null) await this.ask("removeSettlementFault", { path: { id } });
    }
  }

  /** Lets the bots of a profile trade from now on, or ends them; from then on they are called by their names. */
  async runBots(profile: ProfileName | null): Promise<Attempt<null>> {
    if (profile === null) return done(await this.call("endBots"));
    const started = await this.call("startBots", { body: { profile } });
    if (!started.ok) return started;
    for (const { name, address } of started.value.bots) this.bots.set(address.toLowerCase(), name);
    return DONE;
  }

  /** What somebody who is no account of the scenario is called. */
  protected strangerName(address: string): string {
    return this.bots.get(address.toLowerCase()) ?? strangerName(address);
  }

  /** The numbers of the latest block and of the latest that is final, and how many transactions wait for one. */
  async chain() {
    const { head, confirmed, pending } = await this.ask("getChain");
    return { head: head.number, confirmed, pending };
  }

  async supply(market: string) {
    return views.supplyView(await this.ask("getSupply", { path: this.pathOf(market) }));
  }

  /** What waits for a block and why, a sentence each, oldest first. */
  async waiting(): Promise<readonly string[]> {
    const query = { limit: MAX_PAGE, offset: 0 };
    const { data } = await this.ask("listPendingTransactions", { query });
    const isWaiting = new Set(["MATCH", "REPORT", "CALL"]);
    const waiting = data.filter(({ kind, status }) => isWaiting.has(kind) && status === "PENDING");
    return waiting.map(({ reason }) => reason ?? "");
  }

  /** What the runner itself cannot do without. @throws VenueError */
  protected async ask<O extends Operation>(operation: O, call?: DirectCall): Promise<ReplyTo<O>> {
    return views.required(await this.call(operation, call));
  }

  /** The fills of an order of this scenario, as they are now, oldest first. */
  protected async tradesOf(order: string): Promise<readonly Trade[]> {
    return (await this.#explained(order)).fills;
  }

  #explained(id: string): Promise<ReplyTo<"explainOrder">> {
    return this.ask("explainOrder", { path: { id } });
  }

  /** The path of a market's own endpoints. */
  pathOf(market: string): { idOrSlug: string } {
    return { idOrSlug: this.map.named(market).id };
  }

  #tokenQuery(token: TokenRef): { token_id: string } {
    return { token_id: this.map.tokenId(token) };
  }
}

function canceledOf(attempt: Attempt<ReplyTo<"cancelOrder">>): Attempt<Canceled> {
  if (!attempt.ok) return attempt;
  const { canceled, notCanceled } = attempt.value;
  return { ok: true, value: { canceled, notCanceled: Object.values(notCanceled) } };
}
