import { describe, expect, it } from "vitest";
import { whyUnsettled } from "../../../src/api/explanations.ts";
import { blockAt, blockTermsOf } from "../../../src/core/chain/chain.ts";
import { type Command, commandText } from "../../../src/core/commands.ts";
import { violations } from "../../../src/core/invariants.ts";
import { millis } from "../../../src/core/units.ts";
import { addressOf, commandIn } from "../../support/commands.ts";
import { rowsOf } from "../../support/table.ts";
import { readBack, requireEqual } from "../document/read-back.ts";
import { openSettlement, played, settlementIn } from "./settlement-exchange.ts";

/** Rule, settlement, and a history with its story. */
const HISTORIES = rowsOf(`
blocks can be requested | instant | trade; mine 3 | CONFIRMED at 4
blocks can be requested | auto | trade; mine 3 | CONFIRMED at 3
blocks can be requested | manual | trade; mine 3 | CONFIRMED at 3
a block has all trades since the previous one | auto | trade; advance 1s; trade > advance 1s > advance 1h | MATCHED MATCHED at 0 > MINED MINED at 1 > CONFIRMED CONFIRMED at 3
a settlement gets the faults in the order of setting, one per attempt, as often as requested | manual | fault delay blocks=1; fault fail times=2; trade 3; mine > mine; trade; mine | MATCHED FAILED FAILED at 1 > MINED FAILED FAILED MINED at 3
a fault of one order hits only its settlement | manual | fault fail order=4; trade 2; mine | MINED FAILED at 1
a fault ends by number, or when it has hit as often as requested | manual | fault fail; fault ghost; end 1; end 1 refused FAULT_NOT_FOUND; trade; mine; end 2 refused FAULT_NOT_FOUND | MATCHED at 1
a base fee that is set applies to one block | manual | base-fee 3; pay alice bob 1 gwei=2.9; pay carol bob 1 gwei=3; mine > mine | PENDING UNDERPRICED MINED at 1 > MINED MINED at 2
a ghost fill makes no block due | auto | fault ghost; trade; advance 1h | MATCHED at 1
a gas spike makes no block due until fees are raised | auto | fault gas-spike; trade; advance 1d > bump; advance 1d | MATCHED at 1 > CONFIRMED at 4
a lower base fee that is set makes a block due in a gas spike | auto | fault gas-spike; trade; advance 1d; base-fee 200; advance 1d > base-fee 100; advance 2s | MATCHED at 1 > MINED at 2
a gas spike up to the maximum fee of the exchange defers nothing | manual | fault gas-spike baseFeeGwei=100; trade; mine | MINED at 1
a base fee above the maximum fee of the exchange defers its settlements by one block | auto | base-fee 500; trade; advance 2s > advance 2s | MATCHED at 1 > MINED at 2
a reorganization makes the next block due | auto | trade; advance 2s; reorg 1 > advance 2s > advance 4s | MATCHED at 1 > MINED at 2 > CONFIRMED at 4
a reorganization leaves a failed settlement failed | manual | fault fail; trade; mine; reorg 1 > mine | FAILED at 1 > FAILED at 2
mining is set to instant: what is pending and what follows settles at once | instant | trade; mining instant > trade | CONFIRMED at 1 > CONFIRMED CONFIRMED at 2
mining is set to instant: what is pending and what follows settles at once | auto | trade; mining instant > trade | MINED at 1 > MINED MINED at 2
mining is set to instant: what is pending and what follows settles at once | manual | trade; mining instant > trade | MINED at 1 > MINED MINED at 2
mining is set to auto: a block at each interval, without end | manual | mining auto intervalMs=10000; trade; advance 9s > advance 1s > advance 20s > advance 25s | MATCHED at 0 > MINED at 1 > CONFIRMED at 3 > CONFIRMED at 5
mining is set to manual: it settles on request | instant | mining manual; trade; advance 1h > mine | MATCHED at 0 > CONFIRMED at 1
mining is set to manual: it settles on request | auto | mining manual; trade; advance 1h > mine | MATCHED at 0 > MINED at 1
a call waits until an earlier nonce is mined | manual | pay alice bob 1 nonce=1; mine > pay alice bob 2 nonce=0; mine | PENDING NONCE_GAP at 1 > MINED MINED at 2
a call makes no block due while an earlier nonce is missing | instant | pay alice bob 1 nonce=1; advance 1m > pay alice bob 2 nonce=0 | PENDING at 0 > MINED MINED at 1
a call makes no block due while an earlier nonce is missing | auto | pay alice bob 1 nonce=1; advance 1m > pay alice bob 2 nonce=0; advance 2s | PENDING at 0 > MINED MINED at 1
calls that cannot be mined ask for no further block | auto | pay alice bob 1 gwei=0; pay alice bob 1; advance 10m > advance 10m | PENDING UNDERPRICED PENDING NONCE_GAP at 1 > PENDING UNDERPRICED PENDING NONCE_GAP at 1
calls that cannot be mined ask for no further block | auto | pay alice bob 1; pay alice bob 1 gwei=0; advance 10m > advance 10m | MINED PENDING UNDERPRICED at 3 > MINED PENDING UNDERPRICED at 3
a ghost fill fails if the ledger has not enough funds otherwise | manual | fault ghost; alice BUY 400 YES @ 0.5; bob SELL 400 YES @ 0.5; mine; pay alice dave 900; mine ? alice bob | FAILED MINED at 2, alice 100 0 0, bob 0 500 0
a call is refused as by a node | manual | pay alice bob 1 gas=20999 refused INTRINSIC_GAS_TOO_LOW; pay alice bob 1 gwei=2 tip=3 refused TIP_ABOVE_FEE_CAP; pay alice bob 1 value="10000000000000000000000" refused INSUFFICIENT_GAS_MONEY | at 0
a call is refused without funds for gas, until its wallet gets some | manual | pay zoe bob 0 refused INSUFFICIENT_GAS_MONEY; ether zoe wei=1000000000000000000; pay zoe bob 0; mine | MINED at 1
a dropped call leaves the pool | manual | pay alice bob 7; drop 1 ? bob | DROPPED at 0, bob 0 500 0
a dropped call can be sent again with its nonce | manual | pay alice bob 7 hash="0x5555555555555555555555555555555555555555555555555555555555555555"; drop 1; pay alice bob 7 nonce=0 hash="0x5555555555555555555555555555555555555555555555555555555555555555"; mine ? bob | DROPPED MINED at 1, bob 7 500 0
a replaced call can be sent again once the other is dropped | manual | pay alice bob 1 nonce=0 hash="0x5555555555555555555555555555555555555555555555555555555555555555"; pay alice bob 2 nonce=0 gwei=3; pay alice bob 1 nonce=0 hash="0x5555555555555555555555555555555555555555555555555555555555555555" refused REPLACEMENT_UNDERPRICED; drop 2; pay alice bob 1 nonce=0 hash="0x5555555555555555555555555555555555555555555555555555555555555555" > mine | REPLACED DROPPED PENDING at 0 > REPLACED DROPPED MINED at 1
a dropped call is undone after a reorganization, with its dependents | manual | pay alice carol 600; mine; reorg 1 ? carol > pay carol bob 1500; drop 1 ? alice carol > mine | PENDING REORGANIZED at 1, carol 1600 500 500 (1000 500 500 on chain) > DROPPED PENDING at 1, alice 1000 0 0, carol 1000 500 500 > DROPPED REVERTED at 2
a nonce that is set drops calls below it, and mines the one that waited for it | instant | pay alice bob 1 nonce=1; pay alice bob 2 nonce=5; nonce alice to=5 ? bob | DROPPED MINED at 1, bob 2 500 0
a nonce used again is left by a reorganization to the call that was mined first, while the other is pending | manual | pay alice carol 600 nonce=0; mine; nonce alice to=0; pay alice carol 1 nonce=0; reorg 1; mine ? alice carol | MINED DROPPED at 2, alice 400 0 0, carol 1600 500 500
a nonce used again is left by a reorganization to the call that was mined first, after both were mined | manual | pay alice carol 600 nonce=0; mine; nonce alice to=0; pay alice carol 1 nonce=0; mine; reorg 2; mine ? alice carol | MINED DROPPED at 3, alice 400 0 0, carol 1600 500 500
a block is the time of its settlements | auto | trade; advance 1s ? @1 > advance 1s ? @1 > advance 1h ? @1 | MATCHED at 0, @1 0 > MINED at 1, @1 2 > CONFIRMED at 3, @1 6
of settled funds, deposits can be spent at once, and proceeds in instant mode | instant settled | fund dave everyMarket=10; trade; dave SELL 10 YES @ 0.5; alice SELL 40 YES @ 0.6 | CONFIRMED at 1
of settled funds, proceeds of a ghost fill can never be spent | manual settled | fault ghost; trade; mine 10; alice SELL 1 YES @ 0.6 refused INSUFFICIENT_BALANCE | MATCHED at 10
a pending call is replaced by one with its nonce and a higher fee | manual | fault gas-spike; pay alice bob 1 nonce=0; mine > pay alice bob 2 nonce=0 gwei=2.1 refused REPLACEMENT_UNDERPRICED; pay alice bob 2 nonce=0 gwei=600; mine ? bob | PENDING UNDERPRICED at 1 > REPLACED MINED at 2, bob 2 500 0
a call redeems only the outcomes of its index sets | manual | resolve SPLIT; redeem carol 2; mine ? carol | MINED at 1, carol 1250 500 0
a call can spend a grant that is not minted yet | manual | fund dave everyMarket=10; derive dave; merge dave 10; mine ? dave | MINED at 1, dave 10 0 0
`);

it.each(HISTORIES)("on the chain, %s (%s): %s", (_rule, settlement = "", words = "", expected = "") => {
  const exchange = openSettlement(settlementIn(settlement));
  const check = (): void => requireEqual(readBack(exchange.state), exchange.state);
  expect(exchange.story(words, check)).toBe(expected);
});

describe("a block", () => {
  it("is not due for deposits, which are on the chain at once", () => {
    const exchange = openSettlement({ settlement: "auto" });
    expect(exchange.onChain("alice")).toEqual({ usdc: 1000, yes: 0, no: 0 });
    exchange.act("advance 10s");
    expect([exchange.head, exchange.state.chain.pending]).toEqual([0, 0]);
    exchange.act("mine");
    expect(blockAt(exchange.state.chain, 1)?.count).toBe(exchange.state.chain.transactions.size);
  });

  it("with retried settlements is assembled in one step of an advance of time, and makes further blocks due", () => {
    const testExchange = played("fault retry times=2; trade 3", { settlement: "auto" });
    const { exchange } = testExchange;
    const seen: unknown[] = [];
    for (const _step of { [Symbol.iterator]: () => exchange.advanceInSteps(millis(exchange.now + 4_000)) })
      seen.push([testExchange.statuses.join(" "), violations(exchange.state), exchange.nextDueAt !== null]);
    expect(seen).toEqual([
      ["RETRYING RETRYING MINED", [], true],
      ["MINED MINED MINED", [], true],
    ]);
    testExchange.act("advance 4s");
    expect(exchange.nextDueAt).toBe(null);
  });
});

it("a settlement that fails also fails the newest settlements that spend its proceeds, and only as many as necessary", () => {
  const exchange = played("fund alice yes=30; trade");
  for (const price of [0.6, 0.7, 0.8])
    exchange.act(`carol BUY 20 YES @ ${price}; alice SELL 20 YES @ ${price}`);
  const { length } = exchange.events;
  exchange.act('fault fail reason="the oracle is on holiday"; mine');
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

it("a gas spike is why a settlement waits, from its start to its end, unless its fee is raised", () => {
  const exchange = openSettlement();
  const why = (words: string) => {
    exchange.act(words);
    return whyUnsettled(exchange.state, exchange.settlement());
  };
  const waits = "waits until a block is mined";
  const spike =
    "waits until its fee is raised or the base fee falls: the base fee is 500 gwei, the exchange offers 100";
  const steps = ["trade", "fault gas-spike", "mine", "end all", "fault gas-spike; bump"];
  expect(steps.map(why)).toEqual([waits, spike, spike, waits, waits]);
  exchange.act("mine");
  expect(exchange.statuses).toEqual(["MINED"]);
});

it.each(
  rowsOf(`
    fault fail | set settlement fault fail, 1 time
    fault delay blocks=3 probability=0.25 | set settlement fault delay by 3 blocks, probability 0.25
    fault gas-spike | set settlement fault gas-spike to 500 gwei
    fault ghost times=2 order=12 | set settlement fault ghost, only of order 12, 2 times
  `),
)("%s is told as: %s", (words = "", told) => {
  expect(commandText(commandIn(words, 1) as Command, openSettlement().state)).toBe(told);
});

it("dropping a transaction changes nothing if it is unknown or not from a wallet", () => {
  const exchange = played("trade");
  const before = exchange.exchange.sequence;
  for (const transaction of [9_999, exchange.settlement().number])
    expect(exchange.submit({ kind: "dropTransaction", transaction })).toEqual({ ok: true, events: [] });
  expect(exchange.exchange.sequence).toBe(before);
});

it("header fields of blocks are those set last before each block, field by field", () => {
  const exchange = openSettlement();
  const miner = addressOf("zoe");
  exchange.act("mine");
  for (const terms of [
    { miner, gasLimit: null },
    { miner: null, gasLimit: 5 },
  ]) {
    exchange.mustSubmit({ kind: "setBlockTerms", ...terms });
    exchange.act("mine");
  }
  const found = [2, 3, 4, 5].map((serial) => blockTermsOf(exchange.state.chain, serial));
  const expected = [
    { miner: null, gasLimit: null },
    { miner, gasLimit: null },
    ...Array(2).fill({ miner, gasLimit: 5 }),
  ];
  expect(found).toMatchObject(expected);
  requireEqual(readBack(exchange.state), exchange.state);
});

it("the next base fee is used up by the first block of a reorganization", () => {
  const exchange = openSettlement();
  exchange.act("mine 2; base-fee 3; reorg 2; mine");
  const baseFees = Array.from(exchange.state.chain.blocks, ({ baseFee }) => baseFee);
  expect(baseFees.slice(-3)).toEqual([3e9, 1e9, 1e9]);
});
