import { ExchangeClient } from "../../client/client.ts";
import type { Trade } from "../../client/messages.ts";
import { openTransport, type Transport } from "../../client/transport.ts";
import type { SettlementStatus } from "../../core/chain/settlement.ts";
import { demand } from "./attempts.ts";
import { bookView, gridView, historyView, holdingsView, orderView, quoteView } from "./http-views.ts";
import { MarketMap } from "./market-map.ts";
import { storyWords } from "./story-words.ts";
import type { Fill, Grid, OrderKey, OrderView, TokenRef, TradeKey } from "./venue.ts";
import { VenueError } from "./venue.ts";

const TIMEOUT_MS = 30_000;

/** What a scenario can see of an exchange over HTTP. */
export abstract class HttpSights {
  readonly map = new MarketMap();
  /** Asks in nobody's name. */
  readonly control: ExchangeClient;
  protected readonly url: string;
  protected readonly transport: Transport;
  /** The fills of this scenario's orders, as the replies to them told. */
  protected readonly seenFills: Fill[] = [];
  /** What a fill has met is known to the exchange alone. */
  readonly hasBrokenFill = false;
  readonly #close: () => void;

  constructor(url: string, watch: (transport: Transport) => Transport = (same) => same) {
    const { send, close } = openTransport(new URL(url), TIMEOUT_MS);
    this.url = url;
    this.transport = watch(send);
    this.control = new ExchangeClient(url, { transport: this.transport });
    this.#close = close;
  }

  abstract addressOf(account: string): string;

  get markets(): readonly string[] {
    return this.map.names;
  }

  async order(key: OrderKey): Promise<OrderView> {
    return orderView(demand(await this.control.control.order(String(key))).order);
  }

  async explain(key: OrderKey): Promise<readonly string[]> {
    const { order, story, summary, queue } = demand(await this.control.control.order(String(key)));
    return storyWords(order.status === "LIVE", story, summary, queue);
  }

  idOf(key: OrderKey): string {
    return String(key);
  }

  fillCount(): number {
    return this.seenFills.length;
  }

  fills(from: number): readonly Fill[] {
    return this.seenFills.slice(from);
  }

  async settlementsOf(fills: readonly Fill[]): Promise<readonly SettlementStatus[]> {
    const statuses = new Map<TradeKey, SettlementStatus>();
    for (const order of new Set(fills.map((fill) => fill.order))) {
      for (const { id, status } of await this.tradesOf(order)) statuses.set(id, status);
    }
    return fills.map(({ trade }) => {
      const status = statuses.get(trade);
      if (status === undefined) throw new VenueError(`the server does not know trade ${trade} any more`);
      return status;
    });
  }

  async book(token: TokenRef) {
    return bookView(demand(await this.control.book(this.map.tokenId(token))));
  }

  async holdings(account: string) {
    return holdingsView(demand(await this.control.control.account(this.addressOf(account))), this.map);
  }

  async quote(token: TokenRef) {
    return quoteView(demand(await this.control.quotes(this.map.tokenId(token))));
  }

  async history({ market, outcome }: TokenRef) {
    const { id, tokens } = this.map.named(market);
    return historyView(demand(await this.control.history(id, { tokenId: tokens[outcome] })));
  }

  isComplementary(market: string): boolean {
    return this.map.named(market).isComplementary;
  }

  async gridOf(market: string): Promise<Grid> {
    return gridView(demand(await this.control.market(this.map.named(market).id)));
  }

  async stateHash(): Promise<string | null> {
    return demand(await this.control.control.stateHash()).hash;
  }

  watchFills(): void {}

  async violations(): Promise<readonly string[]> {
    const { invariants } = demand(await this.control.control.invariants());
    const broken = invariants.filter(({ holds }) => !holds);
    return broken.map(({ name, differences }) => `${name}: ${differences.join("; ")}`);
  }

  /** The fills of an order of this scenario, as they are now. */
  protected async tradesOf(order: OrderKey): Promise<readonly Trade[]> {
    return demand(await this.control.control.order(String(order))).fills;
  }

  async dispose(): Promise<void> {
    this.#close();
  }
}
