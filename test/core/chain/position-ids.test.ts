import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CONTRACTS,
  collectionId,
  conditionId,
  conditionIdOf,
  OPERATOR,
  ORACLE,
  positionId,
  questionIdOf,
} from "../../../src/core/chain/contracts.ts";
import { keccak256Hex } from "../../../src/core/hash.ts";
import { forAll } from "../../support/runs.ts";

const P =
  21_888_242_871_839_275_222_246_405_745_257_275_088_696_311_157_297_823_662_689_037_894_645_226_208_583n;

/** Algorithm of the contract: computes the root, and selects it by the parity bit of the hash. */
function collectionByRoot(condition: string, indexSet: number): string {
  const power = (base: bigint, exponent: bigint): bigint => {
    let result = 1n;
    for (let [b, e] = [base % P, exponent]; e > 0n; e >>= 1n, b = (b * b) % P)
      if (e & 1n) result = (result * b) % P;
    return result;
  };
  let x = BigInt(`0x${keccak256Hex(condition.slice(2) + indexSet.toString(16).padStart(64, "0"))}`);
  const isOdd = x >> 255n !== 0n;
  let [y, square] = [0n, 1n];
  while ((y * y) % P !== square) {
    x = (x + 1n) % P;
    square = (((x * x) % P) * x + 3n) % P;
    y = power(square, (P + 1n) / 4n);
  }
  if (isOdd !== ((y & 1n) === 1n)) y = P - y;
  return `0x${(x ^ ((y & 1n) << 254n)).toString(16).padStart(64, "0")}`;
}

describe("the ids of conditions and positions", () => {
  it("equal those of public tools for the same collateral and condition", () => {
    const collateral = "0x2e8dcfe708d44ae2e406a1c02dfe2fa13012f961";
    const condition = "0xbd31dc8a20211944f6b70f31557f1001557b59905b7738480ca09bd4532f84af";
    expect([1, 2].map((set) => positionId(collateral, collectionId(condition, set)).toString())).toEqual([
      "1343197538147866997676250008839231694243646439454152539053893078719042421992",
      "16678291189211314787145083999015737376658799626183230671758641503291735614088",
    ]);
  });

  it("are the same point as the contract computes", () => {
    const bytes32 = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
    forAll({ seed: 42, numRuns: 200 }, [bytes32, fc.constantFrom(1, 2)], (condition, indexSet) => {
      expect(collectionId(condition, indexSet)).toBe(collectionByRoot(condition, indexSet));
    });
  });

  it("of a market are those of its question, which the oracle answers with one of two outcomes", () => {
    expect(conditionIdOf("7", 1)).toBe(conditionId(ORACLE, questionIdOf("7", 1), 2));
  });
});

it("the addresses on the chain are hashes of their names", () => {
  const named = (name: string): string =>
    `0x${keccak256Hex(Buffer.from(`clobsim ${name}`).toString("hex")).slice(24)}`;
  expect({ ...CONTRACTS, ORACLE, OPERATOR }).toEqual({
    collateral: named("collateral"),
    conditionalTokens: named("conditional tokens"),
    exchange: named("exchange"),
    ORACLE: named("oracle"),
    OPERATOR: named("operator"),
  });
});
