import { describe, expect, it } from "vitest";
import { INITIAL_NATIVE_BALANCE } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, UNLIMITED, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import { callGas } from "../../../src/core/chain/transaction.ts";
import { addressOf } from "../../support/commands.ts";
import {
  approve,
  mineCall,
  openSettlement,
  type SettlementExchange,
  shares,
  transfer,
} from "./settlement-exchange.ts";

const GWEI = 1_000_000_000n;
describe("a wallet's call", () => {
  it("is mined with its command in instant mode", () => {
    const exchange = openSettlement({ settlement: "instant" });
    exchange.call("alice", exchange.split(100));
    expect(exchange.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
  });

  it("costs gas, executed or reverted", () => {
    const exchange = openSettlement();
    const native = (): bigint => exchange.state.chain.wallets.get(addressOf("alice"))?.native ?? 0n;
    const gas = BigInt(callGas(exchange.split(1), "0x"));
    expect(mineCall(exchange, "alice", exchange.split(1), { gwei: 9, tip: 1 })).toBe("MINED");
    expect(INITIAL_NATIVE_BALANCE - native()).toBe(gas * 2n * GWEI);
    expect(mineCall(exchange, "alice", exchange.split(99_999))).toContain("exceeds balance");
    expect(INITIAL_NATIVE_BALANCE - native()).toBe(gas * 2n * GWEI + gas * GWEI);
  });

  it("that splits or merges changes the supply in the ledger and on chain", () => {
    const exchange = openSettlement();
    const { supply, onChain } = exchange.state.markets.get(1);
    const issued = supply.yes;
    expect(mineCall(exchange, "alice", exchange.split(100))).toBe("MINED");
    expect([supply, onChain]).toEqual(
      Array(2).fill({ yes: issued + 10_000, no: issued + 10_000, collateral: (issued + 10_000) * 10_000 }),
    );
    expect(mineCall(exchange, "alice", exchange.split(30, "merge"))).toBe("MINED");
    expect(exchange.inLedger("alice")).toEqual({ usdc: 930, yes: 70, no: 70 });
    expect(supply.yes).toBe(issued + 7000);
  });

  it("redeems only the outcomes of its index sets", () => {
    const exchange = openSettlement();
    exchange.mustSubmit({ kind: "resolveMarket", market: 1, winningOutcome: "SPLIT" });
    mineCall(exchange, "carol", exchange.redeem(1, ["2"]));
    expect(exchange.inLedger("carol")).toEqual({ usdc: 1250, yes: 500, no: 0 });
  });

  it("transfers USDC and shares, also to an address without an account", () => {
    const exchange = openSettlement();
    expect(mineCall(exchange, "alice", transfer("zoe", 400))).toBe("MINED");
    expect(mineCall(exchange, "bob", shares(exchange, "bob", "zoe", 12.5))).toBe("MINED");
    expect(exchange.inLedger("zoe")).toEqual({ usdc: 400, yes: 12.5, no: 0 });
    expect(exchange.inLedger("bob").yes).toBe(487.5);
  });

  it("can spend a grant that is not minted yet", () => {
    const exchange = openSettlement();
    exchange.fund("dave", { everyMarket: 10 });
    exchange.mustSubmit({ kind: "deriveCredentials", address: addressOf("dave") });
    expect(mineCall(exchange, "dave", exchange.split(10, "merge"))).toBe("MINED");
    expect(exchange.inLedger("dave")).toEqual({ usdc: 10, yes: 0, no: 0 });
  });
});

const TOO_MUCH = "ERC20: transfer amount exceeds balance";
const NOT_ALLOWED = "ERC20: transfer amount exceeds allowance";
const NO_OPERATOR = "ERC1155: need operator approval for 3rd party transfers.";
const TOO_MANY = "ERC1155: insufficient balance for transfer";
const FRACTION = "clobsim: shares move in multiples of 10000, which is 0.01 share";
const OTHER_COLLATERAL = "clobsim: positions are backed by the exchange's collateral only";
const NO_CONDITION = `0x${"1".repeat(64)}`;
const NO_REPORT = "result for condition not received yet";

describe("a call reverts", () => {
  const positions = (of: SettlementExchange, other: object): ContractCall =>
    ({ ...of.split(1), ...other }) as ContractCall;
  const toZeroAddress: ContractCall = { kind: "transfer", to: ZERO_ADDRESS, amount: "1" };
  const ofAlice = { from: addressOf("alice"), to: addressOf("bob"), amount: "1" };
  const unknown: ContractCall = { kind: "unknown", reason: "no such function" };
  type Case = readonly [
    what: string,
    by: string,
    call: (of: SettlementExchange) => ContractCall,
    why: string,
  ];
  const cases: readonly Case[] = [
    ["a split above the balance", "alice", (of) => of.split(1001), TOO_MUCH],
    [
      "a merge without both outcomes",
      "bob",
      (of) => of.split(1, "merge"),
      "ERC1155: burn amount exceeds balance",
    ],
    ["a redemption before the report", "bob", (of) => of.redeem(), NO_REPORT],
    ["a redemption of an invalid index set before the report", "bob", (of) => of.redeem(1, ["3"]), NO_REPORT],
    ["an amount that is not a multiple of the size unit", "alice", (of) => of.split(0.005), FRACTION],
    [
      "a partition of one index set",
      "alice",
      (of) => positions(of, { partition: ["3"] }),
      "got empty or singleton partition",
    ],
    [
      "a partition that overlaps",
      "alice",
      (of) => positions(of, { partition: ["1", "1"] }),
      "partition not disjoint",
    ],
    [
      "a partition with an invalid index set",
      "alice",
      (of) => positions(of, { partition: ["1", "3"] }),
      "got invalid index set",
    ],
    [
      "an unknown condition",
      "alice",
      (of) => positions(of, { condition: NO_CONDITION }),
      "condition not prepared yet",
    ],
    ["another collateral", "alice", (of) => positions(of, { collateral: ZERO_ADDRESS }), OTHER_COLLATERAL],
    ["a transfer to the zero address", "alice", () => toZeroAddress, "ERC20: transfer to the zero address"],
    [
      "a transfer of USDC without allowance",
      "bob",
      () => ({ kind: "transferFrom", ...ofAlice }),
      NOT_ALLOWED,
    ],
    ["a transfer of shares without approval", "alice", (of) => shares(of, "bob", "alice", 1), NO_OPERATOR],
    ["a transfer of more shares than the balance", "bob", (of) => shares(of, "bob", "alice", 501), TOO_MANY],
    ["an unknown function", "bob", () => unknown, "no such function"],
  ];
  it.each(cases)("because of %s", (_case, by, call, reason) => {
    const exchange = openSettlement();
    const before = exchange.inLedger(by);
    expect(mineCall(exchange, by, call(exchange))).toBe(reason);
    expect(exchange.inLedger(by)).toEqual(before);
  });

  it("because it runs out of gas", () => {
    const exchange = openSettlement();
    expect(mineCall(exchange, "alice", exchange.split(1), { gas: 21_000 })).toBe("out of gas");
  });

  it("because a function that is not payable gets native currency", () => {
    const exchange = openSettlement();
    expect(mineCall(exchange, "alice", exchange.split(1), { value: 1n })).toBe("function is not payable");
  });

  it("because of an invalid index set after the report", () => {
    const exchange = openSettlement();
    exchange.mustSubmit({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
    expect(mineCall(exchange, "bob", exchange.redeem(1, ["3"]))).toBe("got invalid index set");
  });
});

describe("permissions", () => {
  it("let a spender transfer up to the allowance", () => {
    const exchange = openSettlement();
    const take = (usdc: number): ContractCall => ({
      kind: "transferFrom",
      from: addressOf("alice"),
      to: addressOf("bob"),
      amount: String(usdc * 1_000_000),
    });
    mineCall(exchange, "alice", approve(addressOf("bob"), 100));
    expect(mineCall(exchange, "bob", take(60))).toBe("MINED");
    expect(mineCall(exchange, "bob", take(60))).toBe("ERC20: transfer amount exceeds allowance");
    expect(mineCall(exchange, "bob", take(40))).toBe("MINED");
    expect(exchange.inLedger("bob").usdc).toBe(100);
  });

  it("that the exchange loses make settlements fail until they are restored", () => {
    const exchange = openSettlement();
    mineCall(exchange, "alice", approve(CONTRACTS.exchange, 0));
    exchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED"]);
    expect(exchange.settlement().exception?.reason).toContain("ERC20: transfer amount exceeds allowance");
    mineCall(exchange, "alice", { kind: "approve", spender: CONTRACTS.exchange, amount: String(UNLIMITED) });
    exchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED", "MINED"]);
  });

  it("with a limit are used up by settlements", () => {
    const exchange = openSettlement();
    mineCall(exchange, "alice", approve(CONTRACTS.exchange, 7));
    for (let count = 0; count < 2; count += 1) {
      exchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
      exchange.mine();
    }
    expect(exchange.statuses).toEqual(["MINED", "FAILED"]);
  });

  it("revoked for shares make a seller's settlements fail", () => {
    const exchange = openSettlement();
    mineCall(exchange, "bob", { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: false });
    exchange.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    exchange.mine();
    expect(exchange.settlement().exception?.reason).toContain("ERC1155: need operator approval");
  });

  it("revoked for the tokens' contract make a split revert", () => {
    const exchange = openSettlement();
    mineCall(exchange, "alice", approve(CONTRACTS.conditionalTokens, 0));
    expect(mineCall(exchange, "alice", exchange.split(1))).toBe("ERC20: transfer amount exceeds allowance");
  });

  it("let an operator transfer shares", () => {
    const exchange = openSettlement();
    mineCall(exchange, "bob", { kind: "setApprovalForAll", operator: addressOf("alice"), approved: true });
    expect(mineCall(exchange, "alice", shares(exchange, "bob", "alice", 5))).toBe("MINED");
  });
});
