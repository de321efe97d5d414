import type { Stream } from "../core/random.ts";
import { type EventTemplate, endOf, grouped, rising, singleQuestion } from "./event-story.ts";

const COINS = [
  { name: "Bitcoin", low: 14, high: 28, step: 5000 },
  { name: "Ethereum", low: 10, high: 20, step: 250 },
  { name: "Solana", low: 8, high: 20, step: 20 },
  { name: "Litecoin", low: 8, high: 16, step: 10 },
] as const;
const CHAINS = [
  "Bitcoin",
  "Ethereum",
  "Solana",
  "Litecoin",
  "Cardano",
  "Avalanche",
  "Polkadot",
  "Stellar",
  "Tezos",
];

/** A coin, and prices in dollars above one another. */
function coinPrices(random: Stream, count: number): { readonly coin: string; readonly prices: string[] } {
  const { name, low, high, step } = random.pick(COINS);
  const first = random.between(low, high) * step;
  return { coin: name, prices: rising(count, first, step, (price) => `$${grouped(price)}`) };
}

/** Prices and projects of blockchains. */
export const CRYPTO: readonly EventTemplate[] = [
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ random, count }) => {
      const { coin, prices } = coinPrices(random, count);
      const { phrase, days } = endOf(random, "week", "month", "quarter", "year");
      return {
        title: `How high will ${coin} go ${phrase}?`,
        about: `Each market names a price of ${coin} in dollars, higher than the one before.`,
        source: "One trade at that price or above on any of the three largest exchanges is enough.",
        tags: [coin.toLowerCase(), "prices"],
        days,
        subjects: prices,
        question: (price) => `Will ${coin} reach ${price} ${phrase}?`,
        condition: (price) => `${coin} trades at ${price} or more ${phrase}`,
      };
    },
  },
  {
    shape: "ladder",
    tell: ({ random, count }) => {
      const { coin, prices } = coinPrices(random, count);
      const { moment, days } = endOf(random, "week", "month", "quarter", "year");
      return {
        title: `${coin} price ${moment}`,
        about: `Each market names a price of ${coin} in dollars, higher than the one before.`,
        source: "The last price of the day on the largest exchange decides, at midnight UTC.",
        tags: [coin.toLowerCase(), "prices"],
        days,
        subjects: prices,
        question: (price) => `Will ${coin} be above ${price} ${moment}?`,
        condition: (price) => `the price of ${coin} is higher than ${price} ${moment}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const index = `${names.surname()} index`;
      const { phrase, days } = endOf(random, "week", "month");
      return {
        title: `Which coin will gain the most in the ${index} ${phrase}?`,
        about: `The ${index} compares the returns of large coins, and each market stands for one of them.`,
        source: "Returns are measured in dollars from one midnight UTC to another.",
        tags: ["coins", "returns"],
        days,
        subjects: names.several(count, () => random.pick(CHAINS)),
        question: (coin) => `Will ${coin} gain the most in the ${index} ${phrase}?`,
        condition: (coin) => `${coin} has the highest return of the ${index} ${phrase}`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const chain = `${names.surname()} Chain`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will ${chain} open its main network ${phrase}?`,
        when: `anybody can send a transaction on the main network of ${chain} ${phrase}`,
        source: "The first public block decides; a test network does not count.",
        tags: ["launches"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const dollar = `${names.surname()} Dollar`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will the stablecoin ${dollar} fall below $0.98 ${phrase}?`,
        when: `the ${dollar} trades below $0.98 for one full hour ${phrase}`,
        source: "The hourly high of the exchange with the most volume in it decides.",
        tags: ["stablecoins"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const protocol = `${names.surname()} Protocol`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      const step = random.pick([50, 100, 250]);
      return {
        title: `How much will be locked in ${protocol} ${phrase}?`,
        about: `${protocol} holds deposits of its users, and each market names a higher total than the one before.`,
        source: "The value in dollars that its contracts hold at any block decides.",
        tags: ["defi"],
        days,
        subjects: rising(
          count,
          random.between(2, 9) * step,
          step,
          (millions) => `$${grouped(millions)} million`,
        ),
        question: (total) => `Will ${protocol} hold ${total} ${phrase}?`,
        condition: (total) => `deposits in ${protocol} are worth ${total} or more ${phrase}`,
      };
    },
  },
];
