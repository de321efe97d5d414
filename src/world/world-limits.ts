/** The most markets, and the most events, that a world may have. */
export const MOST_MARKETS = 20_000;
/** The most orders that an opening history may have. */
export const MOST_ROWS = 5_000_000;
