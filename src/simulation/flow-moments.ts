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

/** When the exchange is active, in milliseconds before the start (negative), oldest first. */
export type Pulses = Float64Array;

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const PULSES = 900;
/** How many orders come at one pulse in one market, and within how many milliseconds. */
const BURST = { usual: 1, busy: 6 } as const;
const BURST_LENGTH = 500;

/**
 * Draws when the exchange is active during its week: more by day than at night. What moves one market moves others,
 * so all of them share these moments, and the settlement chain has fewer blocks for it.
 */
export function drawPulses(random: Stream): Pulses {
  const pulses = new Float64Array(PULSES);
  for (let drawn = 0; drawn < PULSES; ) {
    const at = -random.below(WEEK);
    if (random.below(100) >= activityAt(at)) continue;
    pulses[drawn] = at;
    drawn += 1;
  }
  return pulses.sort();
}

/**
 * When each order of a history is sent: the opening within minutes, the rest at pulses: one by one in a usual market, the more
 * the nearer the end, and several together in a busy one, all the time alike.
 */
export function drawMoments(random: Stream, pulses: Pulses, setting: MomentSetting): Float64Array {
  const { count, opening, from, to, pace } = setting;
  const moments = new Float64Array(count);
  let at = from;
  for (let line = 0; line < opening; line += 1) {
    moments[line] = at;
    at += random.between(200, 20_000);
  }
  const first = countBefore(pulses, at);
  const last = countBefore(pulses, to - BURST_LENGTH) - 1;
  let pulse = at;
  for (let line = opening; line < count; line += 1) {
    if ((line - opening) % BURST[pace] === 0) {
      const back = random.below(65_536) / 65_536;
      const share = pace === "busy" ? back : back * back;
      pulse = pulses[last - Math.floor((last - first + 1) * share)] as number;
    }
    moments[line] = pulse + random.below(BURST_LENGTH);
  }
  return moments.sort();
}

/** How many pulses are earlier than a moment. */
function countBefore(pulses: Pulses, at: number): number {
  let low = 0;
  let high = pulses.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pulses[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** 100 at the start and whole days before it, 8 half a day away from that. */
function activityAt(at: number): number {
  const away = Math.abs((-at % DAY) / DAY - 0.5);
  return 8 + 184 * away;
}
