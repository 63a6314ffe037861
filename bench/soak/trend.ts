/** A value at a time. */
export interface Point {
  /** ms. */
  readonly at: number;
  readonly value: number;
}

const HOUR = 3_600_000;

/** Returns the growth per hour by least squares; 0 for fewer than two points. */
export function slopePerHour(points: readonly Point[]): number {
  const mean = (pick: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / Math.max(1, points.length);
  const [at, value] = [mean((point) => point.at), mean((point) => point.value)];
  const spread = points.reduce((sum, point) => sum + (point.at - at) ** 2, 0);
  const together = points.reduce((sum, point) => sum + (point.at - at) * (point.value - value), 0);
  return spread === 0 ? 0 : (together / spread) * HOUR;
}

/** Returns the least value of each window: of a heap, its size after a garbage collection. */
export function floors(points: readonly Point[], window: number): Point[] {
  const least = new Map<number, Point>();
  for (const point of points) {
    const key = Math.floor(point.at / window);
    const seen = least.get(key);
    if (!seen || point.value < seen.value) least.set(key, point);
  }
  return [...least.values()];
}
