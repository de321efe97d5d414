import { expect, it } from "vitest";
import type { CommandKind } from "../../src/core/commands.ts";
import { Generator, profileOf } from "../../src/fuzz/generator.ts";
import { openFundedExchange } from "../support/exchange.ts";

/** Whether histories draw each kind of command. The others are caused by time, or not modeled by the reference. */
const DRAWN: Readonly<Record<CommandKind, boolean>> = {
  createEvent: true,
  createMarket: true,
  closeMarket: true,
  resolveMarket: true,
  fundAccount: true,
  deriveCredentials: true,
  placeOrder: true,
  cancelOrder: true,
  cancelAllOrders: true,
  sendTransaction: true,
  mineBlocks: true,
  reorganizeChain: true,
  setSettlementFault: true,
  endSettlementFault: true,
  bumpFees: true,
  setNativeBalance: false,
  setNonce: true,
  dropTransaction: true,
  setMining: true,
  setBlockTerms: true,
  setNextBaseFee: true,
  expireOrder: false,
  produceBlock: false,
  executeTransaction: false,
  sealBlock: false,
};

it("histories draw every modeled kind of command", () => {
  const exchange = openFundedExchange();
  exchange.send("alice BUY 10 YES @ 0.1", "bob SELL 10 YES @ 0.9");
  const drawn = new Set<string>();
  for (let seed = 1; seed <= 60; seed += 1) {
    const generator = new Generator(seed, profileOf(seed));
    for (const { kind } of generator.opening()) drawn.add(kind);
    for (let step = 0; step < 200; step += 1) {
      const next = generator.next(exchange.state, exchange.exchange.now);
      if (next.kind === "command") drawn.add(next.command.kind);
    }
  }
  const expected = Object.entries(DRAWN).flatMap(([kind, isDrawn]) => (isDrawn ? [kind] : []));
  expect([...drawn].sort()).toEqual(expected.sort());
});
