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
  played,
  type SettlementExchange,
  shares,
  transfer,
} from "./settlement-exchange.ts";

const GWEI = 1_000_000_000n;
describe("a wallet's call", () => {
  it("costs gas, executed or reverted", () => {
    const exchange = openSettlement();
    const gas = BigInt(callGas(exchange.split(1), "0x"));
    expect(mineCall(exchange, "alice", exchange.split(1), { gwei: 9, tip: 1 })).toBe("MINED");
    expect(INITIAL_NATIVE_BALANCE - exchange.native("alice")).toBe(gas * 2n * GWEI);
    expect(mineCall(exchange, "alice", exchange.split(99_999))).toContain("exceeds balance");
    expect(INITIAL_NATIVE_BALANCE - exchange.native("alice")).toBe(gas * 2n * GWEI + gas * GWEI);
  });

  it("transfers USDC and shares, also to an address without an account", () => {
    const exchange = openSettlement();
    expect(mineCall(exchange, "alice", transfer("zoe", 400))).toBe("MINED");
    expect(mineCall(exchange, "bob", shares(exchange, "bob", "zoe", 12.5))).toBe("MINED");
    expect(exchange.inLedger("zoe")).toEqual({ usdc: 400, yes: 12.5, no: 0 });
    expect(exchange.inLedger("bob").yes).toBe(487.5);
  });
});

it("a call without enough native currency asks for no further block, until its wallet gets some", () => {
  const exchange = openSettlement({ settlement: "auto" });
  const sending = { value: String((INITIAL_NATIVE_BALANCE / 3n) * 2n), to: addressOf("bob") };
  for (let count = 0; count < 2; count += 1) exchange.call("alice", { kind: "send" }, sending);
  for (const time of ["10m", "10m"]) {
    exchange.act(`advance ${time}`);
    expect(exchange.chainStatus).toBe("MINED PENDING NO_GAS_MONEY at 3");
  }
  exchange.act(`ether alice wei="${INITIAL_NATIVE_BALANCE}"; advance 2s`);
  expect(exchange.chainStatus).toBe("MINED MINED at 4");
});

const TOO_MUCH = "ERC20: transfer amount exceeds balance";
const NOT_ALLOWED = "ERC20: transfer amount exceeds allowance";
const NO_OPERATOR = "ERC1155: need operator approval for 3rd party transfers.";
const TOO_MANY = "ERC1155: insufficient balance for transfer";
const FRACTION = "clobsim: shares move in multiples of 10000, which is 0.01 share";
const OTHER_COLLATERAL = "clobsim: positions are backed by the exchange's collateral only";
const NO_CONDITION = `0x${"1".repeat(64)}`;
const NO_BURN = "ERC1155: burn amount exceeds balance";
const UNPREPARED = "condition not prepared yet";
const UNKNOWN = "no such function";
const NO_REPORT = "result for condition not received yet";

describe("a call reverts", () => {
  const splitOf = (of: SettlementExchange, other: object): ContractCall =>
    ({ ...of.split(1), ...other }) as ContractCall;
  const ofAlice = { from: addressOf("alice"), to: addressOf("bob"), amount: "1" };
  const toZero: ContractCall = { kind: "transfer", to: ZERO_ADDRESS, amount: "1" };
  const partition = (...sets: string[]) =>
    [(of: SettlementExchange) => splitOf(of, { partition: sets })] as const;
  type CallOf = (of: SettlementExchange) => ContractCall;

  const cases: readonly (readonly [what: string, by: string, call: CallOf, why: string])[] = [
    ["a split above the balance", "alice", (of) => of.split(1001), TOO_MUCH],
    ["a merge without both outcomes", "bob", (of) => of.split(1, "merge"), NO_BURN],
    ["a redemption before the report", "bob", (of) => of.redeem("1", "2"), NO_REPORT],
    ["a redemption of an invalid index set before the report", "bob", (of) => of.redeem("3"), NO_REPORT],
    ["an amount that is not a multiple of the size unit", "alice", (of) => of.split(0.005), FRACTION],
    ["a partition of one index set", "alice", ...partition("3"), "got empty or singleton partition"],
    ["a partition that overlaps", "alice", ...partition("1", "1"), "partition not disjoint"],
    ["a partition with an invalid index set", "alice", ...partition("1", "3"), "got invalid index set"],
    ["an unknown condition", "alice", (of) => splitOf(of, { condition: NO_CONDITION }), UNPREPARED],
    ["another collateral", "alice", (of) => splitOf(of, { collateral: ZERO_ADDRESS }), OTHER_COLLATERAL],
    ["a transfer to the zero address", "alice", () => toZero, "ERC20: transfer to the zero address"],
    ["a transfer without allowance", "bob", () => ({ kind: "transferFrom", ...ofAlice }), NOT_ALLOWED],
    ["a transfer of shares without approval", "alice", (of) => shares(of, "bob", "alice", 1), NO_OPERATOR],
    ["a transfer of more shares than the balance", "bob", (of) => shares(of, "bob", "alice", 501), TOO_MANY],
    ["an unknown function", "bob", () => ({ kind: "unknown", reason: UNKNOWN }), UNKNOWN],
  ];
  it.each(cases)("because of %s", (_case, by, call, reason) => {
    const exchange = openSettlement();
    const before = exchange.inLedger(by);
    expect(mineCall(exchange, by, call(exchange))).toBe(reason);
    expect(exchange.inLedger(by)).toEqual(before);
  });

  it.each([
    ["out of gas", { gas: 21_000 }],
    ["function is not payable", { value: "1" }],
  ])("because of its terms: %s", (reason, sending) => {
    const exchange = openSettlement();
    expect(mineCall(exchange, "alice", exchange.split(1), sending)).toBe(reason);
  });

  it("because of an invalid index set after the report", () => {
    const exchange = played("resolve YES");
    expect(mineCall(exchange, "bob", exchange.redeem("3"))).toBe("got invalid index set");
  });
});

describe("permissions", () => {
  it("that the exchange loses make settlements fail until they are restored", () => {
    const exchange = openSettlement();
    const settled = (): string => {
      exchange.act("alice BUY 10 YES @ 0.5; bob SELL 10 YES @ 0.5; mine");
      return exchange.settlement(exchange.statuses.length).exception?.reason ?? "MINED";
    };
    const operator = { kind: "setApprovalForAll", operator: CONTRACTS.exchange } as const;
    mineCall(exchange, "alice", approve(CONTRACTS.exchange, 7));
    expect([settled(), settled()]).toEqual(["MINED", expect.stringContaining(NOT_ALLOWED)]);
    mineCall(exchange, "alice", { kind: "approve", spender: CONTRACTS.exchange, amount: String(UNLIMITED) });
    mineCall(exchange, "bob", { ...operator, approved: false });
    expect(settled()).toContain("ERC1155: need operator approval");
    mineCall(exchange, "bob", { ...operator, approved: true });
    expect(settled()).toBe("MINED");
  });

  it("revoked for the tokens' contract make a split revert", () => {
    const exchange = openSettlement();
    mineCall(exchange, "alice", approve(CONTRACTS.conditionalTokens, 0));
    expect(mineCall(exchange, "alice", exchange.split(1))).toBe(NOT_ALLOWED);
  });
});
