import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import type { RefusalCode } from "../../../src/core/refusals.ts";
import { money, size } from "../../../src/core/units.ts";
import { addressOf, eventCommand, fundCommand, marketCommand } from "../../support/commands.ts";
import { openFundedExchange, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

/**
 * Market 1 is active, market 2 closed, market 3 resolved; dave has only 10 USDC; alice's order 1 is live and her order 2
 * canceled. A minute has passed.
 */
function busyExchange(): TestExchange {
  const exchange = openFundedExchange({ minOrderSize: 5, feeRateBps: 100 }, { credentials: "once" });
  for (let market = 2; market <= 3; market += 1) exchange.market();
  exchange.act("close in 2; resolve YES in 3; fund dave usdc=10");
  exchange.act("alice BUY 10 YES @ 0.1; alice BUY 10 YES @ 0.2; alice cancel 2; derive alice; advance 1m");
  return exchange;
}

/** An expiration at this moment is in the past. */
const NOW = START + 60_000;

const unknownToken = (command: Command): Command => ({ ...command, tokenId: "77" }) as Command;
const expired = (command: Command): Command => ({ ...command, orderType: "GTD", expiration: NOW }) as Command;

type CommandIn = (exchange: TestExchange) => Command;

/** Each order breaks the rule of its code and all later ones. */
const ORDERS: readonly [code: RefusalCode, order: CommandIn][] = [
  ["TOKEN_NOT_FOUND", (exchange) => unknownToken(expired(exchange.command("dave BUY 0.01 YES @ 0.0001", 2)))],
  ["INVALID_TICK_SIZE", (exchange) => expired(exchange.command("dave BUY 0.01 YES @ 0.1234", 2))],
  ["SIZE_TOO_SMALL", (exchange) => expired(exchange.command("dave SELL 0.99 YES @ 0.5", 2))],
  ["EXPIRATION_IN_PAST", (exchange) => expired(exchange.command("dave SELL 100 YES @ 0.5", 2))],
  ["MARKET_CLOSED", (exchange) => exchange.command("dave SELL 100 YES @ 0.5", 2)],
  ["MARKET_CLOSED", (exchange) => exchange.command("dave SELL 100 YES @ 0.5", 3)],
  ["INSUFFICIENT_BALANCE", (exchange) => exchange.command("dave SELL 100 YES @ 0.5")],
];

const resolve = (market: number): Command => ({ kind: "resolveMarket", market, winningOutcome: "NO" });
const cancel =
  (name: string, order: number): CommandIn =>
  (exchange) => ({ kind: "cancelOrder", address: addressOf(name), orderId: exchange.orderId(order) });
/** Asks for more funds than may be issued, and for shares of tokens. */
const fund = (...tokenIds: readonly string[]): Command =>
  fundCommand(addressOf("new"), {
    collateral: money(5_000_000_000_000_000),
    tokens: tokenIds.map((tokenId) => ({ tokenId, size: size(100) })),
  });

const derive: Command = { kind: "deriveCredentials", address: addressOf("alice") };

const OTHERS: readonly [code: RefusalCode, what: string, command: Command | CommandIn][] = [
  ["SLUG_TAKEN", "an event with a used slug", eventCommand("event")],
  ["EVENT_NOT_FOUND", "a market of an unknown event, with a used slug", marketCommand("market-1", {}, 9)],
  ["SLUG_TAKEN", "a market with a used slug", marketCommand("market-1")],
  ["MARKET_NOT_FOUND", "closing an unknown market", { kind: "closeMarket", market: 9 }],
  ["MARKET_CLOSED", "closing a closed market", { kind: "closeMarket", market: 2 }],
  ["MARKET_CLOSED", "closing a resolved market", { kind: "closeMarket", market: 3 }],
  ["MARKET_NOT_FOUND", "resolving an unknown market", resolve(9)],
  ["MARKET_CLOSED", "resolving a resolved market", resolve(3)],
  ["TOKEN_NOT_FOUND", "too many funds, in an unknown token", (of) => fund(of.tokenId("YES"), "77")],
  ["ISSUANCE_EXCEEDED", "more funds than may be issued", fund()],
  ["ORDER_NOT_FOUND", "canceling an unknown order", cancel("alice", 3)],
  ["ORDER_NOT_FOUND", "canceling another account's live order", cancel("bob", 1)],
  ["ORDER_NOT_FOUND", "canceling another account's ended order", cancel("bob", 2)],
  ["ORDER_NOT_FOUND", "canceling without an account", cancel("nobody", 1)],
  ["ORDER_NOT_LIVE", "canceling an ended order", cancel("alice", 2)],
  ["ORDER_NOT_LIVE", "expiring an ended order", { kind: "expireOrder", order: 2 }],
  ["CREDENTIALS_ALREADY_DERIVED", "deriving twice", derive],
];

describe("a refused command", () => {
  it.for([
    ...ORDERS.map(([code, command]) => [code, "an order that breaks this rule first", command] as const),
    ...OTHERS,
  ])("is %s and changes nothing: %s", ([code, _case, command]) => {
    const exchange = busyExchange();
    const { hash, sequence, now } = exchange.exchange;
    const before = exchange.events.length;
    const decision = exchange.submit(typeof command === "function" ? command(exchange) : command);
    expect(verdictOf(decision)).toBe(code);
    expect(exchange.exchange).toMatchObject({ hash, sequence, now });
    expect(exchange.events).toHaveLength(before);
    expect(exchange.state.accountByAddress.has(addressOf("new"))).toBe(false);
  });
});

describe("the details of a refusal", () => {
  const buyer = { asset: "USDC", required: 5_050_000, available: 4_950_000, balance: 10_000_000 };
  const seller = { required: 901, available: 900, balance: 900, reserved: 0, incoming: 0 };
  const late = { expiration: NOW, serverTime: NOW };

  it.for<[what: string, order: string, code: RefusalCode, details: object]>([
    [
      "for a buyer have the required USDC with the maximum fee, and the balance",
      "dave BUY 10 YES @ 0.5",
      "INSUFFICIENT_BALANCE",
      { ...buyer, reserved: 5_050_000, incoming: 0 },
    ],
    [
      "for a seller have shares of the token, including the grant not yet minted",
      "carl SELL 9.01 NO @ 0.5",
      "INSUFFICIENT_BALANCE",
      { asset: busyExchange().tokenId("NO"), ...seller },
    ],
    [
      "for an address without an account have balance 0",
      "nobody BUY 5 YES @ 0.01",
      "INSUFFICIENT_BALANCE",
      { asset: "USDC", required: 50_500, available: 0, balance: 0, reserved: 0, incoming: 0 },
    ],
    ["have the tick size", "dave BUY 10 YES @ 0.555", "INVALID_TICK_SIZE", { price: 5550, tickSize: 100 }],
    ["have the minimum", "dave BUY 4.99 YES @ 0.5", "SIZE_TOO_SMALL", { size: 499, minOrderSize: 500 }],
    ["have the time", "dave BUY 5 YES @ 0.5", "EXPIRATION_IN_PAST", late],
  ])("%s", ([_what, order, code, details]) => {
    const exchange = busyExchange();
    exchange.fund("carl", { everyMarket: 7 });
    exchange.fund("carl", { no: 2 });
    exchange.send("dave BUY 10 YES @ 0.5");
    const command = exchange.command(order);
    const decision = exchange.submit(code === "EXPIRATION_IN_PAST" ? expired(command) : command);
    expect(decision).toEqual({ ok: false, refusal: { code, ...details } });
  });
});
