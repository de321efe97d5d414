import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { blockAt, CERTAIN } from "../../../src/core/chain/chain.ts";
import { settledAt } from "../../../src/core/chain/settlement.ts";
import { violations } from "../../../src/core/invariants/invariants.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { millis } from "../../../src/core/units.ts";
import { START } from "../../support/exchange.ts";
import { readBack } from "../document/read-back.ts";
import { openSettlement, transfer } from "./settlement-exchange.ts";

describe("a block", () => {
  it.each(["instant", "auto", "manual"] as const)("can be requested in mode %s", (settlement) => {
    const exchange = openSettlement({ settlement });
    exchange.trade();
    exchange.mine(3);
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
  });

  it("is mined every two seconds in auto mode, with all trades since the previous one", () => {
    const exchange = openSettlement({ settlement: "auto" });
    const at = (): number => settledAt(exchange.state, exchange.state.trades.get(1)) - START;
    exchange.trade();
    exchange.advance("1s");
    exchange.trade();
    expect(at()).toBe(0);
    exchange.advance("1s");
    expect([exchange.statuses, exchange.head, at()]).toEqual([["MINED", "MINED"], 1, 2000]);
    exchange.advance("1h");
    expect(at()).toBe(6000);
  });

  it("is not due for deposits, which are on the chain at once", () => {
    const exchange = openSettlement({ settlement: "auto" });
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    exchange.advance("10s");
    expect([exchange.head, exchange.state.chain.pending]).toEqual([0, 0]);
    exchange.mine();
    expect(blockAt(exchange.state.chain, 1)?.count).toBe(exchange.state.chain.transactions.size);
  });

  it("with retried settlements is assembled in one step of an advance of time, and makes further blocks due", () => {
    const testExchange = openSettlement({ settlement: "auto" });
    const { exchange } = testExchange;
    testExchange.fault("retry", { times: 2 });
    for (let count = 0; count < 3; count += 1) testExchange.trade();
    const seen: unknown[] = [];
    for (const _step of { [Symbol.iterator]: () => exchange.advanceInSteps(millis(exchange.now + 4_000)) })
      seen.push([testExchange.statuses.join(" "), violations(exchange.state), exchange.nextDueAt !== null]);
    expect(seen).toEqual([
      ["RETRYING RETRYING MINED", [], true],
      ["MINED MINED MINED", [], true],
    ]);
    testExchange.advance("4s");
    expect(exchange.nextDueAt).toBe(null);
  });
});

describe("with balances of settled funds only", () => {
  it("deposits can be spent at once, and proceeds in instant mode", () => {
    const exchange = openSettlement({ balances: "settled", settlement: "instant" });
    exchange.fund("dave", { everyMarket: 10 });
    exchange.trade();
    exchange.send("dave SELL 10 YES @ 0.5", "alice SELL 40 YES @ 0.6");
  });

  it("proceeds of a ghost fill can never be spent", () => {
    const exchange = openSettlement({ balances: "settled" });
    exchange.fault("ghost");
    exchange.trade();
    exchange.mine(10);
    expect(exchange.try("alice SELL 1 YES @ 0.6").ok).toBe(false);
  });
});

describe("a settlement that fails", () => {
  it("fails the newest settlements that spend its proceeds, and only as many as necessary", () => {
    const exchange = openSettlement();
    exchange.fund("alice", { yes: 30 });
    exchange.trade();
    for (const price of [0.6, 0.7, 0.8])
      exchange.send(`carol BUY 20 YES @ ${price}`, `alice SELL 20 YES @ ${price}`);
    const { length } = exchange.events;
    exchange.fault("fail", { reason: "the oracle is on holiday" });
    exchange.mine();
    // Her own 30 shares cover the first sale and half of the second.
    expect(exchange.statuses).toEqual(["FAILED", "MINED", "FAILED", "FAILED"]);
    expect(exchange.inLedger("alice").yes).toBe(10);
    const failed = exchange.events
      .slice(length)
      .flatMap((event) => (event.kind === "settlementFailed" ? [event.isMined] : []));
    expect(failed).toEqual([false, false, true]);
    const reverted = { status: "REVERTED", block: 2, exception: { reason: "the oracle is on holiday" } };
    expect(exchange.settlement()).toMatchObject(reverted);
  });

  it("fails with a probability, as the seed determines", () => {
    const play = (seed: string): string => {
      const exchange = openSettlement({ seed, settlement: "instant" });
      exchange.fault("fail", { probability: CERTAIN / 4, times: null });
      for (let count = 0; count < 60; count += 1)
        exchange.send("alice BUY 1 YES @ 0.5", "bob SELL 1 YES @ 0.5");
      return exchange.statuses.map((status) => status.charAt(0)).join("");
    };
    const [one, two] = [play("one"), play("two")];
    for (const { length } of [one, two].map((letters) => letters.match(/F/g) ?? [])) {
      expect(length).toBeGreaterThan(5);
      expect(length).toBeLessThan(25);
    }
    expect(two).not.toBe(one);
  });
});

describe("a ghost fill", () => {
  it("makes no block due", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.fault("ghost");
    exchange.trade();
    exchange.advance("2s");
    expect(exchange.exchange.nextDueAt).toBe(null);
  });

  it("fails if the ledger has not enough funds otherwise", () => {
    const exchange = openSettlement();
    exchange.fault("ghost");
    exchange.send("alice BUY 400 YES @ 0.5", "bob SELL 400 YES @ 0.5");
    exchange.mine();
    exchange.call("alice", transfer("dave", 900));
    exchange.mine();
    expect(exchange.statuses).toEqual(["FAILED"]);
    expect(exchange.inLedger("alice")).toEqual({ usdc: 100, yes: 0, no: 0 });
    expect(exchange.inLedger("bob")).toEqual({ usdc: 0, yes: 500, no: 0 });
  });
});

describe("a gas spike", () => {
  it("makes no block due while settlements cannot be mined, until their fees are raised", () => {
    const exchange = openSettlement({ settlement: "auto" });
    exchange.fault("gasSpike");
    exchange.trade();
    exchange.advance("1d");
    expect(exchange.head).toBe(1);
    exchange.mustSubmit({ kind: "bumpFees" });
    exchange.advance("1d");
    expect(exchange.statuses).toEqual(["CONFIRMED"]);
  });

  it("is why a settlement waits, from its start to its end, unless its fee is raised", () => {
    const exchange = openSettlement();
    const why = () => whyUnsettled(exchange.state, exchange.settlement());
    const waits = "waits until somebody mines a block";
    const spike =
      "waits until its fee is raised or the base fee falls: the base fee is 500 gwei, the exchange offers 100";
    exchange.trade();
    expect(why()).toBe(waits);
    exchange.fault("gasSpike");
    expect(why()).toBe(spike);
    exchange.mine();
    expect(why()).toBe(spike);
    exchange.mustSubmit({ kind: "endSettlementFault", number: null });
    expect(why()).toBe(waits);
    exchange.fault("gasSpike");
    exchange.mustSubmit({ kind: "bumpFees" });
    expect(why()).toBe(waits);
    exchange.mine();
    expect(exchange.statuses).toEqual(["MINED"]);
  });

  it("up to the maximum fee of the exchange defers nothing", () => {
    const exchange = openSettlement();
    exchange.fault("gasSpike", { baseFee: 100_000_000_000 });
    exchange.trade();
    exchange.mine();
    expect(exchange.statuses).toEqual(["MINED"]);
  });
});

describe("faults", () => {
  it("of one order hit only its settlement, and are part of the state document", () => {
    const exchange = openSettlement();
    const order = exchange.state.orders.next + 3;
    exchange.fault("fail", { order });
    const read = readBack(exchange.state);
    expect(read.chain.faults).toMatchObject([{ order }]);
    expect([...documentLines(read)]).toEqual([...documentLines(exchange.state)]);
    for (let count = 0; count < 2; count += 1) exchange.trade();
    exchange.mine();
    expect(exchange.statuses).toEqual(["MINED", "FAILED"]);
  });

  it("apply in the order of setting, one per attempt, as many times as requested", () => {
    const exchange = openSettlement();
    exchange.fault("delay", { blocks: 1 });
    exchange.fault("fail", { times: 2 });
    for (let count = 0; count < 3; count += 1) exchange.trade();
    exchange.mine();
    expect(exchange.statuses).toEqual(["MATCHED", "FAILED", "FAILED"]);
    exchange.mine();
    expect([exchange.statuses[0], exchange.state.chain.faults]).toEqual(["MINED", []]);
  });

  it("end by number", () => {
    const exchange = openSettlement();
    for (const kind of ["fail", "ghost"] as const) exchange.fault(kind);
    const end = { kind: "endSettlementFault", number: 1 } as const;
    exchange.mustSubmit(end);
    expect(exchange.state.chain.faults.map(({ number }) => number)).toEqual([2]);
    expect(exchange.submit(end)).toMatchObject({ refusal: { code: "FAULT_NOT_FOUND", number: 1 } });
  });
});
