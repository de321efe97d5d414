import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { INITIAL_NATIVE_BALANCE } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, UNLIMITED, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import type { ContractCall, Transaction } from "../../../src/core/chain/transaction.ts";
import { callGas } from "../../../src/core/chain/transaction.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import { addressOf } from "../../support/commands.ts";
import {
  approve,
  mineCall,
  openSettlement,
  played,
  type Sending,
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

describe("transactions of a wallet", () => {
  it.each([
    ["auto", [3, 1, 0, 2]],
    ["manual", [2, 3, 0, 1]],
    ["instant", [3, 2, 1, 0]],
  ] as const)("are in one block in order of nonce, in any order of arrival: %s, %j", (settlement, nonces) => {
    const exchange = played("mine", { settlement });
    const sent = nonces.map((nonce) => exchange.call("alice", transfer("bob", 1), { nonce }));
    if (settlement !== "instant") exchange.act("mine");
    const [{ block }] = sent as [Transaction];
    expect(sent).toMatchObject(nonces.map((place) => ({ status: "MINED", place, block })));
  });

  it("say that they offer less than the base fee, and what to do, before a block has passed them over", () => {
    const exchange = openSettlement();
    const sent = [0.1, 2].map((gwei) => exchange.call("alice", transfer("bob", 1), { gwei }));
    const words =
      "waits until the base fee falls, or a transaction with its nonce and a higher fee replaces it: the base fee is 1 gwei, it offers 0.1";
    const why = () => sent.map((each) => whyUnsettled(exchange.state, each));
    expect(why()).toEqual([words, "waits for an earlier nonce of its sender"]);
    exchange.act("mine");
    expect(why()).toEqual([words, "waits for an earlier nonce of its sender"]);
    exchange.act("pay alice bob 1 nonce=0; mine");
    expect(sent.map(({ status }) => status)).toEqual(["REPLACED", "MINED"]);
  });

  it("are refused if already known, and by nonce after they are mined", () => {
    const exchange = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const again = (): Decision => exchange.trySend("alice", transfer("bob", 1), { nonce: 0, hash });
    expect(again().ok).toBe(true);
    expect(again()).toMatchObject({ refusal: { code: "TRANSACTION_ALREADY_KNOWN", hash } });
    exchange.act("mine");
    expect(again()).toMatchObject({ refusal: { code: "NONCE_TOO_LOW", nonce: 0, next: 1 } });
  });

  it("transfer native currency", () => {
    const exchange = openSettlement();
    mineCall(exchange, "alice", { kind: "send" }, { value: String(5n * GWEI), to: addressOf("zoe") });
    expect(exchange.native("zoe")).toBe(5n * GWEI);
    expect(exchange.native("alice")).toBe(INITIAL_NATIVE_BALANCE - 5n * GWEI - 21_000n * GWEI);
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

  const cases: readonly (readonly [what: string, by: string, call: CallOf, why: string, terms?: Sending])[] =
    [
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
      [
        "a transfer of more shares than the balance",
        "bob",
        (of) => shares(of, "bob", "alice", 501),
        TOO_MANY,
      ],
      ["an unknown function", "bob", () => ({ kind: "unknown", reason: UNKNOWN }), UNKNOWN],
      ["too little gas", "alice", (of) => of.split(1), "out of gas", { gas: 21_000 }],
      ["native currency with it", "alice", (of) => of.split(1), "function is not payable", { value: "1" }],
    ];
  it.for(cases)("because of %s", ([_case, by, call, reason, terms]) => {
    const exchange = openSettlement();
    const before = exchange.inLedger(by);
    expect(mineCall(exchange, by, call(exchange), terms)).toBe(reason);
    expect(exchange.inLedger(by)).toEqual(before);
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
