import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { counted, sizeText } from "../../core/format.ts";
import { idOf } from "../../core/ids.ts";
import { type Market, outcomeOf } from "../../core/market.ts";
import type { Trade } from "../../core/order.ts";
import type { Side } from "../../core/terms.ts";
import { complement, FULL_PRICE, SHARE_UNITS } from "../../core/units.ts";
import * as model from "../model.ts";
import { AccountLink, EmptyNote, fixedPrice, OrderLink, Pane, TableHead, Time } from "../parts.tsx";

/** Maximum numbers of trades in the chart and on the tape. */
const MAX_CHARTED = 3_000;
const MAX_LISTED = 60;

/** Returns the price of a trade and the side of its taker in terms of the chosen outcome: buying NO is selling YES. */
function inChosen(market: Market, { taker, price }: Trade): { readonly price: number; readonly side: Side } {
  const { token, side } = model.openMoment().state.orders.get(taker);
  const isOther = market.matching === "complementary" && outcomeOf(token) !== model.outcome.value;
  return isOther ? { price: complement(price), side: side === "BUY" ? "SELL" : "BUY" } : { price, side };
}

/** Returns the latest trades in the book of the chosen outcome, oldest first. */
function tradesOf(market: Market): Trade[] {
  const { state } = model.openMoment();
  const found: Trade[] = [];
  for (let number = market.trades.size; number > 0 && found.length < MAX_CHARTED; number -= 1) {
    const trade = state.trades.get(market.trades.get(number));
    const { token } = state.orders.get(trade.taker);
    if (market.matching === "complementary" || outcomeOf(token) === model.outcome.value) found.push(trade);
  }
  return found.reverse();
}

const NO_TRADE = <EmptyNote>No trade before the cursor.</EmptyNote>;

/** Chart of price and volume up to the cursor, with the tape below. */
export function ChartPane() {
  const { value: market } = model.market;
  const pointed = useSignal<number | null>(null);
  if (!model.isShown("chart")) return null;
  if (market === null) return <Pane name="chart">{NO_TRADE}</Pane>;
  const trades = tradesOf(market);
  const shown = trades.find(({ number }) => number === pointed.value);
  return (
    <Pane name="chart" tools={<span class="dim number">{countText(market, trades.length)}</span>}>
      {trades.length === 0 ? (
        NO_TRADE
      ) : (
        <>
          <Plot pointed={pointed} />
          <p class="pointed" role="status">
            {shown === undefined ? (
              <span class="dim">Point at the chart to see a trade and its orders.</span>
            ) : (
              <TradeText trade={shown} market={market} />
            )}
          </p>
          <div class="scroll tape">
            <table aria-label="Latest trades">
              <TableHead columns={["time", "price", "size", "taker", "maker", "match"]} numbers={[1, 2]} />
              <tbody>
                {trades
                  .slice(-MAX_LISTED)
                  .reverse()
                  .map((trade) => (
                    <Row key={trade.number} trade={trade} market={market} />
                  ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Pane>
  );
}

/** Returns the number of trades of a market, and of those shown if these are fewer: the latest, or those of an outcome. */
function countText({ trades: { size } }: Market, shown: number): string {
  if (shown < size && shown < MAX_CHARTED)
    return `${counted(shown, "trade")} of ${model.outcome.value}, ${size} of both outcomes`;
  return shown === size ? counted(size, "trade") : `${counted(size, "trade")}, the latest ${shown} shown`;
}

/** Effect of a trade on the supply of shares. */
const MATCH_TEXT = { COMPLEMENTARY: "", MINT: "mint", MERGE: "merge" } as const;

function Row({ trade, market }: { readonly trade: Trade; readonly market: Market }) {
  const { price, side } = inChosen(market, trade);
  return (
    <tr>
      <td>
        <Time at={trade.at} />
      </td>
      <td class={`number ${side === "BUY" ? "bid" : "ask"}`}>
        {`${side === "BUY" ? "▲" : "▼"} ${fixedPrice(market, price)}`}
      </td>
      <td class="number">{sizeText(trade.size)}</td>
      <td>
        <OrderLink number={trade.taker} isBrief />
      </td>
      <td>
        <OrderLink number={trade.maker} isBrief />
      </td>
      <td class="dim" title={trade.matchType}>
        {MATCH_TEXT[trade.matchType]}
      </td>
    </tr>
  );
}

/** A trade and its two orders. */
function TradeText({ trade, market }: { readonly trade: Trade; readonly market: Market }) {
  const { orders, idPrefixes } = model.openMoment().state;
  const [taker, maker] = [orders.get(trade.taker), orders.get(trade.maker)];
  return (
    <span title={idOf(idPrefixes.trade, trade.number)}>
      <Time at={trade.at} />
      {` ${sizeText(trade.size)} ${model.outcome.value} @ ${fixedPrice(market, inChosen(market, trade).price)}: `}
      <OrderLink number={taker.number} />
      {` ${taker.side} ${outcomeOf(taker.token)} of `}
      <AccountLink number={taker.account} />
      {" matched "}
      <OrderLink number={maker.number} />
      {` ${maker.side} ${outcomeOf(maker.token)} of `}
      <AccountLink number={maker.account} />
    </span>
  );
}

/** Price of the trades as steps, and their size as bars. Sets `pointed` to the number of the trade under the pointer. */
function Plot({ pointed }: { readonly pointed: Signal<number | null> }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current === null ? undefined : plotTrades(box.current, pointed)), []);
  return <div ref={box} class="plot" role="img" aria-label="Price and size of the latest trades" />;
}

const MS = 1_000;
/** The volume takes 1 / VOLUME_SHARE of the height. */
const VOLUME_SHARE = 4;

/** Draws the plot into an element, again whenever the shown trades change. Returns a function that removes it. */
function plotTrades(host: HTMLElement, pointed: Signal<number | null>): () => void {
  let trades: readonly Trade[] = [];
  /** False if all trades have the same time, as with a frozen clock; then they are spaced by number. */
  let isByTime = true;
  const labelOf = (x: number): string => (isByTime ? timeText(x) : String(x));
  const size = () => ({ width: Math.max(120, host.clientWidth), height: Math.max(90, host.clientHeight) });
  const options = optionsOf(host, labelOf, (index) => {
    pointed.value = trades[index ?? -1]?.number ?? null;
  });
  const plot = new uPlot({ ...size(), ...options }, [[], [], []], host);
  const stop = model.onFrame(() => {
    model.isDark.value;
    const { value: market } = model.market;
    if (market === null) return;
    trades = tradesOf(market);
    isByTime = trades.length > 1 && trades[0]?.at !== trades.at(-1)?.at;
    plot.setData([
      trades.map(({ at, number }) => (isByTime ? at / MS : number)),
      trades.map((trade) => inChosen(market, trade).price / FULL_PRICE),
      trades.map((trade) => trade.size / SHARE_UNITS),
    ]);
  });
  const observer = new ResizeObserver(() => plot.setSize(size()));
  observer.observe(host);
  return () => {
    stop();
    observer.disconnect();
    plot.destroy();
  };
}

/** Distances between labels, in seconds or trades. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720, 1_440, 2_880, 8_760].map((hours) => hours * 3_600),
];

/** Distances between labels of prices. */
const PRICE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map(
  (step) => step / FULL_PRICE,
);

/** Range with a single trade in the middle. */
const around = (x = 0): uPlot.Range.MinMax => [x - 1, x + 1];

/** Formats prices with as many decimals as the distance between them has, at least two. */
function priceLabels(_plot: uPlot, prices: number[], _axis: number, _space: number, step: number): string[] {
  const decimals = Math.max(2, Math.ceil(-Math.log10(step)));
  return prices.map((price) => price.toFixed(decimals));
}

/** Formats a Unix second as time of day; as date at midnight. */
function timeText(second: number): string {
  const [date = "", time = ""] = new Date(second * MS).toISOString().split("T");
  if (time.startsWith("00:00:00")) return date.slice(5);
  return time.endsWith(":00.000Z") ? time.slice(0, 5) : time.slice(0, 8);
}

/** Returns the options of the plot; colours are read from the page when it is drawn. */
function optionsOf(
  host: HTMLElement,
  labelOf: (x: number) => string,
  onPoint: (index: number | null) => void,
): Omit<uPlot.Options, "width" | "height"> {
  const style = getComputedStyle(host);
  const colour = (name: string) => () => style.getPropertyValue(name);
  const axis = {
    stroke: colour("--dim"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const [steps, bars] = [uPlot.paths.stepped?.({ align: 1 }), uPlot.paths.bars?.({ size: [0.6, 12] })];
  return {
    legend: { show: false },
    // Half of the last label.
    padding: [null, 28, null, null],
    cursor: { y: false, points: { size: 6 } },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
    scales: {
      x: { time: false, range: ({ data: [x] }, low, high) => (x.length === 1 ? around(x[0]) : [low, high]) },
      size: { range: (_plot, _low, high) => [0, Math.max(1, high * VOLUME_SHARE)] },
    },
    axes: [
      { ...axis, size: 26, space: 70, incrs: STEPS, values: (_plot, splits) => splits.map(labelOf) },
      { ...axis, size: 44, space: 24, incrs: PRICE_STEPS, values: priceLabels },
    ],
    series: [
      {},
      {
        label: "price",
        stroke: colour("--accent"),
        width: 1.5,
        points: { show: ({ data }) => data[0].length === 1 },
        ...(steps === undefined ? {} : { paths: steps }),
      },
      {
        label: "size",
        scale: "size",
        stroke: colour("--bar"),
        fill: colour("--bar"),
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      },
    ],
  };
}
