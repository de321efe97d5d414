import { expect, it } from "vitest";
import { type DomainEvent, mixEvents } from "../../src/core/events.ts";
import { money, price, size } from "../../src/core/units.ts";

type FrequentEvent = DomainEvent<"orderPlaced" | "orderTraded">;

/** One event of each kind that is encoded field by field, with all its fields. */
const FREQUENT: readonly Required<FrequentEvent>[] = [
  {
    ...{ kind: "orderPlaced", order: 1, account: 2, token: 3, side: "BUY", price: price(4), size: size(5) },
    ...{ orderType: "GTC", expiration: null, touch: null, fillableSize: size(6), blockingOwnOrder: 7 },
  },
  {
    ...{ kind: "orderTraded", trade: 1, taker: 2, maker: 3, price: price(4), size: size(5), fee: money(6) },
    ...{ matchType: "COMPLEMENTARY", transaction: 7 },
  },
];

const OTHER: Readonly<Record<string, unknown>> = { BUY: "SELL", GTC: "FOK", COMPLEMENTARY: "MINT" };

function wordsOf(event: FrequentEvent): string {
  const words: (number | string)[] = [];
  const sink = {
    mixWords: (all: Int32Array, from: number, to: number) => words.push(...all.subarray(from, to)),
    mixText: (text: string) => words.push(text),
  };
  mixEvents(sink, [event]);
  return words.join(" ");
}

const FIELDS = FREQUENT.flatMap(({ kind, ...event }) =>
  Object.keys(event).map((field) => [kind, field, { kind, ...event } as FrequentEvent] as const),
);

it.each(FIELDS)("%s: a change of %s changes the words", (_kind, field, event) => {
  const value = event[field as keyof FrequentEvent] as unknown;
  const changed = { ...event, [field]: typeof value === "string" ? OTHER[value] : Number(value) + 100 };
  expect(wordsOf(changed)).not.toBe(wordsOf(event));
});
