import type { Stream } from "../core/random.ts";
import { type EventTemplate, grouped, rising, singleQuestion, slugOf } from "./event-story.ts";
import type { FictionalNames } from "./fictional-names.ts";

/** Levels of prices, in dollars: how many steps up the first threshold is, and the step. */
const PRICE_LEVELS = [
  { low: 14, high: 28, step: 5000 },
  { low: 10, high: 20, step: 250 },
  { low: 8, high: 20, step: 20 },
  { low: 8, high: 16, step: 10 },
] as const;

/** A coin, and prices in dollars above one another. */
function coinPrices(
  names: FictionalNames,
  random: Stream,
  count: number,
): { readonly coin: string; readonly prices: string[]; readonly tags: string[] } {
  const coin = names.coin();
  const { low, high, step } = random.pick(PRICE_LEVELS);
  const first = random.between(low, high) * step;
  const prices = rising(count, first, step, (price) => `$${grouped(price)}`);
  return { coin, prices, tags: [slugOf(coin), "prices"] };
}

/** Prices and projects of blockchains that do not exist. */
export const CRYPTO: readonly EventTemplate[] = [
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names, random, count }) => {
      const { coin, prices, tags } = coinPrices(names, random, count);
      return {
        title: `How high will ${coin} go by {endDate}?`,
        about: `Each market names a price of ${coin} in dollars, higher than the one before.`,
        source: "One trade at that price or above on any of the three largest exchanges is enough.",
        tags,
        subjects: prices,
        question: (price) => `Will ${coin} reach ${price} by {endDate}?`,
        condition: (price) => `${coin} trades at ${price} or more by {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names, random, count }) => {
      const { coin, prices, tags } = coinPrices(names, random, count);
      return {
        title: `${coin} price on {endDate}`,
        about: `Each market names a price of ${coin} in dollars, higher than the one before.`,
        source: "The last price of the day on the largest exchange decides, at midnight UTC.",
        tags,
        subjects: prices,
        question: (price) => `Will ${coin} be above ${price} on {endDate}?`,
        condition: (price) => `the price of ${coin} is higher than ${price} at the end of {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    spans: ["week", "month"],
    tell: ({ names, count }) => {
      const index = `${names.surname()} index`;
      return {
        title: `Which coin will gain the most in the ${index} by {endDate}?`,
        about: `The ${index} compares the returns of large coins, and each market stands for one of them.`,
        source: "Returns are measured in dollars from one midnight UTC to another.",
        tags: ["coins", "returns"],
        subjects: names.several(count, () => names.coin()),
        question: (coin) => `Will ${coin} gain the most in the ${index} by {endDate}?`,
        condition: (coin) => `${coin} has the highest return of the ${index} at the end of {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [30, 80],
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names }) => {
      const chain = `${names.surname()} Chain`;
      return singleQuestion({
        asks: `Will ${chain} open its main network by {endDate}?`,
        when: `anybody can send a transaction on the main network of ${chain} by {endDate}`,
        source: "The first public block decides; a test network does not count.",
        tags: ["launches"],
      });
    },
  },
  {
    shape: "single",
    chance: [3, 15],
    spans: ["month", "quarter", "year"],
    tell: ({ names }) => {
      const dollar = `${names.surname()} Dollar`;
      return singleQuestion({
        asks: `Will the stablecoin ${dollar} fall below $0.98 by {endDate}?`,
        when: `the ${dollar} trades below $0.98 for one full hour by {endDate}`,
        source: "The hourly high of the exchange with the most volume in it decides.",
        tags: ["stablecoins"],
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["month", "quarter", "year"],
    tell: ({ names, random, count }) => {
      const protocol = `${names.surname()} Protocol`;
      const step = random.pick([50, 100, 250]);
      return {
        title: `How much will be locked in ${protocol} by {endDate}?`,
        about: `${protocol} holds deposits of its users, and each market names a higher total than the one before.`,
        source: "The value in dollars that its contracts hold at any block decides.",
        tags: ["defi"],
        subjects: rising(
          count,
          random.between(2, 9) * step,
          step,
          (millions) => `$${grouped(millions)} million`,
        ),
        question: (total) => `Will ${protocol} hold ${total} by {endDate}?`,
        condition: (total) => `deposits in ${protocol} are worth ${total} or more by {endDate}`,
      };
    },
  },
];
