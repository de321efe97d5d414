import { describe, expect, it } from "vitest";
import { INITIAL_NATIVE_BALANCE } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, UNLIMITED, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import { callGas } from "../../../src/core/chain/transaction.ts";
import { addressOf } from "../../support/commands.ts";
import { approve, done, openSettlement, type SettlementFloor, shares, transfer } from "./settlement-floor.ts";

const GWEI = 1_000_000_000n;
describe("a wallet's call", () => {
  it("is mined with the request when blocks are mined at once", () => {
    const floor = openSettlement({ settlement: "instant" });
    floor.call("alice", floor.split(100));
    expect(floor.inLedger("alice")).toEqual({ usdc: 900, yes: 100, no: 100 });
  });

  it("costs gas, carried out or not", () => {
    const floor = openSettlement();
    const native = (): bigint => floor.state.chain.wallets.get(addressOf("alice"))?.native ?? 0n;
    const gas = BigInt(callGas(floor.split(1), "0x"));
    expect(done(floor, "alice", floor.split(1), { gwei: 9, tip: 1 })).toBe("MINED");
    expect(INITIAL_NATIVE_BALANCE - native()).toBe(gas * 2n * GWEI);
    expect(done(floor, "alice", floor.split(99_999))).toContain("exceeds balance");
    expect(INITIAL_NATIVE_BALANCE - native()).toBe(gas * 2n * GWEI + gas * GWEI);
  });

  it("splits, merges and redeems, and supply follows in ledger and chain", () => {
    const floor = openSettlement();
    const { supply, onChain } = floor.state.markets.get(1);
    const issued = supply.yes;
    expect(done(floor, "alice", floor.split(100))).toBe("MINED");
    expect([supply, onChain]).toEqual(
      Array(2).fill({ yes: issued + 10_000, no: issued + 10_000, collateral: (issued + 10_000) * 10_000 }),
    );
    expect(done(floor, "alice", floor.split(30, "merge"))).toBe("MINED");
    expect(floor.inLedger("alice")).toEqual({ usdc: 930, yes: 70, no: 70 });
    expect(supply.yes).toBe(issued + 7000);
  });

  it("redeems only the outcomes that it names", () => {
    const floor = openSettlement();
    floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "SPLIT" });
    done(floor, "carol", floor.redeem(1, ["2"]));
    expect(floor.inLedger("carol")).toEqual({ usdc: 1250, yes: 500, no: 0 });
  });

  it("moves USDC and shares, to strangers too", () => {
    const floor = openSettlement();
    expect(done(floor, "alice", transfer("zoe", 400))).toBe("MINED");
    expect(done(floor, "bob", shares(floor, "bob", "zoe", 12.5))).toBe("MINED");
    expect(floor.inLedger("zoe")).toEqual({ usdc: 400, yes: 12.5, no: 0 });
    expect(floor.inLedger("bob").yes).toBe(487.5);
  });

  it("takes from the grant of a market that its wallet never touched", () => {
    const floor = openSettlement();
    floor.fund("dave", { everyMarket: 10 });
    floor.demand({ kind: "deriveCredentials", address: addressOf("dave") });
    expect(done(floor, "dave", floor.split(10, "merge"))).toBe("MINED");
    expect(floor.inLedger("dave")).toEqual({ usdc: 10, yes: 0, no: 0 });
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
  const positions = (of: SettlementFloor, other: object): ContractCall =>
    ({ ...of.split(1), ...other }) as ContractCall;
  const toNobody: ContractCall = { kind: "transfer", to: ZERO_ADDRESS, amount: "1" };
  const ofAlice = { from: addressOf("alice"), to: addressOf("bob"), amount: "1" };
  const unknown: ContractCall = { kind: "unknown", reason: "no such function" };
  type Case = readonly [what: string, by: string, call: (of: SettlementFloor) => ContractCall, why: string];
  const cases: readonly Case[] = [
    ["a split above the balance", "alice", (of) => of.split(1001), TOO_MUCH],
    [
      "a merge without both halves",
      "bob",
      (of) => of.split(1, "merge"),
      "ERC1155: burn amount exceeds balance",
    ],
    ["a redemption before the report", "bob", (of) => of.redeem(), NO_REPORT],
    ["a redemption of no index set", "bob", (of) => of.redeem(1, ["3"]), NO_REPORT],
    ["an amount between two sizes", "alice", (of) => of.split(0.005), FRACTION],
    [
      "a partition of one",
      "alice",
      (of) => positions(of, { partition: ["3"] }),
      "got empty or singleton partition",
    ],
    [
      "one that overlaps",
      "alice",
      (of) => positions(of, { partition: ["1", "1"] }),
      "partition not disjoint",
    ],
    [
      "one of all and more",
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
    ["a transfer to nobody", "alice", () => toNobody, "ERC20: transfer to the zero address"],
    ["somebody else's USDC", "bob", () => ({ kind: "transferFrom", ...ofAlice }), NOT_ALLOWED],
    ["somebody else's shares", "alice", (of) => shares(of, "bob", "alice", 1), NO_OPERATOR],
    ["more shares than there are", "bob", (of) => shares(of, "bob", "alice", 501), TOO_MANY],
    ["a function that is not modelled", "bob", () => unknown, "no such function"],
  ];
  it.each(cases)("because of %s", (_case, by, call, reason) => {
    const floor = openSettlement();
    const before = floor.inLedger(by);
    expect(done(floor, by, call(floor))).toBe(reason);
    expect(floor.inLedger(by)).toEqual(before);
  });

  it("when it runs out of gas, which it uses whole", () => {
    const floor = openSettlement();
    expect(done(floor, "alice", floor.split(1), { gas: 21_000 })).toBe("out of gas");
  });

  it("when a function that takes no currency is sent some", () => {
    const floor = openSettlement();
    expect(done(floor, "alice", floor.split(1), { value: 1n })).toBe("function is not payable");
  });

  it("for an index set that no outcome has, once there is a report", () => {
    const floor = openSettlement();
    floor.demand({ kind: "resolveMarket", market: 1, winningOutcome: "YES" });
    expect(done(floor, "bob", floor.redeem(1, ["3"]))).toBe("got invalid index set");
  });
});

describe("permissions", () => {
  it("let a spender take so much and no more", () => {
    const floor = openSettlement();
    const take = (usdc: number): ContractCall => ({
      kind: "transferFrom",
      from: addressOf("alice"),
      to: addressOf("bob"),
      amount: String(usdc * 1_000_000),
    });
    done(floor, "alice", approve(addressOf("bob"), 100));
    expect(done(floor, "bob", take(60))).toBe("MINED");
    expect(done(floor, "bob", take(60))).toBe("ERC20: transfer amount exceeds allowance");
    expect(done(floor, "bob", take(40))).toBe("MINED");
    expect(floor.inLedger("bob").usdc).toBe(100);
  });

  it("that are taken from the exchange let settlements fail until they are given again", () => {
    const floor = openSettlement();
    done(floor, "alice", approve(CONTRACTS.exchange, 0));
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED"]);
    expect(floor.settlement().exception?.reason).toContain("ERC20: transfer amount exceeds allowance");
    done(floor, "alice", { kind: "approve", spender: CONTRACTS.exchange, amount: String(UNLIMITED) });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    floor.mine();
    expect(floor.statuses).toEqual(["FAILED", "MINED"]);
  });

  it("that are limited are used up by settlements", () => {
    const floor = openSettlement();
    done(floor, "alice", approve(CONTRACTS.exchange, 7));
    for (let count = 0; count < 2; count += 1) {
      floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
      floor.mine();
    }
    expect(floor.statuses).toEqual(["MINED", "FAILED"]);
  });

  it("taken back for shares let a seller's settlements fail", () => {
    const floor = openSettlement();
    done(floor, "bob", { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: false });
    floor.send("alice BUY 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    floor.mine();
    expect(floor.settlement().exception?.reason).toContain("ERC1155: need operator approval");
  });

  it("taken from the tokens' contract let a split revert", () => {
    const floor = openSettlement();
    done(floor, "alice", approve(CONTRACTS.conditionalTokens, 0));
    expect(done(floor, "alice", floor.split(1))).toBe("ERC20: transfer amount exceeds allowance");
  });

  it("let an operator move shares", () => {
    const floor = openSettlement();
    done(floor, "bob", { kind: "setApprovalForAll", operator: addressOf("alice"), approved: true });
    expect(done(floor, "alice", shares(floor, "bob", "alice", 5))).toBe("MINED");
  });
});
