/** The most markets, and the most events, that a world may have. */
export const MOST_MARKETS = 20_000;
/** The most orders that an opening history may have. */
export const MOST_ROWS = 5_000_000;
/** The most shares that an order may be for, and a trader may have of each outcome. */
export const MOST_SHARES = 10_000_000;
/** A history begins at most ten years before the start, in milliseconds. */
export const OLDEST = -315_576_000_000;
