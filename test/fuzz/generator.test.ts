import { expect, it } from "vitest";
import { orderBody } from "../../src/api/order-request.ts";
import { type Command, type CommandKind, commandData } from "../../src/core/commands.ts";
import type { RecordType } from "../../src/core/schema.ts";
import { FROZEN_START } from "../../src/core/units.ts";
import { Generator, profileOf } from "../../src/fuzz/generator.ts";
import { profileOf as httpProfileOf, Traffic } from "../../src/fuzz/http/traffic.ts";
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

/** Requires several values of each field; absence counts as a value. */
function expectVaried(orders: readonly object[], fields: readonly string[]): void {
  const isVaried = (field: string): boolean =>
    new Set(orders.map((order) => JSON.stringify(order[field as keyof object]))).size > 1;
  expect(fields.filter((field) => !isVaried(field))).toEqual([]);
}

it("histories draw every modeled kind of command, and several values of every field of an order", () => {
  const exchange = openFundedExchange();
  exchange.send("alice BUY 10 YES @ 0.1", "bob SELL 10 YES @ 0.9");
  const drawn: Command[] = [];
  for (let seed = 1; seed <= 60; seed += 1) {
    const generator = new Generator(seed, profileOf(seed));
    drawn.push(...generator.opening());
    for (let step = 0; step < 200; step += 1) {
      const next = generator.next(exchange.state, exchange.exchange.now);
      if (next.kind === "command") drawn.push(next.command);
    }
  }
  const expected = Object.entries(DRAWN).flatMap(([kind, isDrawn]) => (isDrawn ? [kind] : []));
  expect([...new Set(drawn.map(({ kind }) => kind))].sort()).toEqual(expected.sort());
  const { fields } = commandData("placeOrder") as RecordType<object>;
  expectVaried(
    drawn.filter(({ kind }) => kind === "placeOrder"),
    Object.keys(fields),
  );
});

it("requests over HTTP draw several values of every field of an order", () => {
  const profile = httpProfileOf(1);
  const credentials = { address: "0xa" as const, apiKey: "k", secret: "s", passphrase: "p" };
  const markets = profile.markets.map((terms) => ({ terms, id: terms.slug, tokenIds: ["2", "3"] }));
  const traffic = new Traffic(profile, [{ credentials, orders: [] }], markets);
  const requests = Array.from({ length: 500 }, () => traffic.next(0, FROZEN_START));
  const orders = requests.filter(({ operation }) => operation === "placeOrder");
  expectVaried(
    orders.map(({ body }) => JSON.parse(body)),
    orderBody.fields,
  );
});
