import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { followed } from "./model.ts";

const ROW_HEIGHT = 22;
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
  const total = count * ROW_HEIGHT;
  const spacer = Math.min(total, MAX_HEIGHT);
  /** Pixels of the rows that lie above, for each pixel that is scrolled. */
  const scale = spacer > height.value ? (total - height.value) / (spacer - height.value) : 1;
  const above = isAtEnd ? Math.max(0, total - height.value) : scrolled.value * scale;
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    const observer = new ResizeObserver(() => {
      height.value = box.clientHeight;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [count === 0]);
  useEffect(() => {
    const { current: box } = scroller;
    if (box === null) return;
    const [top, bottom] = [place * ROW_HEIGHT, (place + 1) * ROW_HEIGHT];
    if (isAtEnd) box.scrollTop = spacer;
    else if (isFollowing) return;
    else if (top < above) box.scrollTop = top / scale;
    else if (bottom > above + height.value) box.scrollTop = (bottom - height.value) / scale;
  }, [place, count, isAtEnd, height.value]);
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
  const first = Math.floor(above / ROW_HEIGHT);
  const last = Math.min(count, Math.ceil((above + height.value) / ROW_HEIGHT));
  /** How far the first row in sight is moved up, in pixels. */
  const shift = first * ROW_HEIGHT - above;
  return { scroller, handlers, spacer, height: height.value, shift, first, last };
}
