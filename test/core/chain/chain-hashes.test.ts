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
import { openSettlement, type SettlementFloor } from "./settlement-floor.ts";

const HASH = /^0x[0-9a-f]{64}$/;

/** A history in which one thing can be otherwise, mined in one block. */
function played(sentences: readonly string[], seed = "test"): SettlementFloor {
  const floor = openSettlement({ seed });
  floor.send(...sentences);
  floor.mine();
  return floor;
}

const headHash = (floor: SettlementFloor): string => blockHash(floor.state, headBlock(floor.state.chain));
const TRADE = ["carol BUY 40 YES @ 0.55", "bob SELL 40 YES @ 0.55"];

describe("the hash of the head", () => {
  it("is the same for the same history", () => {
    expect(headHash(played(TRADE))).toBe(headHash(played(TRADE)));
    expect(headHash(played(TRADE))).toMatch(HASH);
  });

  it.each<[what: string, floor: () => SettlementFloor]>([
    ["another seed", () => played(TRADE, "other")],
    ["another size", () => played(["carol BUY 40 YES @ 0.55", "bob SELL 39.99 YES @ 0.55"])],
    ["another price", () => played(["carol BUY 40 YES @ 0.56", "bob SELL 40 YES @ 0.55"])],
    ["another maker", () => played(["alice BUY 40 YES @ 0.55", "bob SELL 40 YES @ 0.55"])],
    ["another way to settle", () => played(["carol BUY 40 YES @ 0.55", "carol BUY 40 NO @ 0.45"])],
  ])("is another one after %s", (_case, floor) => {
    expect(headHash(floor())).not.toBe(headHash(played(TRADE)));
  });

  it("is another one when a settlement in it failed, or when time was another", () => {
    const failed = openSettlement();
    failed.send(...TRADE);
    failed.fault("fail");
    failed.mine();
    const later = openSettlement();
    later.send(...TRADE);
    later.advance("1ms");
    later.mine();
    expect(new Set([headHash(played(TRADE)), headHash(failed), headHash(later)]).size).toBe(3);
  });

  it("names all blocks before it", () => {
    const [one, two] = [played(TRADE), played(["carol BUY 40 YES @ 0.56", "bob SELL 40 YES @ 0.55"])];
    one.mine(5);
    two.mine(5);
    expect(headHash(one)).not.toBe(headHash(two));
  });
});

describe("a hash leads back", () => {
  it("to its transaction, and to no other", () => {
    const floor = played(TRADE);
    const { transactions } = floor.state.chain;
    const hashes = [...transactions].map((transaction) => transactionHash(floor.state, transaction));
    expect(new Set(hashes).size).toBe(transactions.size);
    for (const [index, hash] of hashes.entries()) {
      expect(hash).toMatch(HASH);
      expect(transactionOfHash(floor.state, hash)).toBe(transactions.get(index + 1));
    }
  });

  it("to its block", () => {
    const floor = played(TRADE);
    floor.mine(300);
    for (let height = 0; height <= floor.head; height += 1) {
      const block = blockAt(floor.state.chain, height);
      if (block === undefined) throw new Error(`no block ${height}`);
      expect(blockOfHash(floor.state, blockHash(floor.state, block))).toBe(block);
    }
  });

  it("nowhere when it is nobody's", () => {
    const floor = played(TRADE);
    const anyHash = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
    fc.assert(
      fc.property(anyHash, (hash) => {
        expect(transactionOfHash(floor.state, hash)).toBe(undefined);
        expect(blockOfHash(floor.state, hash)).toBe(undefined);
      }),
      { seed: 42, numRuns: 500 },
    );
    for (const text of ["", "0x", "0x1", "not a hash", `0x${"g".repeat(64)}`]) {
      expect([transactionOfHash(floor.state, text), blockOfHash(floor.state, text)]).toEqual([
        undefined,
        undefined,
      ]);
    }
  });

  it("to an order by the id in its second half", () => {
    const floor = played(TRADE);
    expect(orderHash(floor.state, 2).slice(34)).toBe(floor.orderId(2).replaceAll("-", ""));
    expect(orderHash(floor.state, 2)).toMatch(HASH);
  });
});

describe("a digest", () => {
  const digestOf = (values: readonly number[]): readonly number[] => {
    const digest = new Digest([1, 2, 3, 4]);
    for (const value of values) digest.mixWide(value);
    digest.spread();
    return digest.words;
  };

  it("differs where a sequence differs, in any place", () => {
    const values = fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(values, fc.nat(), fc.maxSafeNat(), (sequence, place, value) => {
        const other = sequence.slice();
        other[place % sequence.length] = value;
        fc.pre(sequence.some((each, index) => each !== other[index]));
        expect(digestOf(other)).not.toEqual(digestOf(sequence));
      }),
      { seed: 42, numRuns: 2000 },
    );
  });

  it("spreads a small difference over all words", () => {
    const seen = new Set<number>();
    for (let value = 0; value < 10_000; value += 1) for (const word of digestOf([value])) seen.add(word);
    expect(seen.size).toBeGreaterThan(39_990);
  });
});
