import { MARK } from "./history.ts";
import { history, moment, rowsUntil, spanOf } from "./model.ts";

/** Lanes from top to bottom with their marks; 0 for all rows. */
export const LANES = [
  ["commands", 0],
  ["trades", MARK.trade],
  ["refusals", MARK.refusal],
  ["blocks", MARK.block],
  ["faults", MARK.fault],
  ["clock", MARK.clock],
] as const;
const LANE_HEIGHT = 9;
export const STRIP_HEIGHT = LANES.length * LANE_HEIGHT;

/** Visible part of the history, in ms of virtual time or in rows. */
export interface Range {
  readonly byTime: boolean;
  readonly from: number;
  readonly to: number;
}

/** Returns why marks cannot be spaced by time; null if they can. */
export function byTimeUnavailable(): string | null {
  const { value: shown } = history;
  if (shown === null) return null;
  if (shown.goesBack) return "time goes back in this history";
  const [from, to] = spanOf(shown);
  return from < to ? null : "all rows have the same time";
}

/** Returns the range of the whole history. */
export function wholeRange(byTime: boolean): Range {
  const { value: shown } = history;
  if (shown === null) return { byTime, from: 0, to: 1 };
  const [from, to] = byTime ? spanOf(shown) : [0, shown.count];
  return { byTime, from, to: Math.max(from + 1, to) };
}

/** Returns a range around the cursor, `factor` times as long; null if that is the whole history or too short. */
export function zoomedRange({ byTime, from, to }: Range, factor: number): Range | null {
  const { value: at } = moment;
  const whole = wholeRange(byTime);
  const half = ((to - from) * factor) / 2;
  if (at === null || half < 2 || 2 * half >= whole.to - whole.from) return null;
  const middle = byTime ? at.now : at.rows;
  return { byTime, from: Math.max(whole.from, middle - half), to: Math.min(whole.to, middle + half) };
}

/** Returns the number of rows before a place in a range, 0 to 1. */
export function rowsAtPlace({ byTime, from, to }: Range, place: number): number {
  const { value: shown } = history;
  const value = from + Math.min(1, Math.max(0, place)) * (to - from);
  if (shown === null) return 0;
  return byTime ? rowsUntil(shown, value) : Math.round(value);
}

/** Bit that no mark has; set for every row. */
const ANY_ROW = 128;

/** Draws the marks of a range in lanes, and the cursor. The width is a parameter because measuring it forces a layout. */
export function drawStrip(canvas: HTMLCanvasElement, range: Range, cssWidth: number): void {
  const { value: at } = moment;
  const context = canvas.getContext("2d");
  if (at === null || context === null) return;
  const { byTime, from, to } = range;
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(cssWidth * ratio));
  const height = Math.round(STRIP_HEIGHT * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.clearRect(0, 0, width, height);
  const columns = marksByColumn(range, width);
  const style = getComputedStyle(canvas);
  const thick = Math.max(1, Math.round(ratio));
  for (const [lane, [name, mark]] of LANES.entries()) {
    context.fillStyle = style.getPropertyValue(`--lane-${name}`);
    const bit = mark === 0 ? ANY_ROW : mark;
    const top = Math.round((lane * LANE_HEIGHT + 1.5) * ratio);
    const tall = Math.round((LANE_HEIGHT - 3) * ratio);
    for (let x = 0; x < width; x += 1) {
      if (((columns[x] ?? 0) & bit) !== 0) context.fillRect(x, top, thick, tall);
    }
  }
  const x = Math.round((((byTime ? at.now : at.rows) - from) / (to - from)) * (width - 1));
  context.fillStyle = style.getPropertyValue("--cursor");
  context.fillRect(Math.min(width - 2 * thick, Math.max(0, x - thick)), 0, 2 * thick, height);
}

/** Returns the combined marks of the rows in each column of pixels. */
function marksByColumn({ byTime, from, to }: Range, width: number): Uint8Array {
  const columns = new Uint8Array(width);
  const { value: shown } = history;
  if (shown === null) return columns;
  const first = byTime ? rowsUntil(shown, from - 1) : Math.max(0, Math.floor(from));
  const last = byTime ? rowsUntil(shown, to) : Math.min(shown.count, Math.ceil(to));
  const scale = (width - 1) / (to - from);
  for (let row = first; row < last; row += 1) {
    const x = Math.floor(((byTime ? shown.times.at(row) : row) - from) * scale);
    columns[x] = (columns[x] ?? 0) | shown.marks.at(row) | ANY_ROW;
  }
  return columns;
}
