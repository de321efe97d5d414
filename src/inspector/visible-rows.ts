import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { followed } from "./model.ts";

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
