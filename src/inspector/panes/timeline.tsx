import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { toIso } from "../../core/time.ts";
import {
  cursor,
  followEnd,
  history,
  isDark,
  moment,
  moveTo,
  moveToSequence,
  nextTimer,
  onFrame,
  revision,
  server,
  step,
  stepToMark,
} from "../model.ts";
import { ActionButton, GoTo, Outcome, useAction } from "../parts.tsx";
import {
  byTimeUnavailable,
  drawStrip,
  LANES,
  type Range,
  rowsAtPlace,
  STRIP_HEIGHT,
  wholeRange,
  zoomedRange,
} from "../timeline-strip.ts";

/** Marks of the rows over time, with a cursor that can be dragged. */
export function Timeline() {
  const byTime = useSignal(false);
  /** Null for the whole history. */
  const zoomed = useSignal<Range | null>(null);
  const rangeNow = (): Range => {
    const isByTime = byTime.value && byTimeUnavailable() === null;
    return zoomed.value?.byTime === isByTime ? zoomed.value : wholeRange(isByTime);
  };
  const zoom = (factor: number): void => {
    zoomed.value = zoomedRange(rangeNow(), factor);
  };
  return (
    <section class="timeline" aria-label="Timeline">
      <Strip rangeNow={rangeNow} onZoom={zoom} />
      <div class="controls">
        <Steps />
        <ByTime
          isOn={byTime.value}
          onClick={() => {
            byTime.value = !byTime.value;
            zoomed.value = null;
          }}
        />
        <ZoomButtons zoomed={zoomed} onZoom={zoom} />
        <NextTimer />
      </div>
    </section>
  );
}

function Strip({
  rangeNow,
  onZoom,
}: {
  readonly rangeNow: () => Range;
  readonly onZoom: (factor: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { value: at } = moment;
  useEffect(() => {
    const { current: drawn } = canvas;
    if (drawn === null) return;
    const width = signal(drawn.clientWidth);
    const stop = onFrame(() => {
      isDark.value;
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
    moveTo(rowsAtPlace(rangeNow(), (event.clientX - left) / width));
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
        aria-valuemax={history.value?.count ?? 0}
        aria-valuenow={at?.rows ?? 0}
        aria-valuetext={at === null ? "" : `row ${at.rows}, ${toIso(at.now)}`}
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
    </div>
  );
}

const STEPS = [
  ["⇤", "Previous trade", "Shift ←", () => stepToMark(-1)],
  ["←", "Previous command", "←", () => step(-1)],
  ["→", "Next command", "→", () => step(1)],
  ["⇥", "Next trade", "Shift →", () => stepToMark(1)],
] as const;

/** Buttons that move the cursor. */
function Steps() {
  return (
    <>
      {STEPS.map(([sign, label, key, go]) => (
        <button key={label} type="button" aria-label={label} title={`${label} (${key})`} onClick={go}>
          {sign}
        </button>
      ))}
      <button
        type="button"
        aria-pressed={cursor.value === null}
        title="Go to the end and follow it (l)"
        onClick={followEnd}
      >
        {server.value === null ? "End" : "Live"}
      </button>
      <GoTo id="go-to" label="Go to sequence" placeholder="sequence (g)" go={moveToSequence} />
    </>
  );
}

function ByTime({ isOn, onClick }: { readonly isOn: boolean; readonly onClick: () => void }) {
  revision.value;
  const whyNot = byTimeUnavailable();
  return (
    <button
      type="button"
      aria-pressed={isOn && whyNot === null}
      disabled={whyNot !== null}
      title={whyNot ?? "Space marks by virtual time"}
      onClick={onClick}
    >
      By time
    </button>
  );
}

function ZoomButtons({
  zoomed,
  onZoom,
}: {
  readonly zoomed: Signal<Range | null>;
  readonly onZoom: (factor: number) => void;
}) {
  return (
    <>
      <button type="button" aria-label="Zoom in" onClick={() => onZoom(0.5)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" disabled={zoomed.value === null} onClick={() => onZoom(2)}>
        −
      </button>
    </>
  );
}

/** Button that advances the clock to the next timer. */
function NextTimer() {
  const action = useAction();
  const { value: at } = moment;
  const due = at === null ? null : nextTimer(at.state);
  return (
    <>
      <ActionButton
        label={due === null ? "No timer" : "Next timer"}
        title={due === null ? "no timer is due" : `to ${toIso(due)}`}
        onClick={() => {
          if (due !== null) void action.ask("POST", "/sim/clock", { time: toIso(due) });
        }}
      />
      <Outcome of={action} />
    </>
  );
}
