import uPlot from "uplot";
import type { Trade } from "../core/order.ts";
import { isDark, onFrame } from "./model.ts";

const MS = 1_000;
/** The volume takes 1 / VOLUME_SHARE of the height. */
const VOLUME_SHARE = 4;

/** Trade to draw. */
interface Point {
  readonly trade: Trade;
  /** 0 to 1. */
  readonly price: number;
  readonly shares: number;
}

/**
 * Draws trades into an element, price as steps and size as bars; redraws when signals read by `read` change. Calls
 * `onPoint` with the number of the trade under the pointer. Returns a function that removes the plot.
 */
export function plotTrades(
  host: HTMLElement,
  read: () => readonly Point[],
  onPoint: (trade: number | null) => void,
): () => void {
  let points: readonly Point[] = [];
  /** False if all trades have the same time, as with a frozen clock; then they are spaced by number. */
  let isByTime = true;
  const labelOf = (x: number): string => (isByTime ? timeText(x) : String(x));
  const size = () => ({ width: Math.max(120, host.clientWidth), height: Math.max(90, host.clientHeight) });
  const options = optionsOf(host, labelOf, (index) =>
    onPoint(index === null ? null : (points[index]?.trade.number ?? null)),
  );
  const plot = new uPlot({ ...size(), ...options }, [[], [], []], host);
  const stop = onFrame(() => {
    isDark.value;
    points = read();
    isByTime = points.length > 1 && points[0]?.trade.at !== points.at(-1)?.trade.at;
    plot.setData([
      points.map(({ trade }) => (isByTime ? trade.at / MS : trade.number)),
      points.map(({ price }) => price),
      points.map(({ shares }) => shares),
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
  ...[1, 2, 3, 6, 12, 24, 48, 168, 720, 8_760].map((hours) => hours * 3_600),
];

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
    cursor: { y: false, points: { size: 6 } },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
    scales: {
      x: { time: false },
      size: { range: (_plot, _low, high) => [0, Math.max(1, high * VOLUME_SHARE)] },
    },
    axes: [
      { ...axis, size: 26, space: 70, incrs: STEPS, values: (_plot, splits) => splits.map(labelOf) },
      { ...axis, size: 44, space: 24, values: (_plot, splits) => splits.map((each) => each.toFixed(2)) },
    ],
    series: [
      {},
      {
        label: "price",
        stroke: colour("--accent"),
        width: 1.5,
        points: { show: false },
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
