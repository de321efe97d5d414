import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { StreamRequest } from "../api/event-stream.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { describeLine, type LineDescription, mentionsIn } from "../history/describe-line.ts";
import { type History, isRequest } from "./history.ts";
import * as model from "./model.ts";

/** Criteria for rows. */
interface RowChoice {
  /** Number of an account; 0 for all. */
  readonly account: number;
  /** Number of a market; 0 for all. */
  readonly market: number;
  /** `MARK` bits of which a row must have one; 0 for all. */
  readonly marks: number;
  /** Text that a row, its error code or its fault must contain, or an id that it must mention, ignoring case; empty for all. */
  readonly text: string;
}

/** A whole id of the API: a UUID, an address (also in the short form of a journal), a token or a hash. */
const WHOLE_ID = /^(?:[\da-z-]{36,}|0x[\da-f]{8})$/;

/** Describes a request that has no journal line by its method, path and status. */
export const replyText = ({ method, path, status, code }: StreamRequest): string =>
  `${method} ${path} → ${status}${code === undefined ? "" : ` ${code}`}`;

/** Time for finding or describing rows before yielding to the page. */
const SLICE_MS = 12;

export type RowFilter = ReturnType<typeof filterRows>;

/** Finds the rows of a history that meet the criteria, in slices. `nameOf` returns the name of an account. */
export function filterRows(
  history: History,
  { account, market, marks, text: asked }: RowChoice,
  requests: ReadonlyMap<number, StreamRequest>,
  nameOf: (state: State, account: number) => string,
) {
  const text = asked.trim().toLowerCase();
  const id = WHOLE_ID.test(text) ? new RegExp(text, "i") : null;
  const rows: number[] = [];
  let searched = 0;
  const has = (part: string | undefined): boolean => part?.toLowerCase().includes(text) === true;
  const matches = (row: number): boolean => {
    const line = history.lineAt(row);
    if (isRequest(line)) {
      const request = line.d as StreamRequest;
      return [replyText(request), request.fault, request.requestId, request.caller].some(has);
    }
    const { code, fault, requestId, path }: Partial<StreamRequest> = requests.get(row) ?? {};
    const refused = isControl(line, "refused") ? line.d.code : "";
    return (
      [code, fault, requestId, path, refused].some(has) ||
      history.visit(row, (replayed, state) => {
        const { actor, text: asked, result } = describeLine(replayed, state);
        const name = nameOf(state, history.actors[row] ?? 0);
        const isMentioned = id !== null && mentionsIn(replayed, state).matches(id);
        return isMentioned || has(`${name} ${actor ?? ""} ${asked} ${result}`);
      })
    );
  };
  return {
    /** The rows found so far. */
    rows,
    /** Returns the part of the rows that has been searched, 0 to 1. */
    done: (): number => (history.count === 0 ? 1 : searched / history.count),
    /** Searches for one time slice; returns whether all present rows have been searched. */
    search(): boolean {
      const { count, actors, markets, marks: markedAs } = history;
      const until = performance.now() + SLICE_MS;
      while (searched < count) {
        const row = searched;
        searched += 1;
        const isChosen =
          (account === 0 || actors[row] === account) &&
          (market === 0 || markets[row] === market) &&
          (marks === 0 || ((markedAs[row] ?? 0) & marks) !== 0);
        if (isChosen && (text === "" || matches(row))) rows.push(row);
        // Most rows take almost no time, so that the clock is read only once in 4,096 rows.
        if ((text !== "" || (row & 4095) === 4095) && performance.now() > until) return searched === count;
      }
      return true;
    },
  };
}

/** Maximum number of cached rows. */
const MAX_CACHED = 20_000;

/** Incremented when further rows have been described. */
export const descriptionsRevision = signal(0);

/** Describes the rows of a history on request, from the exchange at that row. */
export function describeRows(history: History) {
  const descriptions = new Map<number, LineDescription>();
  let requested: readonly number[] = [];
  let isWaiting = false;
  const work = (isLater: boolean): void => {
    const began = performance.now();
    let done = 0;
    for (const row of requested) {
      if (performance.now() - began > SLICE_MS) break;
      descriptions.set(row, history.visit(row, describeLine));
      const [oldest] = descriptions.keys();
      if (descriptions.size > MAX_CACHED) descriptions.delete(oldest as number);
      done += 1;
    }
    requested = requested.slice(done);
    if (isLater && done > 0) descriptionsRevision.value += 1;
    if (requested.length === 0 || isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      work(true);
    });
  };
  return {
    /** Returns the description of a row; null until it has been computed. */
    get: (row: number): LineDescription | null => descriptions.get(row) ?? null,
    /** Describes rows, in ascending order: some at once, the rest in later frames. */
    request: (rows: readonly number[]): void => {
      requested = rows.filter((row) => !descriptions.has(row));
      work(false);
    },
  };
}

/** Row heights in pixels; in a narrow list the description of a row has its own line. */
const [ONE_LINE, TWO_LINES] = [22, 40];
const MIN_WIDTH_FOR_ONE_LINE = 760;
/** Maximum height of an element in browsers, pixels; longer lists scroll by several pixels at a time. */
const MAX_HEIGHT = 15_000_000;
/** Time after the user begins to scroll away during which the end may still be visible. */
const LEAVING_MS = 300;

/**
 * Computes the visible rows of a list. All rows have the same height, so that positions need no measuring. Keeps the row at
 * `row` visible, or the end if `isFollowing`, until the user scrolls away.
 */
export function useVisibleRows(count: number, row: number, isFollowing: boolean) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = useSignal(0);
  const rowHeight = useSignal(ONE_LINE);
  const scrolled = useSignal(0);
  const isAway = useSignal(false);
  /** Whether the keyboard is in the list, which does not move then, because the focused row would vanish. */
  const isFocused = useSignal(false);
  const leftAt = useRef(0);
  const leave = (): void => {
    isAway.value = true;
    leftAt.current = performance.now();
  };
  useSignalEffect(() => {
    model.followed.value;
    isAway.value = false;
    isFocused.value = false;
  });
  const isAtEnd = isFollowing && !isAway.value && !isFocused.value;
  const total = count * rowHeight.value;
  const spacer = Math.min(total, MAX_HEIGHT);
  /** Pixels of rows per scrolled pixel. */
  const scale = spacer > height.value ? (total - height.value) / (spacer - height.value) : 1;
  const above = isAtEnd ? Math.max(0, total - height.value) : scrolled.value * scale;
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    // A list that was empty starts at the top.
    scrolled.value = box.scrollTop;
    const observer = new ResizeObserver(() => {
      height.value = box.clientHeight;
      rowHeight.value = box.clientWidth < MIN_WIDTH_FOR_ONE_LINE ? TWO_LINES : ONE_LINE;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [count === 0]);
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    const [top, bottom] = [row * rowHeight.value, (row + 1) * rowHeight.value];
    if (isAtEnd) box.scrollTop = spacer;
    else if (isFollowing) return;
    else if (top < above) box.scrollTop = top / scale;
    else if (bottom > above + height.value) box.scrollTop = (bottom - height.value) / scale;
  }, [row, count, isAtEnd, height.value, rowHeight.value]);
  const handlers = {
    onScroll: ({ currentTarget }: Event): void => {
      const { scrollTop, scrollHeight, clientHeight } = currentTarget as HTMLElement;
      // The end may move while the user scrolls towards it.
      const isNearEnd = scrollTop > scrolled.value && scrollHeight - scrollTop < 1.5 * clientHeight;
      if (isNearEnd && performance.now() - leftAt.current > LEAVING_MS) isAway.value = false;
      scrolled.value = scrollTop;
    },
    onWheel: ({ deltaY }: WheelEvent): void => {
      if (deltaY < 0) leave();
    },
    onTouchMove: leave,
    onFocusIn: ({ target }: Event): void => {
      isFocused.value = (target as HTMLElement).matches(":focus-visible");
    },
    onFocusOut: (): void => {
      isFocused.value = false;
    },
    onKeyDown: ({ key, currentTarget }: KeyboardEvent): void => {
      // The list takes the focus from a row that these keys may scroll out of view.
      if (/^(Page|Arrow)(Up|Down)$/.test(key)) (currentTarget as HTMLElement).focus();
    },
    onPointerDown: ({ target, currentTarget }: Event): void => {
      // The scroll bar.
      if (target === currentTarget) leave();
    },
  };
  const first = Math.floor(above / rowHeight.value);
  const last = Math.min(count, Math.ceil((above + height.value) / rowHeight.value));
  /** Vertical offset of the first visible row, in pixels. */
  const shift = first * rowHeight.value - above;
  const isTwoLined = rowHeight.value === TWO_LINES;
  return { scroller, handlers, spacer, height: height.value, shift, first, last, isTwoLined };
}
