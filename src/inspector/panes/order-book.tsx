import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { BookDirection } from "../../core/book/book.ts";
import { counted, priceText, sizeText } from "../../core/format.ts";
import { bookFor, directionIn, isMirrored, type Market, priceIn } from "../../core/market.ts";
import type { Side } from "../../core/terms.ts";
import { type Price, price, SHARE_UNITS } from "../../core/units.ts";
import * as model from "../model.ts";
import {
  AccountLink,
  Choice,
  EmptyNote,
  fixedPrice,
  OrderLink,
  Pane,
  setTo,
  TableHead,
  Unlisted,
  useMarkets,
} from "../parts.tsx";

/** Price level in terms of the outcome. */
interface Level {
  readonly price: Price;
  readonly text: string;
  readonly size: number;
  readonly orders: number;
  readonly side: Side;
  /** The level in the book's own terms. */
  readonly tick: number;
  readonly direction: BookDirection;
  /** Size of the chosen account. */
  readonly own: number;
}

/** Returns the book of the chosen outcome, best prices first, as GET /clob/book does. */
function ladderOf(market: Market) {
  const { book } = bookFor(market, model.outcome.value);
  const mirrored = isMirrored(market, model.outcome.value);
  const levels = (side: Side): Level[] => {
    const direction = directionIn(mirrored, side);
    const found: Level[] = [];
    const own = book === null ? new Map<number, number>() : ownAt(book, direction);
    book?.depth(direction, (tick, size, orders) => {
      const at = priceIn(mirrored, price(tick * market.tickSize));
      found.push({
        price: at,
        text: fixedPrice(market, at),
        size,
        orders,
        side,
        tick,
        direction,
        own: own.get(tick) ?? 0,
      });
    });
    return found;
  };
  return { bids: levels("BUY"), asks: levels("SELL") };
}

type Book = NonNullable<ReturnType<typeof bookFor>["book"]>;

/** Returns the open size of the chosen account at each level of a side. */
function ownAt(book: Book, direction: BookDirection): Map<number, number> {
  const { orders, pool } = model.openMoment().state;
  const own = new Map<number, number>();
  if (model.chosenAccount.value === 0) return own;
  book.queue(direction, (slot) => {
    if (orders.get(pool.orderIn(slot)).account !== model.chosenAccount.value) return;
    const tick = book.tickOf(slot);
    own.set(tick, (own.get(tick) ?? 0) + pool.openIn(slot));
  });
  return own;
}

export function BookPane() {
  // The market and its book remain the same objects when they change.
  model.openMoment();
  const { value: market } = model.market;
  /** Level whose queue is shown. */
  const opened = useSignal<Pick<Level, "tick" | "direction"> | null>(null);
  if (!model.isShown("book")) return null;
  if (market === null) {
    const later = model.allMarkets().find(model.shownMarket.value);
    return (
      <Pane name="book" tools={<Chooser />}>
        <EmptyNote>
          {later === undefined ? "No market." : `${later.slug} is created after the cursor.`}
        </EmptyNote>
      </Pane>
    );
  }
  const { bids, asks } = ladderOf(market);
  const [[bid], [ask]] = [bids, asks];
  const largest = Math.max(1, ...[...bids, ...asks].map(({ size }) => size));
  const isOpen = ({ tick, direction }: Level): boolean =>
    tick === opened.value?.tick && direction === opened.value.direction;
  const row = (level: Level) => (
    <Row
      key={`${level.direction} ${level.tick}`}
      level={level}
      largest={largest}
      isOpen={isOpen(level)}
      onClick={setTo(opened, isOpen(level) ? null : level)}
    />
  );
  const level = [...bids, ...asks].find(isOpen);
  return (
    <Pane name="book" tools={<Chooser />}>
      <p class="dim number">{termsText(market)}</p>
      <p class="quote number">
        <span class="bid">{bid === undefined ? "no bid" : `bid ${bid.text}`}</span>
        <span class="dim">{spreadText(bid?.price, ask?.price)}</span>
        <span class="ask">{ask === undefined ? "no ask" : `ask ${ask.text}`}</span>
      </p>
      <Ladder above={asks.length} key={`${market.number} ${model.outcome.value}`}>
        {[...asks].reverse().map(row)}
        <tr class="spread">
          <td colSpan={4} />
        </tr>
        {bids.map(row)}
      </Ladder>
      {level === undefined ? <Depth bids={bids} asks={asks} /> : <Queue market={market} level={level} />}
    </Pane>
  );
}

/** Levels of a book, `above` of them above the spread. Scrolls to the spread unless the user hovers over or focuses the list. */
function Ladder({ above, children }: { readonly above: number; readonly children: ComponentChildren }) {
  const ladder = useRef<HTMLDivElement>(null);
  // Runs only if the number of levels above the spread changes, because measuring after each change is expensive.
  useLayoutEffect(() => {
    const { current: box } = ladder;
    const row = box?.querySelector<HTMLElement>("tr.spread");
    if (box === null || row == null || box.matches(":hover, :focus-within")) return;
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }, [above]);
  return (
    <div class="ladder" ref={ladder}>
      <table aria-label={`Order book of ${model.outcome.value}`}>
        <TableHead columns={["bid size", "price", "ask size", "orders"]} numbers={[0, 3]} />
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Describes the status of a market and its terms for orders. */
function termsText(market: Market): string {
  const { status, winningOutcome, tickSize, minOrderSize, feeRateBps, matching } = market;
  const won = winningOutcome === null ? "" : ` as ${winningOutcome}`;
  const least = counted(minOrderSize / SHARE_UNITS, "share");
  const books = matching === "independent" ? ", independent matching" : "";
  return `${status}${won}, tick ${priceText(tickSize)}, at least ${least}, fee ${feeRateBps} bps${books}`;
}

function spreadText(bid: number | undefined, ask: number | undefined): string {
  if (bid === undefined && ask === undefined) return "empty";
  if (bid === undefined || ask === undefined) return "one-sided";
  const half = (bid + ask) / 2;
  return `spread ${priceText(ask - bid)}, mid ${Number.isInteger(half) ? priceText(half) : `${priceText(Math.floor(half))}5`}`;
}

/** Selection of market and outcome. */
function Chooser() {
  return (
    <>
      <Choice label="Market" of={model.chosenMarket} shown={model.shownMarket.value} options={useMarkets()} />
      {(["YES", "NO"] as const).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={model.outcome.value === each}
          onClick={setTo(model.outcome, each)}
        >
          {each}
        </button>
      ))}
    </>
  );
}

function Row({
  level: { text, size, orders, side, own },
  largest,
  isOpen,
  onClick,
}: Readonly<{ level: Level; largest: number; isOpen: boolean; onClick: () => void }>) {
  const isBid = side === "BUY";
  const bar = { inlineSize: `${Math.max(1, (100 * size) / largest)}%` };
  const sizeCell = (
    <td class="number size">
      <span class="bar" style={bar} />
      <span class="value">
        {own > 0 ? (
          <b role="img" title={`${sizeText(own)} of the chosen account`}>
            ●{" "}
          </b>
        ) : null}
        {sizeText(size)}
      </span>
    </td>
  );
  return (
    <tr class={isBid ? "bid" : "ask"} data-price={text}>
      {isBid ? sizeCell : <td />}
      <td class="number price">
        <button type="button" class="link" aria-expanded={isOpen} onClick={onClick}>
          {text}
        </button>
      </td>
      {isBid ? <td /> : sizeCell}
      <td class="number dim">{orders}</td>
    </tr>
  );
}

/** Orders of a level in the order of matching. */
function Queue({ market, level }: { readonly market: Market; readonly level: Level }) {
  const { book } = bookFor(market, model.outcome.value);
  if (book === null) return null;
  const slots: number[] = [];
  book.queue(level.direction, (slot) => {
    if (book.tickOf(slot) === level.tick) slots.push(slot);
  });
  const { orders, pool } = model.openMoment().state;
  return (
    <div class="queue">
      <h3>{`Queue at ${level.text}: ${counted(slots.length, "order")}, ${sizeText(level.size)} shares`}</h3>
      <ol>
        {slots.slice(0, MAX_QUEUE).map((slot) => {
          const order = orders.get(pool.orderIn(slot));
          return (
            <li key={slot} class={order.account === model.chosenAccount.value ? "own" : ""}>
              <OrderLink number={order.number} /> <AccountLink number={order.account} />{" "}
              <span class="number">{`${sizeText(pool.openIn(slot))} of ${sizeText(order.size)}`}</span>
            </li>
          );
        })}
      </ol>
      <Unlisted count={slots.length - MAX_QUEUE} />
    </div>
  );
}

const MAX_QUEUE = 200;
const WIDTH = 300;
const HEIGHT = 60;

/** Chart of the cumulative size by price. */
function Depth({ bids, asks }: ReturnType<typeof ladderOf>) {
  const total = (levels: readonly Level[]): number => levels.reduce((sum, { size }) => sum + size, 0);
  const max = Math.max(1, total(bids), total(asks));
  const path = (levels: readonly Level[]): string => {
    let sum = 0;
    const x = (at: number): string => ((at / 10_000) * WIDTH).toFixed(1);
    const [best] = levels;
    if (best === undefined) return "";
    let text = `M${x(best.price)},${HEIGHT}`;
    for (const { price: at, size } of levels) {
      sum += size;
      text += `H${x(at)}V${(HEIGHT - (sum / max) * HEIGHT).toFixed(1)}`;
    }
    return `${text}V${HEIGHT}Z`;
  };
  return (
    <figure class="depth">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Depth: ${counted(bids.length, "level")} of bids, ${asks.length} of asks`}
      >
        <path class="bid" d={path(bids)} />
        <path class="ask" d={path(asks)} />
      </svg>
      <figcaption class="dim number">
        <span>{`bids ${sizeText(total(bids))}`}</span>
        <span>depth, 0 to 1</span>
        <span>{`asks ${sizeText(total(asks))}`}</span>
      </figcaption>
    </figure>
  );
}
