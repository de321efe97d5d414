import { numbersAs } from "../api/decimals.ts";
import { orderStory } from "../api/replies/order-story.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { isNote } from "../engine/journal-line.ts";
import { Mentions } from "../history/mentions.ts";
import { orderText } from "../history/thing-words.ts";
import type { Told } from "../history/walk.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";
import { type JournalLine, journalLine } from "./journal-lines.ts";
import { UsageError } from "./usage-error.ts";

/** Gathers what the lines of a journal say of one order. */
export class OrderLife {
  readonly #asked: string;
  readonly #paint: Paint;
  #lines: { readonly number: number; readonly words: JournalLine }[] = [];

  /** `asked` is a number, or an id in lower case. */
  constructor(asked: string, paint: Paint) {
    this.#asked = asked;
    this.#paint = paint;
  }

  /** Takes the next line; the state is that behind it. */
  take(told: Told, state: State): void {
    const { line } = told;
    // What is undone has not happened, and its numbers are given to others.
    if (isNote(line, "restore")) this.#lines = this.#lines.filter(({ number }) => number <= line.d.line);
    if (isNote(line, "reset")) this.#lines = [];
    if (!new Mentions(told, state).orders.has(this.#numberIn(state))) return;
    this.#lines.push({ number: line.n, words: journalLine(told, state, this.#paint) });
  }

  /** The order as it stands. @throws UsageError when there was none such then */
  in(state: State): Order {
    const order = state.orders.find(this.#numberIn(state));
    if (order !== undefined) return order;
    const { size } = state.orders;
    const range = size === 0 ? "there were no orders then" : `there were the orders 1 to ${size} then`;
    throw new UsageError(
      `--order expects the id of an order, or its number; ${range}, found ${this.#asked}${instead(state, this.#asked)}`,
    );
  }

  text(state: State): string[] {
    const { bold, dim } = this.#paint;
    const order = this.in(state);
    const { order: reply, owner, summary, story } = storyOf(state, order);
    const { slug } = state.markets.get(marketOfToken(order.token));
    const what = `${reply.side} ${reply.size} ${reply.outcome} @ ${reply.price} ${reply.orderType} in ${visible(slug)}`;
    return [
      `${bold(orderText(order.number))}, ${reply.id}, of ${owner}`,
      `${what}: ${reply.status}, ${reply.sizeMatched} matched`,
      summary,
      "",
      ...story.map(({ at, what }) => `  ${dim(at)}  ${what}`),
      "",
      bold("lines of the journal"),
      ...(this.#lines.length === 0 ? ["  none: it was placed before the first"] : []),
      ...this.#lines.map(({ words }) => words.painted),
    ];
  }

  json(state: State): object {
    const order = this.in(state);
    return {
      number: order.number,
      ...storyOf(state, order),
      lines: this.#lines.map(({ words }) => words.json),
    };
  }

  #numberIn({ idPrefixes }: State): number {
    return /^\d+$/.test(this.#asked) ? Number(this.#asked) : numberOf(idPrefixes.order, this.#asked);
  }
}

const storyOf = (state: State, order: Order) => orderStory({ state, numbers: numbersAs("number") }, order);

/** What an id is of, when it is of something else. */
function instead({ idPrefixes, trades, markets }: State, asked: string): string {
  const trade = trades.find(numberOf(idPrefixes.trade, asked));
  if (trade !== undefined) {
    const [taker, maker] = [idOf(idPrefixes.order, trade.taker), idOf(idPrefixes.order, trade.maker)];
    return `, a trade of ${taker} and ${maker}`;
  }
  const market = markets.find(numberOf(idPrefixes.market, asked));
  return market === undefined ? "" : `, the market ${visible(market.slug)}`;
}
