import { expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import type { RefusalCode } from "../../../src/core/refusals.ts";
import { money, size } from "../../../src/core/units.ts";
import { addressOf, fundCommand, marketCommand } from "../../support/commands.ts";
import { openFundedExchange } from "../../support/exchange.ts";

const BID = openFundedExchange().orderId(1);

/** What the API refuses before it is a command, and one refusal of a cancel. `test/server` has all others. */
const COMMANDS: readonly [code: RefusalCode, what: string, command: Command][] = [
  ["EVENT_NOT_FOUND", "a market of an unknown event, with a used slug", marketCommand("market-1", {}, 9)],
  ["SLUG_TAKEN", "a market with a used slug", marketCommand("market-1")],
  ["MARKET_NOT_FOUND", "closing an unknown market", { kind: "closeMarket", market: 9 }],
  ["MARKET_NOT_FOUND", "resolving one", { kind: "resolveMarket", market: 9, winningOutcome: "NO" }],
  [
    "TOKEN_NOT_FOUND",
    "more funds than may be issued, in an unknown token",
    fundCommand(addressOf("new"), {
      collateral: money(5_000_000_000_000_000),
      tokens: [{ tokenId: "77", size: size(100) }],
    }),
  ],
  ...["bob", "new"].map((name): [RefusalCode, string, Command] => [
    "ORDER_NOT_FOUND",
    `canceling an order of alice as ${name}`,
    { kind: "cancelOrder", address: addressOf(name), orderId: BID },
  ]),
  ["ORDER_NOT_LIVE", "expiring an ended order", { kind: "expireOrder", order: 2 }],
];

it.each(COMMANDS)("a command is refused with %s, and changes nothing: %s", (code, _what, command) => {
  const exchange = openFundedExchange();
  exchange.act("alice BUY 10 YES @ 0.1; alice BUY 10 YES @ 0.2; alice cancel 2");
  const { hash, sequence, now } = exchange.exchange;
  const events = [...exchange.events];
  expect(exchange.submit(command)).toMatchObject({ refusal: { code } });
  expect(exchange.exchange).toMatchObject({ hash, sequence, now });
  expect(exchange.events).toEqual(events);
  expect(exchange.state.accountByAddress.has(addressOf("new"))).toBe(false);
});

it.each([
  [
    "a grant that is not minted yet",
    "dave SELL 9.01 NO @ 0.5",
    { required: 901, available: 900, balance: 900 },
  ],
  ["none of an unknown account", "nobody SELL 5 NO @ 0.5", { required: 500, available: 0, balance: 0 }],
])("the refusal of an order without funds has the balance, with %s", (_what, order, details) => {
  const exchange = openFundedExchange();
  exchange.fund("dave", { everyMarket: 7 });
  exchange.fund("dave", { no: 2 });
  const refusal = { code: "INSUFFICIENT_BALANCE", asset: exchange.tokenId("NO"), reserved: 0, incoming: 0 };
  expect(exchange.try(order)).toEqual({ ok: false, refusal: { ...refusal, ...details } });
});
