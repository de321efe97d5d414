import type { Stream } from "../core/random.ts";

/** How much goes on in a market. */
export type Pace = "usual" | "busy";

/** What the moments of a history are drawn from, in milliseconds before the start (negative). */
export interface MomentSetting {
  /** How many, the opening included. */
  readonly count: number;
  /** How many open the book, within minutes. */
  readonly opening: number;
  readonly from: number;
  readonly to: number;
  readonly pace: Pace;
}

const DAY = 86_400_000;
/** What is sent shortly after one another, and within how many milliseconds. */
const BURST = { usual: 3, busy: 6 } as const;
const BURST_LENGTH = 1500;

/**
 * When each order of a history is sent: the opening within minutes, the rest in bursts that follow the time of day. A
 * usual market draws the more the nearer the end, a busy one is busy all the time.
 */
export function drawMoments(random: Stream, setting: MomentSetting): Float64Array {
  const { count, opening, from, to, pace } = setting;
  const moments = new Float64Array(count);
  let at = from;
  let burst = from;
  for (let line = 0; line < count; line += 1) {
    if (line < opening) {
      moments[line] = at;
      at += random.between(200, 20_000);
    } else {
      if ((line - opening) % BURST[pace] === 0) burst = drawMoment(random, at, to - BURST_LENGTH, pace);
      moments[line] = burst + random.below(BURST_LENGTH);
    }
  }
  return moments.sort();
}

/** A moment at which something goes on, as likely as the time of day makes it. */
function drawMoment(random: Stream, from: number, to: number, pace: Pace): number {
  for (;;) {
    const back = random.below(65_536) / 65_536;
    const at = to - Math.floor((to - from) * (pace === "busy" ? back : back * back));
    if (random.below(100) < activityAt(at)) return at;
  }
}

/** 100 at the start and whole days before it, 16 half a day away from that. */
function activityAt(at: number): number {
  const away = Math.abs((-at % DAY) / DAY - 0.5);
  return 16 + 168 * away;
}
