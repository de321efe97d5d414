import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import type { RefusalCode } from "../../../src/core/refusals.ts";
import { money, price, size } from "../../../src/core/units.ts";
import { addressOf, eventCommand, marketCommand } from "../../support/commands.ts";
import { openFundedExchange, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

/**
 * Market 1 is active, market 2 closed, market 3 resolved; dave has only 10 USDC; alice's order 1 is live and her order 2
 * canceled. A minute has passed, so that an expiration can be in the past.
 */
function busyExchange(): TestExchange {
  const exchange = openFundedExchange({ minOrderSize: 5, feeRateBps: 100 }, { credentials: "once" });
  exchange.market();
  exchange.market();
  exchange.mustSubmit({ kind: "closeMarket", market: 2 });
  exchange.mustSubmit({ kind: "resolveMarket", market: 3, winningOutcome: "YES" });
  exchange.fund("dave", { usdc: 10 });
  exchange.send("alice BUY 10 YES @ 0.1", "alice BUY 10 YES @ 0.2");
  exchange.cancel("alice", 2);
  exchange.mustSubmit({ kind: "deriveCredentials", address: addressOf("alice") });
  exchange.advance("1m");
  return exchange;
}

const unknownToken = (command: Command): Command => ({ ...command, tokenId: "77" }) as Command;
const expired = (command: Command): Command =>
  ({ ...command, orderType: "GTD", expiration: START }) as Command;

/** Each order breaks the rule of its code and all later ones. */
const ORDERS: readonly [code: RefusalCode, order: (exchange: TestExchange) => Command][] = [
  ["TOKEN_NOT_FOUND", (exchange) => unknownToken(expired(exchange.command("dave BUY 0.01 YES @ 0.0001", 2)))],
  ["INVALID_TICK_SIZE", (exchange) => expired(exchange.command("dave BUY 0.01 YES @ 0.1234", 2))],
  ["SIZE_TOO_SMALL", (exchange) => expired(exchange.command("dave SELL 0.99 YES @ 0.5", 2))],
  ["EXPIRATION_IN_PAST", (exchange) => expired(exchange.command("dave SELL 100 YES @ 0.5", 2))],
  ["MARKET_CLOSED", (exchange) => exchange.command("dave SELL 100 YES @ 0.5", 2)],
  ["MARKET_CLOSED", (exchange) => exchange.command("dave SELL 100 YES @ 0.5", 3)],
  ["INSUFFICIENT_BALANCE", (exchange) => exchange.command("dave SELL 100 YES @ 0.5")],
];

const OTHERS: readonly [code: RefusalCode, what: string, command: (exchange: TestExchange) => Command][] = [
  ["SLUG_TAKEN", "an event with a used slug", () => eventCommand("event")],
  [
    "EVENT_NOT_FOUND",
    "a market of an unknown event, with a used slug",
    () => marketCommand("market-1", {}, 9),
  ],
  ["SLUG_TAKEN", "a market with a used slug", () => marketCommand("market-1")],
  ["MARKET_NOT_FOUND", "closing an unknown market", () => ({ kind: "closeMarket", market: 9 })],
  ["MARKET_CLOSED", "closing a closed market", () => ({ kind: "closeMarket", market: 2 })],
  ["MARKET_CLOSED", "closing a resolved market", () => ({ kind: "closeMarket", market: 3 })],
  ["MARKET_NOT_FOUND", "resolving an unknown market", () => resolve(9)],
  ["MARKET_CLOSED", "resolving a resolved market", () => resolve(3)],
  [
    "TOKEN_NOT_FOUND",
    "funds in an unknown token, and more than may be issued",
    (exchange) => fund(5_000_000_000_000_000, [exchange.tokenId("YES"), "77"]),
  ],
  ["ISSUANCE_EXCEEDED", "more funds than may be issued", () => fund(5_000_000_000_000_000, [])],
  ["ORDER_NOT_FOUND", "canceling an invalid order id", () => cancel("alice", "0")],
  ["ORDER_NOT_FOUND", "canceling an unknown order", (exchange) => cancel("alice", exchange.orderId(3))],
  [
    "ORDER_NOT_FOUND",
    "canceling another account's live order",
    (exchange) => cancel("bob", exchange.orderId(1)),
  ],
  [
    "ORDER_NOT_FOUND",
    "canceling another account's ended order",
    (exchange) => cancel("bob", exchange.orderId(2)),
  ],
  ["ORDER_NOT_FOUND", "canceling without an account", (exchange) => cancel("nobody", exchange.orderId(1))],
  ["ORDER_NOT_LIVE", "canceling an ended order", (exchange) => cancel("alice", exchange.orderId(2))],
  ["ORDER_NOT_LIVE", "expiring an ended order", () => ({ kind: "expireOrder", order: 2 })],
  [
    "CREDENTIALS_ALREADY_DERIVED",
    "deriving twice",
    () => ({ kind: "deriveCredentials", address: addressOf("alice") }),
  ],
];

const resolve = (market: number): Command => ({ kind: "resolveMarket", market, winningOutcome: "NO" });
const cancel = (name: string, orderId: string): Command => ({
  kind: "cancelOrder",
  address: addressOf(name),
  orderId,
});
const fund = (collateral: number, tokenIds: readonly string[]): Command => ({
  kind: "fundAccount",
  address: addressOf("new"),
  collateral: money(collateral),
  tokens: tokenIds.map((tokenId) => ({ tokenId, size: size(100) })),
  everyMarket: size(0),
});

describe("a refused command", () => {
  it.for([
    ...ORDERS.map(([code, command]) => [code, "an order that breaks this rule first", command] as const),
    ...OTHERS,
  ])("is %s and changes nothing: %s", ([code, _case, command]) => {
    const exchange = busyExchange();
    const { hash, sequence, now } = exchange.exchange;
    const before = exchange.events.length;
    expect(verdictOf(exchange.submit(command(exchange)))).toBe(code);
    expect(exchange.exchange).toMatchObject({ hash, sequence, now });
    expect(exchange.events).toHaveLength(before);
    expect(exchange.state.accountByAddress.has(addressOf("new"))).toBe(false);
  });

  it("changes no later id", () => {
    const [quiet, noisy] = [busyExchange(), busyExchange()];
    for (const [, order] of ORDERS) noisy.submit(order(noisy));
    for (const exchange of [quiet, noisy]) exchange.send("alice SELL 10 YES @ 0.3", "bob BUY 10 YES @ 0.3");
    expect(noisy.exchange.hash).toBe(quiet.exchange.hash);
  });
});

describe("the details of a refusal", () => {
  const refusalOf = (exchange: TestExchange, command: Command): unknown => {
    const decision = exchange.submit(command);
    return decision.ok ? undefined : decision.refusal;
  };

  it("for a buyer have the required USDC with the maximum fee, and the balance", () => {
    const exchange = busyExchange();
    exchange.send("dave BUY 10 YES @ 0.5");
    expect(refusalOf(exchange, exchange.command("dave BUY 10 YES @ 0.5"))).toEqual({
      code: "INSUFFICIENT_BALANCE",
      asset: "USDC",
      required: 5_050_000,
      available: 4_950_000,
      balance: 10_000_000,
      reserved: 5_050_000,
      incoming: 0,
    });
  });

  it("for a seller have shares of the token, including the grant not yet minted", () => {
    const exchange = busyExchange();
    exchange.fund("dave", { everyMarket: 7 });
    exchange.fund("dave", { no: 2 });
    expect(refusalOf(exchange, exchange.command("dave SELL 9.01 NO @ 0.5"))).toEqual({
      code: "INSUFFICIENT_BALANCE",
      asset: exchange.tokenId("NO"),
      required: 901,
      available: 900,
      balance: 900,
      reserved: 0,
      incoming: 0,
    });
  });

  it("for an address without an account have balance 0", () => {
    const exchange = busyExchange();
    expect(refusalOf(exchange, exchange.command("nobody BUY 5 YES @ 0.01"))).toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      available: 0,
      balance: 0,
    });
  });

  it("for tick, size and expiration have the requested and the allowed value", () => {
    const exchange = busyExchange();
    expect(refusalOf(exchange, exchange.command("dave BUY 10 YES @ 0.555"))).toEqual({
      code: "INVALID_TICK_SIZE",
      price: price(5550),
      tickSize: price(100),
    });
    expect(refusalOf(exchange, exchange.command("dave BUY 4.99 YES @ 0.5"))).toEqual({
      code: "SIZE_TOO_SMALL",
      size: size(499),
      minOrderSize: size(500),
    });
    expect(refusalOf(exchange, expired(exchange.command("dave BUY 5 YES @ 0.5")))).toEqual({
      code: "EXPIRATION_IN_PAST",
      expiration: START,
      serverTime: START + 60_000,
    });
  });
});
