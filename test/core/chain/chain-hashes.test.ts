import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockAt, headBlock } from "../../../src/core/chain/chain.ts";
import {
  blockHash,
  blockOfHash,
  orderHash,
  transactionHash,
  transactionOfHash,
} from "../../../src/core/chain/chain-hashes.ts";
import { Digest } from "../../../src/core/hash.ts";
import { forAll } from "../../support/runs.ts";
import { played, type SettlementExchange } from "./settlement-exchange.ts";

const HASH = /^0x[0-9a-f]{64}$/;

const TRADE = "carol BUY 40 YES @ 0.55; bob SELL 40 YES @ 0.55";
const playedTrade = (): SettlementExchange => played(`${TRADE}; mine`);

it("the hash of the head differs by seed, size, price, maker, match type, time, failure, and earlier blocks", () => {
  const headHash = ({ state }: SettlementExchange): string => blockHash(state, headBlock(state.chain));
  const dearer = "carol BUY 40 YES @ 0.56; bob SELL 40 YES @ 0.55";
  const histories = [
    ...[TRADE, dearer].flatMap((trade) => [`${trade}; mine`, `${trade}; mine 2`]),
    ...[`${TRADE}; fault fail; mine`, `${TRADE}; advance 1ms; mine`],
    "carol BUY 40 YES @ 0.55; bob SELL 39.99 YES @ 0.55; mine",
    "alice BUY 40 YES @ 0.55; bob SELL 40 YES @ 0.55; mine",
    "carol BUY 40 YES @ 0.55; carol BUY 40 NO @ 0.45; mine",
  ].map((words) => played(words));
  const all = [...histories, played(`${TRADE}; mine`, { seed: "other" })];
  expect(new Set(all.map(headHash)).size).toBe(all.length);
});

describe("a hash finds", () => {
  it("its transaction, and no other", () => {
    const exchange = playedTrade();
    const { transactions } = exchange.state.chain;
    const hashes = [...transactions].map((transaction) => transactionHash(exchange.state, transaction));
    expect(new Set(hashes).size).toBe(transactions.size);
    for (const [index, hash] of hashes.entries()) {
      expect(hash).toMatch(HASH);
      expect(transactionOfHash(exchange.state, hash)).toBe(transactions.get(index + 1));
    }
  });

  it("its block", () => {
    const exchange = playedTrade();
    exchange.act("mine 300");
    for (let height = 0; height <= exchange.head; height += 1) {
      const block = blockAt(exchange.state.chain, height);
      if (block === undefined) throw new Error(`no block ${height}`);
      expect(blockOfHash(exchange.state, blockHash(exchange.state, block))).toBe(block);
    }
  });

  it("nothing if it is unknown", () => {
    const exchange = playedTrade();
    const anyHash = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
    forAll({ seed: 42, numRuns: 500 }, [anyHash], (hash) => {
      expect(transactionOfHash(exchange.state, hash)).toBe(undefined);
      expect(blockOfHash(exchange.state, hash)).toBe(undefined);
    });
    for (const text of ["", "0x", "0x1", "not a hash", `0x${"g".repeat(64)}`])
      expect(transactionOfHash(exchange.state, text) ?? blockOfHash(exchange.state, text)).toBe(undefined);
  });

  it("an order by the id in its second half", () => {
    const exchange = playedTrade();
    expect(orderHash(exchange.state, 2).slice(34)).toBe(exchange.orderId(2).replaceAll("-", ""));
    expect(orderHash(exchange.state, 2)).toMatch(HASH);
  });
});

describe("a digest", () => {
  const digestOf = (values: readonly number[]): readonly number[] => {
    const digest = new Digest([1, 2, 3, 4]);
    for (const value of values) digest.mixWide(value);
    digest.spread();
    return digest.words;
  };

  it("differs if any value of a sequence differs", () => {
    const values = fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 20 });
    forAll({ seed: 42, numRuns: 2000 }, [values, fc.nat(), fc.maxSafeNat()], (sequence, place, value) => {
      const other = sequence.slice();
      other[place % sequence.length] = value;
      fc.pre(sequence.some((each, index) => each !== other[index]));
      expect(digestOf(other)).not.toEqual(digestOf(sequence));
    });
  });

  it("spreads a small difference over all words", () => {
    const seen = new Set<number>();
    for (let value = 0; value < 10_000; value += 1) for (const word of digestOf([value])) seen.add(word);
    expect(seen.size).toBeGreaterThan(39_990);
  });
});
