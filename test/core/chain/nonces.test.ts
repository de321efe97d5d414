import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { INITIAL_NATIVE_BALANCE } from "../../../src/core/chain/chain.ts";
import type { Transaction } from "../../../src/core/chain/transaction.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import { addressOf } from "../../support/commands.ts";
import { mineCall, openSettlement, played, transfer } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000n;

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
