import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { StreamRequest } from "../api/event-stream.ts";
import type { State } from "../core/state.ts";
import { isControl } from "../engine/journal-line.ts";
import { describeLine, type LineDescription } from "../history/describe-line.ts";
import { Mentions } from "../history/replayed-lines.ts";
import { type History, isRequest } from "./history.ts";
import { followed } from "./model.ts";

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

/** A whole id of the API: a UUID, an address, a token or a hash. */
const WHOLE_ID = /^[\da-z-]{36,}$/;

/** Describes a request that has no journal line by its method, path and status. */
export const replyText = ({ method, path, status, code }: StreamRequest): string =>
  `${method} ${path} → ${status}${code === undefined ? "" : ` ${code}`}`;

/** Time for finding or describing rows before yielding to the page. */
const SLICE_MS = 12;

/** Finds the rows of a history that meet the criteria, in slices. */
export class RowFilter {
  readonly #history: History;
  readonly #choice: RowChoice;
  readonly #requests: ReadonlyMap<number, StreamRequest>;
  readonly #nameOf: (state: State, account: number) => string;
  /** Null if the text is no id. */
  readonly #id: RegExp | null;
  readonly rows: number[] = [];
  #searched = 0;

  constructor(
    history: History,
    choice: RowChoice,
    requests: ReadonlyMap<number, StreamRequest>,
    nameOf: (state: State, account: number) => string,
  ) {
    this.#history = history;
    this.#nameOf = nameOf;
    const text = choice.text.trim().toLowerCase();
    this.#choice = { ...choice, text };
    this.#id = WHOLE_ID.test(text) ? new RegExp(text, "i") : null;
    this.#requests = requests;
  }

  /** Part of the rows that has been searched, 0 to 1. */
  get done(): number {
    return this.#history.count === 0 ? 1 : this.#searched / this.#history.count;
  }

  /** Searches for one time slice; returns whether all present rows have been searched. */
  search(): boolean {
    const { account, market, marks, text } = this.#choice;
    const { count, actors, markets, marks: markedAs } = this.#history;
    const until = performance.now() + SLICE_MS;
    while (this.#searched < count) {
      const row = this.#searched;
      this.#searched += 1;
      const isChosen =
        (account === 0 || actors[row] === account) &&
        (market === 0 || markets[row] === market) &&
        (marks === 0 || ((markedAs[row] ?? 0) & marks) !== 0);
      if (isChosen && (text === "" || this.#matches(row, text))) this.rows.push(row);
      // Most rows take almost no time, so that the clock is read only once in 4,096 rows.
      if ((text !== "" || (row & 4095) === 4095) && performance.now() > until)
        return this.#searched === count;
    }
    return true;
  }

  #matches(row: number, text: string): boolean {
    const line = this.#history.lineAt(row);
    const has = (part: string | undefined): boolean => part?.toLowerCase().includes(text) === true;
    if (isRequest(line)) {
      const request = line.d as StreamRequest;
      return [replyText(request), request.fault, request.requestId, request.caller].some(has);
    }
    const { code, fault, requestId, path }: Partial<StreamRequest> = this.#requests.get(row) ?? {};
    const isOfRequest = [code, fault, requestId, path, isControl(line, "refused") ? line.d.code : ""].some(
      has,
    );
    return (
      isOfRequest ||
      this.#history.visit(row, (replayed, state) => {
        const { actor, text: asked, result } = describeLine(replayed, state);
        const name = this.#nameOf(state, this.#history.actors[row] ?? 0);
        const isMentioned = this.#id !== null && new Mentions(replayed, state).matches(this.#id);
        return isMentioned || has(`${name} ${actor ?? ""} ${asked} ${result}`);
      })
    );
  }
}

/** Maximum number of cached rows. */
const MAX_CACHED = 20_000;

/** Incremented when further rows have been described. */
export const descriptionsRevision = signal(0);

/** Descriptions of the rows of a history, computed on request from the exchange at that row. */
export class RowDescriptions {
  readonly #history: History;
  readonly #descriptions = new Map<number, LineDescription>();
  #requested: readonly number[] = [];
  #isWaiting = false;

  constructor(history: History) {
    this.#history = history;
  }

  /** Returns the description of a row; null until it has been computed. */
  get(row: number): LineDescription | null {
    return this.#descriptions.get(row) ?? null;
  }

  /** Describes rows, in ascending order: some at once, the rest in later frames. */
  request(rows: readonly number[]): void {
    this.#requested = rows.filter((row) => !this.#descriptions.has(row));
    this.#work(false);
  }

  #work(isLater: boolean): void {
    const began = performance.now();
    let done = 0;
    for (const row of this.#requested) {
      if (performance.now() - began > SLICE_MS) break;
      this.#descriptions.set(row, this.#history.visit(row, describeLine));
      const [oldest] = this.#descriptions.keys();
      if (this.#descriptions.size > MAX_CACHED) this.#descriptions.delete(oldest as number);
      done += 1;
    }
    this.#requested = this.#requested.slice(done);
    if (isLater && done > 0) descriptionsRevision.value += 1;
    if (this.#requested.length === 0 || this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#work(true);
    });
  }
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
  const leftAt = useRef(0);
  const leave = (): void => {
    isAway.value = true;
    leftAt.current = performance.now();
  };
  useSignalEffect(() => {
    followed.value;
    isAway.value = false;
  });
  const isAtEnd = isFollowing && !isAway.value;
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
