import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { followed } from "./model.ts";

/** Of a row of one line, and of one whose words have a line of their own, as they have in a list that is narrower. */
const [ONE_LINE, TWO_LINES] = [22, 40];
const ROOM_FOR_ONE_LINE = 760;
/** More pixels than this no browser gives to one element; then a pixel of the scroll bar stands for several. */
const MAX_HEIGHT = 15_000_000;
/** For so long after somebody has begun to scroll away, the end may still be in sight. */
const LEAVING_MS = 300;

/**
 * What is in sight of a list whose rows are all of one height: where each is follows from its place, so that nothing is
 * measured however many there are. The row at `place` is kept in sight; `isFollowing` the end is, until somebody scrolls away.
 */
export function useListPlace(count: number, place: number, isFollowing: boolean) {
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
  /** Pixels of the rows that lie above, for each pixel that is scrolled. */
  const scale = spacer > height.value ? (total - height.value) / (spacer - height.value) : 1;
  const above = isAtEnd ? Math.max(0, total - height.value) : scrolled.value * scale;
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    // A list that was empty begins at its top again.
    scrolled.value = box.scrollTop;
    const observer = new ResizeObserver(() => {
      height.value = box.clientHeight;
      rowHeight.value = box.clientWidth < ROOM_FOR_ONE_LINE ? TWO_LINES : ONE_LINE;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [count === 0]);
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    const [top, bottom] = [place * rowHeight.value, (place + 1) * rowHeight.value];
    if (isAtEnd) box.scrollTop = spacer;
    else if (isFollowing) return;
    else if (top < above) box.scrollTop = top / scale;
    else if (bottom > above + height.value) box.scrollTop = (bottom - height.value) / scale;
  }, [place, count, isAtEnd, height.value, rowHeight.value]);
  const handlers = {
    onScroll: ({ currentTarget }: Event): void => {
      const { scrollTop, scrollHeight, clientHeight } = currentTarget as HTMLElement;
      // The end may move on while somebody scrolls towards it.
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
  /** How far the first row in sight is moved up, in pixels. */
  const shift = first * rowHeight.value - above;
  const isTwoLined = rowHeight.value === TWO_LINES;
  return { scroller, handlers, spacer, height: height.value, shift, first, last, isTwoLined };
}
