import { describe, expect, it } from "vitest";
import { transactionOfHash } from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";
import { textOf } from "./damaged-documents.ts";
import { parsed, reload } from "./read-back.ts";

const HASH = `0x${"ab".repeat(32)}`;

/** Signed approval by alice. */
const TERMS = {
  kind: "sendTransaction",
  from: addressOf("alice"),
  to: CONTRACTS.collateral,
  nonce: 0,
  value: "0",
  gas: 100_000,
  maxFeePerGas: 2_000_000_000,
  maxPriorityFeePerGas: 1_000_000_000,
  input: "0x01",
  call: { kind: "approve", spender: CONTRACTS.exchange, amount: "7" },
  raw: "0x02",
  hash: HASH,
} as const;

function floorWithCall(terms: typeof TERMS = TERMS): TestExchange {
  const testExchange = openFundedExchange();
  testExchange.exchange.submit({ kind: "deriveCredentials", address: TERMS.from });
  testExchange.mustSubmit(terms);
  return testExchange;
}

describe("a signed transaction in a document", () => {
  it("is found by its hash and refused if sent again", () => {
    const { exchange } = floorWithCall();
    reload(exchange);
    expect(transactionOfHash(exchange.state, HASH)?.content).toMatchObject({ kind: "call", hash: HASH });
    expect(exchange.submit(TERMS)).toMatchObject({ refusal: { code: "TRANSACTION_ALREADY_KNOWN" } });
  });

  it("is written equally for any order of the command's fields", () => {
    const backwards = Object.fromEntries(Object.entries(TERMS).reverse()) as typeof TERMS;
    expect(textOf(floorWithCall(backwards).state)).toBe(textOf(floorWithCall().state));
  });

  it("makes the document invalid if another one has its hash", () => {
    const testExchange = floorWithCall();
    testExchange.mustSubmit({ ...TERMS, nonce: 1, hash: `0x${"cd".repeat(32)}` });
    const text = textOf(testExchange.state).replace("cd".repeat(32), "ab".repeat(32));
    expect(() => parsed(text)).toThrow(".content.hash: expected a unique hash, found");
  });
});
