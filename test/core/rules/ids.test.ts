import { describe, expect, it } from "vitest";
import { idOf, idPrefix, numberOf } from "../../../src/core/ids.ts";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const KINDS = ["event", "market", "order", "trade"] as const;

describe("the id of an event, market, order or trade", () => {
  it.each(KINDS)("is a UUID of version 8: %s", (kind) => {
    for (let seed = 0; seed < 100; seed += 1) expect(idOf(idPrefix(`${seed}`, kind), 1)).toMatch(UUID);
  });

  it("is a function of seed, kind and number", () => {
    const ids = ["1", "2"].flatMap((seed) =>
      KINDS.flatMap((kind) => [1, 2, 3].map((number) => idOf(idPrefix(seed, kind), number))),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(idOf(idPrefix("1", "order"), 3)).toBe(ids[8]);
  });

  it.each([1, 2, 9, 10, 255, 256, 4095, 4096, 65_536, 2 ** 31, 2 ** 32, 2 ** 47 + 1, 2 ** 48 - 1])(
    "contains its number: %d",
    (number) => {
      const prefix = idPrefix("1", "order");
      expect(numberOf(prefix, idOf(prefix, number))).toBe(number);
    },
  );

  it("of another kind or seed gives number 0", () => {
    const prefix = idPrefix("1", "order");
    expect(numberOf(prefix, idOf(idPrefix("1", "trade"), 1))).toBe(0);
    expect(numberOf(prefix, idOf(idPrefix("2", "order"), 1))).toBe(0);
  });

  it("is written in lower case and read in either", () => {
    const prefix = idPrefix("1", "order");
    expect(idOf(prefix, 10)).toBe(`${prefix}00000000000a`);
    for (const id of [`${prefix}00000000000A`, idOf(prefix, 10).toUpperCase()]) {
      expect(numberOf(prefix, id)).toBe(10);
    }
  });

  it("is the same on every machine: ids of seed 1", () => {
    expect(KINDS.map((kind) => idPrefix("1", kind))).toEqual([
      ...["a6f64584-bbe4-8eb3-9ce5-", "35433a84-99ff-8ae7-960f-"],
      ...["9e5286f3-732a-8e0f-ba0e-", "8b7b21fa-2a88-8ec7-b568-"],
    ]);
  });
});

describe("the ids of a market", () => {
  it("are a condition of 32 bytes and two tokens of 256 bits in decimal, all different, which find it", () => {
    const exchange = new TestExchange();
    for (let count = 1; count <= 50; count += 1) exchange.market();
    const markets = [...exchange.state.markets];
    for (const { number, conditionId, tokenIds } of markets) {
      expect(conditionId).toMatch(/^0x[0-9a-f]{64}$/);
      expect(exchange.state.marketByConditionId.get(conditionId)).toBe(number);
      for (const id of tokenIds) {
        expect(id).toMatch(/^[1-9][0-9]{60,77}$/);
        expect(BigInt(id) < 2n ** 256n).toBe(true);
      }
      const found = tokenIds.map((id) => exchange.state.tokenById.get(id));
      expect(found).toEqual([number * 2, number * 2 + 1]);
    }
    expect(new Set(markets.flatMap(({ tokenIds }) => tokenIds)).size).toBe(100);
    expect(new Set(markets.map(({ conditionId }) => conditionId)).size).toBe(50);
  });

  it("differ between seeds, as do the exchange's own addresses", () => {
    const [one, two] = [openFundedExchange({}, { seed: "1" }), openFundedExchange({}, { seed: "2" })];
    expect(one.tokenId("YES")).not.toBe(two.tokenId("YES"));
    for (const account of [1, 2]) {
      const [own, other] = [one, two].map(({ state }) => state.accounts.get(account).address);
      expect(own).not.toBe(other);
    }
  });
});
