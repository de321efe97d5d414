import type { Stream } from "../core/random.ts";

const ROUND_SHARES = [5, 10, 20, 25, 50, 100, 150, 200, 250, 500, 1000, 2000, 2500, 5000];

/**
 * A heavy-tailed order size in 0.01 share: mostly whole shares and often a round number, now and then with cents,
 * seldom many times the typical size.
 */
export function drawSize(random: Stream, typicalShares: number): number {
  const boost = random.oneIn(50) ? 6 : 1;
  const shares = Math.max(1, Math.floor((boost * typicalShares * 100) / random.between(25, 400)));
  const lot = random.below(10);
  if (lot < 4) return roundShares(shares) * 100;
  return lot === 9 ? shares * 100 + random.below(100) : shares * 100;
}

function roundShares(shares: number): number {
  return ROUND_SHARES.find((round) => round >= shares) ?? shares;
}
