/**
 * A stream of integers, 0 <= n < bound, from Tommy Ettinger's mulberry32: 32 bits of state, and the same numbers in
 * every language, which is why benchmark flows are made of it.
 */
export function mulberry32(seed: number): (bound: number) => number {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const bits = (mixed ^ (mixed >>> 14)) >>> 0;
    return Math.floor((bits * bound) / 4_294_967_296);
  };
}
