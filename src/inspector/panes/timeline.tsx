import { signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { toIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import { MARK, timeAt } from "../history.ts";
import * as model from "../model.ts";
import { ActionButton, GoTo, useAction } from "../parts.tsx";

/** Marks of the rows over time, with a cursor that can be dragged; `children` are beside its buttons. */
export function Timeline({ children }: { readonly children: ComponentChildren }) {
  model.revision.value;
  const byTime = useSignal(false);
  /** Null for the whole history. */
  const zoomed = useSignal<Range | null>(null);
  const rangeNow = (): Range => {
    const isByTime = byTime.value && byTimeUnavailable() === null;
    return zoomed.value?.byTime === isByTime ? zoomed.value : wholeRange(isByTime);
  };
  useSignalEffect(() => {
    if (zoomed.value !== null) zoomed.value = withCursor(zoomed.value);
  });
  const zoom = (factor: number): void => {
    zoomed.value = zoomedRange(rangeNow(), factor);
  };
  const whyNot = byTimeUnavailable();
  return (
    <section class="timeline" aria-label="Timeline">
      <Strip rangeNow={rangeNow} onZoom={zoom} />
      <div class="controls">
        <Steps />
        <button
          type="button"
          aria-pressed={byTime.value && whyNot === null}
          disabled={whyNot !== null}
          title={whyNot ?? "Space marks by virtual time"}
          onClick={() => {
            byTime.value = !byTime.value;
            zoomed.value = null;
          }}
        >
          By time
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={zoomed.value === null} onClick={() => zoom(2)}>
          −
        </button>
        <NextTimer />
        {children}
      </div>
    </section>
  );
}

function Strip({ rangeNow, onZoom }: Readonly<{ rangeNow: () => Range; onZoom: (factor: number) => void }>) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { rows, now } = model.openMoment();
  useEffect(() => {
    const { current: drawn } = canvas;
    if (drawn === null) return;
    const width = signal(drawn.clientWidth);
    const stop = model.onFrame(() => {
      model.isDark.value;
      drawStrip(drawn, rangeNow(), width.value);
    });
    const observer = new ResizeObserver(([entry]) => {
      width.value = entry?.contentRect.width ?? width.value;
    });
    observer.observe(drawn);
    return () => {
      stop();
      observer.disconnect();
    };
  }, []);
  const point = (event: PointerEvent): void => {
    if (event.type === "pointermove" && event.buttons !== 1) return;
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    model.moveTo(rowsAtPlace(rangeNow(), (event.clientX - left) / width));
  };
  return (
    <div class="strip">
      <div class="lanes" aria-hidden="true">
        {LANES.map(([name]) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <canvas
        ref={canvas}
        height={STRIP_HEIGHT}
        tabIndex={0}
        role="slider"
        aria-label="Cursor in the history"
        aria-valuemin={0}
        aria-valuemax={model.openHistory().count}
        aria-valuenow={rows}
        aria-valuetext={`${model.positionAfter(rows).text}, ${toIso(now)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          point(event);
        }}
        onPointerMove={point}
        onWheel={(event) => {
          event.preventDefault();
          onZoom(event.deltaY > 0 ? 1.5 : 1 / 1.5);
        }}
      />
      <Times of={rangeNow()} />
    </div>
  );
}

/** Times at the start, in the middle and at the end of a range. */
function Times({ of: { byTime, from, to } }: { readonly of: Range }) {
  const shown = model.openHistory();
  const timeOf = (at: number): Millis => (byTime ? (at as Millis) : timeAt(shown, at));
  return (
    <p class="times number dim">
      {[from, (from + to) / 2, to].map((at, index) => (
        <span key={index}>
          {toIso(timeOf(Math.round(at)))
            .slice(0, 19)
            .replace("T", " ")}
        </span>
      ))}
    </p>
  );
}

/** Buttons that move the cursor. */
function Steps() {
  const match = model.foundRows.value === null ? "trade" : "row found";
  const steps = [
    ["⇤", `Previous ${match}`, "Shift ←", () => model.stepToMatch(-1)],
    ["←", "Previous command", "←", () => model.step(-1)],
    ["→", "Next command", "→", () => model.step(1)],
    ["⇥", `Next ${match}`, "Shift →", () => model.stepToMatch(1)],
  ] as const;
  return (
    <>
      {steps.map(([sign, label, key, go]) => (
        <button key={label} type="button" aria-label={label} title={`${label} (${key})`} onClick={go}>
          {sign}
        </button>
      ))}
      <button
        type="button"
        aria-pressed={model.cursor.value === null}
        title="Go to the end and follow it (l)"
        onClick={model.followEnd}
      >
        {model.server.value === null ? "End" : "Live"}
      </button>
      <GoTo id="go-to" label="Go to sequence" placeholder="sequence (g)" go={model.moveToSequence} />
    </>
  );
}

/** Button that advances the clock to the next timer. */
function NextTimer() {
  const action = useAction();
  const due = model.nextTimer(model.openMoment().state);
  return (
    <>
      <ActionButton
        label={due === null ? "No timer" : "Next timer"}
        title={due === null ? "no timer is due" : `to ${toIso(due)}`}
        onClick={() => {
          if (due !== null) action.ask("POST", "/sim/clock", { time: toIso(due) });
        }}
      />
      {action.message}
    </>
  );
}

/** Lanes from top to bottom with their marks; 0 for all rows. */
export const LANES = [
  ["commands", 0],
  ["trades", MARK.trade],
  ["refusals", MARK.refusal],
  ["blocks", MARK.block],
  ["faults", MARK.fault],
  ["clock", MARK.clock],
] as const;
const LANE_HEIGHT = 11;
const STRIP_HEIGHT = LANES.length * LANE_HEIGHT;

/** Visible part of the history, in ms of virtual time or in rows. */
interface Range {
  readonly byTime: boolean;
  readonly from: number;
  readonly to: number;
}

/** Returns where the cursor is, in ms of virtual time or in rows. */
const cursorIn = ({ byTime }: Range): number => model.openMoment()[byTime ? "now" : "rows"];

/** Returns why marks cannot be spaced by time; null if they can. */
function byTimeUnavailable(): string | null {
  const shown = model.openHistory();
  if (shown.goesBack) return "time goes back in this history";
  const [from, to] = model.spanOf(shown);
  return from < to ? null : "all rows have the same time";
}

/** Returns the range of the whole history. */
function wholeRange(byTime: boolean): Range {
  const shown = model.openHistory();
  const [from, to] = byTime ? model.spanOf(shown) : [0, shown.count];
  return { byTime, from, to: Math.max(from + 1, to) };
}

/** Returns a range around the cursor, `factor` times as long; null if that is the whole history or too short. */
function zoomedRange(range: Range, factor: number): Range | null {
  const { byTime, from, to } = range;
  const whole = wholeRange(byTime);
  const half = ((to - from) * factor) / 2;
  if (half < 2 || 2 * half >= whole.to - whole.from) return null;
  const middle = cursorIn(range);
  return { byTime, from: Math.max(whole.from, middle - half), to: Math.min(whole.to, middle + half) };
}

/** Returns a range, moved no further than to contain the cursor. */
function withCursor(range: Range): Range {
  const { byTime, from, to } = range;
  const at = cursorIn(range);
  const by = Math.min(0, at - from) + Math.max(0, at - to);
  return by === 0 ? range : { byTime, from: from + by, to: to + by };
}

/** Returns the number of rows before a place in a range, 0 to 1. */
function rowsAtPlace({ byTime, from, to }: Range, place: number): number {
  const value = from + Math.min(1, Math.max(0, place)) * (to - from);
  return byTime ? model.rowsUntil(model.openHistory(), value) : Math.round(value);
}

/** Bit that no mark has; set for every row. */
const ANY_ROW = 128;

/** Draws the marks of a range in lanes, and the cursor. The width is a parameter because measuring it forces a layout. */
function drawStrip(canvas: HTMLCanvasElement, range: Range, cssWidth: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { from, to } = range;
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
  const x = Math.round(((cursorIn(range) - from) / (to - from)) * (width - 1));
  context.fillStyle = style.getPropertyValue("--cursor");
  context.fillRect(Math.min(width - 2 * thick, Math.max(0, x - thick)), 0, 2 * thick, height);
}

/** Returns the combined marks of the rows in each column of pixels. */
function marksByColumn({ byTime, from, to }: Range, width: number): Uint8Array {
  const columns = new Uint8Array(width);
  const shown = model.openHistory();
  const first = byTime ? model.rowsUntil(shown, from - 1) : Math.max(0, Math.floor(from));
  const last = byTime ? model.rowsUntil(shown, to) : Math.min(shown.count, Math.ceil(to));
  const scale = (width - 1) / (to - from);
  for (let row = first; row < last; row += 1) {
    const x = Math.floor(((byTime ? (shown.times[row] ?? 0) : row) - from) * scale);
    columns[x] = (columns[x] ?? 0) | (shown.marks[row] ?? 0) | ANY_ROW;
  }
  return columns;
}
