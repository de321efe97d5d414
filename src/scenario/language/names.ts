/** Keys that say what a step does. */
export const STEP_WORDS = [
  "advance",
  "at",
  "close",
  "resolve",
  "fault",
  "snapshot",
  "restore",
  "replay",
  "generate",
  "race",
  "expect",
  "include",
  "request",
] as const;
export type StepWord = (typeof STEP_WORDS)[number];

/** Keys of steps that act on the settlement chain. */
export const CHAIN_WORDS: readonly string[] = ["mine", "fail settlement", "reorg"];

/** Keys that stand beside the one that says what a step does. */
export const BESIDE_WORDS = [
  "status",
  "fills",
  "rejects",
  "after",
  "as",
  "body",
  "headers",
  "answers",
] as const;
export type BesideWord = (typeof BESIDE_WORDS)[number];

const RESERVED: ReadonlySet<string> = new Set([...STEP_WORDS, ...CHAIN_WORDS, ...BESIDE_WORDS]);

/** Whether a word means something as the key of a step, so that no account can have it for a name. */
export const isReserved = (name: string): boolean => RESERVED.has(name);

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
