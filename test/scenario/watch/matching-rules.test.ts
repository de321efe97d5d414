import { afterEach, describe, expect, it, vi } from "vitest";
import type { Command, CommandOf, Stamped } from "../../../src/core/commands.ts";
import type { DomainEvent, EventOf } from "../../../src/core/events.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import type { State } from "../../../src/core/state.ts";
import type { CancelReason } from "../../../src/core/terms.ts";
import { money, price, size } from "../../../src/core/units.ts";
import { FillWatcher } from "../../../src/scenario/watch/fill-watcher.ts";
import type { MarketTerms } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";

type Decide = (state: State, stamped: Stamped) => Decision;
/** A wrong decision of the exchange. */
type Tamper = (decide: Decide, state: State, stamped: Stamped) => Decision;

const planted = vi.hoisted(() => ({ tamper: null as Tamper | null }));

vi.mock(import("../../../src/core/rules/rules.ts"), async (load) => {
  const { decide, ...rest } = await load();
  return {
    ...rest,
    decide: (state, stamped) =>
      planted.tamper === null ? decide(state, stamped) : planted.tamper(decide, state, stamped),
  };
});

afterEach(() => {
  planted.tamper = null;
});

/** Two asks at 0.5 and one at 0.6, and a watcher of later orders. */
function watched(terms: MarketTerms = {}): { exchange: TestExchange; watcher: FillWatcher } {
  const exchange = openFundedExchange({ selfTrade: "allow", ...terms });
  exchange.send("alice SELL 10 YES @ 0.5", "bob SELL 10 YES @ 0.5", "bob SELL 10 YES @ 0.6");
  const names = ["", "faucet", "fees", "alice", "bob", "carol"];
  return { exchange, watcher: new FillWatcher(exchange.exchange, (account) => names[account] ?? "") };
}

/** Returns the watcher's message about a tampered decision; null if none. */
function brokenRuleOf(sentence: string, tamper: Tamper, terms?: MarketTerms): string | null {
  planted.tamper = null;
  const { exchange, watcher } = watched(terms);
  planted.tamper = tamper;
  expect(exchange.exchange.submit(exchange.command(sentence)).ok).toBe(true);
  const { broken } = watcher;
  return broken === null ? null : `${broken.name}: ${broken.text}`;
}

const withEvents =
  (change: (events: readonly DomainEvent[]) => readonly DomainEvent[]): Tamper =>
  (decide, state, stamped) => {
    const decision = decide(state, stamped);
    return decision.ok ? { ...decision, events: [...change(decision.events)] } : decision;
  };

/** Changes the fill. */
const withFill = (fill: Partial<EventOf<"orderTraded">>): Tamper =>
  withEvents((events) =>
    events.map((event) => (event.kind === "orderTraded" ? { ...event, ...fill } : event)),
  );

/** Decides as if the order were of another type. */
const decidedAs =
  (orderType: CommandOf<"placeOrder">["orderType"]): Tamper =>
  (decide, state, { at, command }) => {
    const order = command as CommandOf<"placeOrder">;
    const other: Command = { ...order, orderType };
    return withEvents((events) =>
      events.map((event) =>
        event.kind === "orderPlaced" ? { ...event, orderType: order.orderType } : event,
      ),
    )(decide, state, { at, command: other });
  };

/** Places the order with only this result. */
const becoming = (reason: CancelReason | "rests" | "nothing"): Tamper =>
  withEvents((events) =>
    events.flatMap((event): DomainEvent[] => {
      if (event.kind !== "orderPlaced") return [];
      const { order } = event;
      if (reason === "nothing") return [event];
      return reason === "rests"
        ? [event, { kind: "orderRested", order }]
        : [event, { kind: "orderCanceled", order, reason }];
    }),
  );

const sound: Tamper = (decide, state, stamped) => decide(state, stamped);

const ALICE = "order 1 of alice (SELL 10 YES @ 0.5)";
const FROM_ALICE = `from ${ALICE}, which has 10 open`;

describe("a fill", () => {
  it.each<[string, string, Tamper, rule: string, found: string, expected: string]>([
    [
      "matches the first order at its price",
      "BUY 5 YES @ 0.6",
      withFill({ maker: 2 }),
      "orders trade by price, then by arrival",
      "5 @ 0.5 COMPLEMENTARY from order 2",
      "5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "is at the best price",
      "BUY 5 YES @ 0.6",
      withFill({ maker: 3, price: price(6000) }),
      "orders trade by price, then by arrival",
      "5 @ 0.6 COMPLEMENTARY from order 3",
      "5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "is at the maker's own price",
      "BUY 5 YES @ 0.6",
      withFill({ price: price(5100) }),
      "a fill is at the maker's price, of all that both have open",
      "5 @ 0.51 COMPLEMENTARY from order 1",
      "5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "is of all that both have open",
      "BUY 5 YES @ 0.6",
      withFill({ size: size(300) }),
      "a fill is at the maker's price, of all that both have open",
      "3 @ 0.5 COMPLEMENTARY from order 1",
      "5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "merges where two sellers meet",
      "SELL 5 NO @ 0.4",
      withFill({ matchType: "MINT" }),
      "a fill is at the maker's price, of all that both have open",
      "5 @ 0.5 MINT from order 1",
      "5 @ 0.5 MERGE",
    ],
  ])("%s", (_rule, order, tamper, rule, found, expected) => {
    const which = `order 4 of carol (${order}) GTC with 5 open`;
    expect(brokenRuleOf(`carol ${order}`, tamper)).toBe(
      `${rule}: ${which}: takes ${found}, expected ${expected} ${FROM_ALICE}`,
    );
    expect(brokenRuleOf(`carol ${order}`, sound)).toBeNull();
  });
});

describe("an incoming order", () => {
  it.each<[string, order: string, type: string, Tamper, open: number, text: string]>([
    [
      "is filled completely or not at all if it is FOK",
      "BUY 50 YES @ 0.6",
      "FOK",
      decidedAs("FAK"),
      50,
      "takes 10 @ 0.5 COMPLEMENTARY from order 1, expected FOK_UNFILLED",
    ],
    [
      "is not killed if it is FOK and there is enough",
      "BUY 30 YES @ 0.6",
      "FOK",
      becoming("FOK_UNFILLED"),
      30,
      `FOK_UNFILLED, expected 10 @ 0.5 COMPLEMENTARY ${FROM_ALICE}`,
    ],
    [
      "does not rest if it is FAK",
      "BUY 50 YES @ 0.6",
      "FAK",
      decidedAs("GTC"),
      20,
      "rests, expected FAK_REMAINDER",
    ],
    [
      "rests if it is GTC",
      "BUY 50 YES @ 0.6",
      "GTC",
      decidedAs("FAK"),
      20,
      "FAK_REMAINDER, expected it to rest",
    ],
    [
      "trades before it rests",
      "BUY 5 YES @ 0.5",
      "GTC",
      becoming("rests"),
      5,
      `rests, expected 5 @ 0.5 COMPLEMENTARY ${FROM_ALICE}`,
    ],
    ["rests or ends", "BUY 5 YES @ 0.4", "GTC", becoming("nothing"), 5, "nothing more, expected it to rest"],
  ])("%s", (_rule, order, type, tamper, open, text) => {
    expect(brokenRuleOf(`carol ${order} ${type}`, tamper)).toBe(
      `an order rests or ends as its type says: order 4 of carol (${order}) ${type} with ${open} open: ${text}`,
    );
    expect(brokenRuleOf(`carol ${order} ${type}`, sound)).toBeNull();
  });
});

describe("an order that matches one of its own account", () => {
  const canceledMaker = withEvents((events) => [
    ...events.slice(0, 1),
    { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
    ...events.slice(1),
  ]);
  const canceledAndRests = withEvents((events) => [
    ...events.filter(({ kind }) => kind === "orderPlaced"),
    { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
    { kind: "orderRested", order: 4 },
  ]);
  const OWN = ["alice", "BUY 5 YES @ 0.5"] as const;
  it.each<[string, MarketTerms["selfTrade"], who: string, order: string, Tamper, text: string]>([
    [
      "trades with it under the policy allow",
      "allow",
      ...OWN,
      becoming("SELF_TRADE"),
      `SELF_TRADE, expected 5 @ 0.5 COMPLEMENTARY ${FROM_ALICE}`,
    ],
    [
      "is not the one that is canceled under cancel-maker",
      "cancel-maker",
      ...OWN,
      becoming("SELF_TRADE"),
      `SELF_TRADE, expected the cancel of ${ALICE}, which has 10 open`,
    ],
    [
      "does not end orders of others",
      "cancel-maker",
      "carol",
      "BUY 5 YES @ 0.4",
      canceledMaker,
      `${ALICE} is canceled, expected it to rest`,
    ],
    [
      "is canceled alone under cancel-taker",
      "cancel-taker",
      ...OWN,
      canceledMaker,
      `${ALICE} is canceled, expected SELF_TRADE`,
    ],
    [
      "goes no further under cancel-both",
      "cancel-both",
      ...OWN,
      canceledAndRests,
      "rests, expected SELF_TRADE",
    ],
  ])("%s", (_rule, selfTrade = "allow", who, order, tamper, text) => {
    expect(brokenRuleOf(`${who} ${order}`, tamper, { selfTrade })).toBe(
      `the self-trade policy holds: order 4 of ${who} (${order}) GTC with 5 open: ${text}`,
    );
    expect(brokenRuleOf(`${who} ${order}`, sound, { selfTrade })).toBeNull();
  });
});

describe("after each command", () => {
  it("the reserved amount of an account equals the maximum cost of its orders", () => {
    const { exchange, watcher } = watched();
    const { collateral } = exchange.state.accounts.get(5);
    collateral.reserved = money(collateral.reserved + 1_000_000);
    exchange.exchange.submit(exchange.command("alice SELL 1 YES @ 0.7"));
    expect(watcher.broken).toBeNull();
    exchange.exchange.submit(exchange.command("carol BUY 1 YES @ 0.4"));
    expect(watcher.broken).toEqual({
      name: "reserved = what live orders may cost",
      text: "carol has 1.4 USDC reserved, expected 0.4 USDC",
    });
  });

  it("the matched size of an order is the sum of its fills", () => {
    const { exchange, watcher } = watched();
    exchange.state.orders.get(1).matched = size(100);
    exchange.exchange.submit(exchange.command("carol BUY 2 YES @ 0.5"));
    expect(watcher.broken).toEqual({
      name: "an order's matched size = sum of its fills",
      text: "order 1 of alice (SELL 10 YES @ 0.5) has matched 3, expected 2",
    });
  });

  it("only the first broken rule is reported", () => {
    const { exchange, watcher } = watched();
    exchange.state.orders.get(1).matched = size(100);
    exchange.exchange.submit(exchange.command("carol BUY 2 YES @ 0.5"));
    const first = watcher.broken;
    exchange.exchange.submit(exchange.command("carol BUY 2 YES @ 0.5"));
    expect(watcher.broken).toBe(first);
  });
});
