/** How accounts, orders and snapshots are named. */
export const isName = (text: string): boolean => /^[A-Za-z][A-Za-z\d_-]{0,63}$/.test(text);
export const NAME_RULE = "a name: a letter, then letters, digits, _ and -, at most 64";

/** How a party of a trade may be named, an account of a flow among them. */
export const isPartyName = (text: string): boolean => /^[A-Za-z][A-Za-z\d_-]{0,127}$/.test(text);

/** How markets are named; the name is the market's slug. */
export const isMarketName = (text: string): boolean =>
  text.length <= 64 && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(text);
export const MARKET_NAME_RULE =
  "a market's name: lower-case words and digits joined by hyphens, at most 64 characters";
