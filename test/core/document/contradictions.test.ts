import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/core/rebuild-state.ts";
import { openFundedExchange } from "../../support/exchange.ts";
import { played } from "../chain/settlement-exchange.ts";
import { textOf } from "./damaged-documents.ts";
import { parsed } from "./read-back.ts";

/** Alice's order 1 rests, partly filled by bob's order 2; dave's order 3 rests until it expires; carol's order 4 mints with bob's order 5. */
function text(): string {
  const exchange = openFundedExchange({ feeRateBps: 100 });
  exchange.fund("dave", { usdc: 100 });
  exchange.send("alice BUY 10 YES @ 0.5", "bob SELL 3 YES @ 0.5", "dave BUY 1 YES @ 0.4 GTD 1h");
  exchange.send("carol BUY 4 YES @ 0.6", "bob BUY 4 NO @ 0.4");
  exchange.exchange.submit({ kind: "mineBlocks", count: 1 });
  return textOf(exchange.state);
}

const TEXT = text();

/** Replaces the first occurrence of a text in a section, or in a record of it, counted from 0. */
function edited(place: string, from: string, to: string): string {
  const [section, index] = place.split(" ");
  const lines = TEXT.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`"${section}":`));
  const at = index === undefined ? begin : begin + 1 + Number(index);
  const line = lines[at] as string;
  expect(line).toContain(from);
  lines[at] = line.replace(from, to);
  return lines.join("\n");
}

/** Returns the error of reading a document, without the line; empty if it is valid. */
function errorOf(document: string): string {
  try {
    parsed(document);
    return "";
  } catch (error) {
    expect(error).toHaveProperty("name", "DocumentError");
    return (error as Error).message.replace(/^line \d+, /, "");
  }
}

/** Section and index of a record, a text in it, its replacement, and the expected error. */
const CASES = `
units | 0.01 share | 1 share | units.size: expected 0.01 share, found "1 share"
config | "seed":"test" | "seed":"other" | accounts[0].address: expected
config | "manual" | "never" | config.settlement: expected one of instant, auto, manual, found
accounts 2 | "balance": | "balance":1 | the records contradict "USDC issued = balances + locked collateral": micro-USDC:
accounts 2 | "reserved": | "reserved":1 | the records contradict "reserved = what live orders may cost": account 3/USDC:
accounts 3 | 0x | 0X | accounts[3].address: expected an address, 0x and 40 lower-case hex digits
events 0 | "markets":[1] | "markets":[] | events[0].markets: expected [1], found []
events 0 | "id":" | "id":"f | events[0].id: expected
markets 0 | "tickSize":100 | "tickSize":300 | markets[0].tickSize: expected a divisor of 10000, found 300
markets 0 | "conditionId":"0x | "conditionId":"0x0 | markets[0].conditionId: expected 0x and 64
markets 0 | "tokenIds":[" | "tokenIds":["1 | markets[0].tokenIds[0]: expected
markets 0 | "winningOutcome":null | "winningOutcome":"YES" | markets[0].winningOutcome: expected null
markets 0 | "status":"ACTIVE" | "status":"CLOSED" | markets[0].status: expected ACTIVE, as orders rest
markets 0 | "volume":{"usdc": | "volume":{"usdc":1 | markets[0].volume: expected
markets 0 | "liquidity":{"usdc": | "liquidity":{"usdc":1 | the records contradict "book levels = sum of live orders": liquidity of market 1: 13.9 USDC, expected 3.9
markets 0 | "books":[{"sequence": | "books":[{"sequence":1 | markets[0].books[0]: expected
markets 0 | "onChain":{"yes": | "onChain":{"yes":1 | the records contradict "chain balances + pending = ledger": YES of market 1 on the chain:
orders 0 | "number":1 | "number":2 | orders[0].number: expected 1, found 2
orders 0 | "account": | "account":9 | orders[0].account: expected the number of an account, found 9
orders 0 | "token":2 | "token":8 | orders[0].token: expected a token, twice the number of a market
orders 0 | "price":5000 | "price":5001 | orders[0].price: expected a multiple of the tick size 100, found 5001
orders 0 | "status":"LIVE" | "status":"MATCHED" | orders[0].status: expected LIVE, found
orders 0 | "status":"LIVE" | "status":"LIVING" | orders[0].status: expected one of LIVE, MATCHED
orders 0 | "cancelReason":null | "cancelReason":"USER" | orders[0].status: expected CANCELED, found
orders 0 | "matched":300 | "matched":200 | the records contradict "reserved = what live orders may cost": account 3/USDC:
orders 1 | "notional": | "notional":1 | the records contradict "an order's matched size = sum of its fills": notional of order 2:
orders 1 | "fee": | "fee":1 | the records contradict "an order's matched size = sum of its fills": fee of order 2:
orders 2 | "GTD" | "GTC" | orders[2].expiration: expected null
orders 1 | "updatedAt": | "updatedAt":1 | orders[1].updatedAt: expected
orders 1 | "createdAt": | "createdAt":0, "was": | orders[1]: expected only the fields number
trades 0 | "maker":1 | "maker":3 | trades[0].maker: expected the number of an order that rested when
orders 0 | "matched":300 | "matched":3000 | orders[0].matched: expected at most 1000
orders 1 | "ownInWay":0 | "ownInWay":00 | orders[1]: expected JSON, found
trades 0 | "number":1 | "number":3 | trades[0].number: expected 1, found 3
trades 0 | "price":5000 | "price":5100 | trades[0].price: expected 5000, the maker's own
trades 0 | "fee": | "fee":1 | trades[0].fee: expected
trades 0 | "COMPLEMENTARY" | "MINT" | trades[0].matchType: expected COMPLEMENTARY
trades 0 | "transaction": | "transaction":1 | trades[0].transaction: expected
chain | "head":1 | "head":2 | chain.head: expected 1, found 2
chain | "digest":[ | "digest":[1, | chain.digest: expected 4 integers
chain | "reorganizations":0 | "reorganizations":00 | chain: expected JSON, found
waiting | "fresh": | "fresh":1 | waiting.fresh: expected a number up to
waiting | "lost":[] | "lost":[1] | waiting.lost: expected each transaction with status LOST, once, found [1]
wallets 0 | "pending":[] | "pending":[[0,1]] | wallets[0].pending[0]: expected a nonce, and the pending
transactions 0 | "status":"MINED" | "status":"PENDING" | transactions[0].block: expected 0
transactions 0 | "block":2 | "block":1 | transactions[0].block: expected 2, found 1
transactions 0 | "number":1 | "number":2 | transactions[0].number: expected 1, found 2
issued | : | :1 | the records contradict "USDC issued = balances + locked collateral": micro-USDC:
blocks 0 | "height":0 | "height":1 | blocks[0].height: expected a height
blocks 1 | "mined":[[1 | "mined":[[2 | transactions[0].block: expected 0
blocks 1 | "mined":[[1, | "mined":[[100, | blocks[1].mined[0]: expected the first and the last of a run
blocks 1 | "mined":[[1, | "mined":[[1],[2, | blocks[1].mined[0]: expected the first and the last of a run
blocks 1 | "mined":[[1, | "mined":[[, | blocks[1]: expected JSON, found
blocks 1 | "serial":2 | "serial":3 | blocks[1].serial: expected 2, found 3
blocks 1 | "logs": | "logs":1 | blocks[1].logs: expected
blocks 1 | "gas": | "gas":1 | blocks[1].gas: expected
blocks 1 | "at": | "at":0,"was": | blocks[1]: expected only the fields serial
`
  .trim()
  .split("\n")
  .map((row) => row.split(" | "));

describe("an inconsistent document", () => {
  it("is made from a valid one", () => {
    expect(errorOf(TEXT)).toBe("");
  });

  it.each(CASES)(
    "is rejected: %s with %s changed to %s",
    (place = "", from = "", to = "", error = "none") => {
      expect(errorOf(edited(place, from, to))).toContain(error);
    },
  );

  it("is rejected if a deferred transaction is not in the list", () => {
    const exchange = played("fault retry; trade; mine");
    const [number] = exchange.state.chain.deferred;
    const document = textOf(exchange.state).replace(`"held":[${number}]`, '"held":[]');
    expect(errorOf(document)).toContain(
      `waiting.held: expected a list with transaction ${number} in it, found []`,
    );
  });

  it("is rejected with its line number", () => {
    const document = edited("orders 1", '"price":5000', '"price":5001');
    const line = TEXT.split("\n").findIndex(
      (each) => each.startsWith('{"number":2,"account"') && each.includes('"token"'),
    );
    expect(() => parsed(document)).toThrow(`line ${line + 1}, orders[1].price: expected `);
    expect(() => parsed(edited("orders 1", '"price"', '"cost"'))).toThrow(
      `line ${line + 1}, orders[1].price`,
    );
  });

  it("is rejected if it is truncated, empty or not JSON", () => {
    expect(errorOf(TEXT.slice(0, TEXT.length >> 1))).toMatch(/: expected a value, found /);
    expect(errorOf("")).toBe("units: expected a value, found nothing");
    expect(errorOf(TEXT.replace("{\n", '{\n"issued":0,\n'))).toBe(
      'issued: expected this field once, found "issued"',
    );
    expect(() => readDocument({})).toThrow("units: expected a value, found nothing");
    expect(() => readDocument([1])).toThrow("expected an object, found [1]");
    expect(errorOf("[1]")).toMatch(`expected a field, `);
  });
});
