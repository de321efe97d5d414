import type { OrderTraded } from "../../core/events.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import type { Millis, Size } from "../../core/units.ts";
import { fillText, tokenText, tradeText } from "../run/words.ts";
import type { Parties } from "./parties.ts";
import type { TouchedMarket } from "./touched-markets.ts";

/** How the things of one session are called in its scenario. */
export class Vocabulary {
  readonly #parties: Parties;
  readonly #markets: ReadonlyMap<number, string>;
  /** What knows every order of the session. */
  readonly #end: State;

  constructor(parties: Parties, markets: readonly TouchedMarket[], end: State) {
    this.#parties = parties;
    this.#markets = new Map(markets.map(({ number, name }) => [number, name]));
    this.#end = end;
  }

  account(number: number): string {
    return this.#parties.nameOf(number);
  }

  market(number: number): string {
    const name = this.#markets.get(number);
    if (name === undefined) throw new Error(`market ${number} has no name`);
    return name;
  }

  /** The market's name where one must be given: not of the only one. */
  marketIfSeveral(number: number): string | null {
    const name = this.market(number);
    return this.#markets.size === 1 ? null : name;
  }

  /** ` in rain`, or nothing where there is but one market. */
  inMarket(number: number): string {
    const name = this.marketIfSeveral(number);
    return name === null ? "" : ` in ${name}`;
  }

  /** `YES`, or `rain YES` where there are several markets. */
  token(token: number): string {
    return tokenText({ market: this.marketIfSeveral(marketOfToken(token)), outcome: outcomeOf(token) });
  }

  /** An order of so many shares as a step says it: `BUY 100 YES @ 0.55 in rain as order-1`. */
  order(order: Order, size: Size, name: string | undefined): string {
    const { token, side, price, orderType, expiration } = order;
    const type = orderType === "GTC" ? "" : ` ${orderType}`;
    const expiry = expiration === null ? "" : ` ${moment(expiration)}`;
    const place = this.inMarket(marketOfToken(token));
    const named = name === undefined ? "" : ` as ${name}`;
    return `${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)}${type}${expiry}${place}${named}`;
  }

  /** `50 YES in rain`. */
  shares(token: number, amount: number): string {
    return `${sizeText(amount)} ${outcomeOf(token)}${this.inMarket(marketOfToken(token))}`;
  }

  /** A fill as its taker sees it, and the same with the taker's name before it. */
  fill(event: OrderTraded): { readonly fill: string; readonly trade: string } {
    const taker = this.#end.orders.get(event.taker);
    const words = {
      side: taker.side,
      size: event.size,
      outcome: outcomeOf(taker.token),
      price: event.price,
      market: this.marketIfSeveral(marketOfToken(taker.token)),
      taker: this.account(taker.account),
      maker: this.account(this.#end.orders.get(event.maker).account),
      matchType: event.matchType,
      status: null,
    };
    return { fill: fillText(words), trade: tradeText(words) };
  }
}

/** A moment as short as it can be said: whole seconds without a fraction. */
export const moment = (at: Millis): string => toIso(at).replace(".000Z", "Z");
