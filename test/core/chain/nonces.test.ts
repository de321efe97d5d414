import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { INITIAL_NATIVE_BALANCE } from "../../../src/core/chain/chain.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import { nextNonce } from "../../../src/core/rules/calls.ts";
import { addressOf } from "../../support/commands.ts";
import { mineCall, openSettlement, type Sending, transfer } from "./settlement-exchange.ts";

const GWEI = 1_000_000_000n;

describe("transactions of a wallet", () => {
  it("have consecutive nonces, pending ones included", () => {
    const exchange = openSettlement();
    const next = (): number => nextNonce(exchange.state.chain, addressOf("alice"));
    expect(next()).toBe(0);
    exchange.call("alice", transfer("bob", 1));
    exchange.call("alice", transfer("bob", 1));
    expect(next()).toBe(2);
    exchange.mine();
    expect(next()).toBe(2);
  });

  it("wait until an earlier nonce is mined", () => {
    const exchange = openSettlement();
    const later = exchange.call("alice", transfer("bob", 1), { nonce: 1 });
    exchange.mine();
    expect([later.status, later.exception?.hold]).toEqual(["PENDING", "NONCE_GAP"]);
    exchange.call("alice", transfer("bob", 2), { nonce: 0 });
    exchange.mine();
    expect(later.status).toBe("MINED");
    expect(exchange.inLedger("bob").usdc).toBe(3);
  });

  it.each(["instant", "auto"] as const)(
    "make no block due while an earlier nonce is missing: %s",
    (settlement) => {
      const exchange = openSettlement({ settlement });
      const later = exchange.call("alice", transfer("bob", 1), { nonce: 1 });
      exchange.advance("1m");
      expect([exchange.head, later.status]).toEqual([0, "PENDING"]);
      expect(whyUnsettled(exchange.state, later)).toBe("waits for an earlier nonce of its sender");
      exchange.call("alice", transfer("bob", 2), { nonce: 0 });
      exchange.advance("2s");
      expect([exchange.head, later.status]).toEqual([1, "MINED"]);
    },
  );

  it.each([
    ["auto", [3, 1, 0, 2]],
    ["manual", [2, 3, 0, 1]],
    ["instant", [3, 2, 1, 0]],
  ] as const)(
    "are in one block in order of nonce, whatever the order of arrival: %s, %j",
    (settlement, nonces) => {
      const exchange = openSettlement({ settlement });
      exchange.mine();
      const sent = nonces.map((nonce) => exchange.call("alice", transfer("bob", 1), { nonce }));
      if (settlement !== "instant") exchange.mine();
      expect(sent.map(({ status, place }) => [status, place])).toEqual(
        nonces.map((nonce) => ["MINED", nonce]),
      );
      expect(new Set(sent.map(({ block }) => block)).size).toBe(1);
    },
  );

  it("replace a pending one with the same nonce if they offer a higher fee", () => {
    const exchange = openSettlement();
    exchange.fault("gasSpike");
    const cheap = exchange.call("alice", transfer("bob", 1), { gwei: 2, nonce: 0 });
    exchange.mine();
    expect([cheap.status, cheap.exception?.hold]).toEqual(["PENDING", "UNDERPRICED"]);
    expect(exchange.trySend("alice", transfer("bob", 2), { gwei: 2.1, nonce: 0 })).toMatchObject({
      refusal: { code: "REPLACEMENT_UNDERPRICED" },
    });
    const dear = exchange.call("alice", transfer("bob", 2), { gwei: 600, nonce: 0 });
    exchange.mine();
    expect([cheap.status, dear.status]).toEqual(["REPLACED", "MINED"]);
    expect(exchange.inLedger("bob").usdc).toBe(2);
  });

  it("say that they offer less than the base fee, and what to do, before a block has passed them over", () => {
    const exchange = openSettlement();
    const cheap = exchange.call("alice", transfer("bob", 1), { gwei: 0.1 });
    const next = exchange.call("alice", transfer("bob", 1));
    const words =
      "waits until the base fee falls, or a transaction with its nonce and a higher fee replaces it: the base fee is 1 gwei, it offers 0.1";
    const why = () => [cheap, next].map((each) => whyUnsettled(exchange.state, each));
    expect(why()).toEqual([words, "waits for an earlier nonce of its sender"]);
    exchange.mine();
    expect(why()).toEqual([words, "waits for an earlier nonce of its sender"]);
    exchange.call("alice", transfer("bob", 1), { nonce: 0 });
    exchange.mine();
    expect([cheap.status, next.status]).toEqual(["REPLACED", "MINED"]);
  });

  const refusals: readonly [code: string, sending: Sending][] = [
    ["INTRINSIC_GAS_TOO_LOW", { gas: 20_999 }],
    ["TIP_ABOVE_FEE_CAP", { gwei: 2, tip: 3 }],
    ["INSUFFICIENT_GAS_MONEY", { value: INITIAL_NATIVE_BALANCE }],
  ];
  it.each(refusals)("are refused as by a node: %s", (code, sending) => {
    const exchange = openSettlement();
    expect(exchange.trySend("alice", { kind: "send" }, sending)).toMatchObject({
      ok: false,
      refusal: { code },
    });
  });

  it("are refused if already known, and by nonce after they are mined", () => {
    const exchange = openSettlement();
    const hash = `0x${"5".repeat(64)}`;
    const again = (): Decision => exchange.trySend("alice", transfer("bob", 1), { nonce: 0, hash });
    expect(again().ok).toBe(true);
    expect(again()).toMatchObject({ refusal: { code: "TRANSACTION_ALREADY_KNOWN", hash } });
    exchange.mine();
    expect(again()).toMatchObject({ refusal: { code: "NONCE_TOO_LOW", nonce: 0, next: 1 } });
  });

  it("are refused without funds for gas, until the wallet gets some", () => {
    const exchange = openSettlement();
    expect(exchange.trySend("zoe", { kind: "send" })).toMatchObject({
      refusal: { code: "INSUFFICIENT_GAS_MONEY" },
    });
    exchange.mustSubmit({ kind: "setNativeBalance", address: addressOf("zoe"), wei: String(GWEI * GWEI) });
    expect(exchange.trySend("zoe", { kind: "send" }).ok).toBe(true);
  });

  it("transfer native currency", () => {
    const exchange = openSettlement();
    const balance = (name: string): bigint => exchange.state.chain.wallets.get(addressOf(name))?.native ?? 0n;
    mineCall(exchange, "alice", { kind: "send" }, { value: 5n * GWEI, to: addressOf("zoe") });
    expect(balance("zoe")).toBe(5n * GWEI);
    expect(balance("alice")).toBe(INITIAL_NATIVE_BALANCE - 5n * GWEI - 21_000n * GWEI);
  });
});
