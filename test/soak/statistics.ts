/** The value that `share` (0 to 1) of all values do not exceed, by nearest rank. @throws RangeError when there are none. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("no values, no percentile");
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The slope of the straight line nearest to the points, by least squares. @throws RangeError when all have one x. */
export function slope(points: readonly Point[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) };
  let [covariance, variance] = [0, 0];
  for (const { x, y } of points) {
    covariance += (x - middle.x) * (y - middle.y);
    variance += (x - middle.x) * (x - middle.x);
  }
  if (!(variance > 0)) throw new RangeError("a slope needs two points with different x");
  return covariance / variance;
}
