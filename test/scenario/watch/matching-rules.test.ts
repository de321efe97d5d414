import { afterEach, describe, expect, it, vi } from "vitest";
import type { Command, CommandOf, Stamped } from "../../../src/core/commands.ts";
import type { DomainEvent, EventOf } from "../../../src/core/events.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import type { State } from "../../../src/core/state.ts";
import type { CancelReason } from "../../../src/core/terms.ts";
import { money, price, size } from "../../../src/core/units.ts";
import { FillWatcher } from "../../../src/scenario/watch/fill-watcher.ts";
import type { MarketTerms } from "../../support/commands.ts";
import { openFloor, type TestExchange } from "../../support/exchange.ts";

type Decide = (state: State, stamped: Stamped) => Decision;
/** How the exchange decides otherwise than it should. */
type Tamper = (decide: Decide, state: State, stamped: Stamped) => Decision;

const planted = vi.hoisted(() => ({ tamper: null as Tamper | null }));

vi.mock(import("../../../src/core/decide.ts"), async (load) => {
  const { decide } = await load();
  return {
    decide: (state, stamped) =>
      planted.tamper === null ? decide(state, stamped) : planted.tamper(decide, state, stamped),
  };
});

afterEach(() => {
  planted.tamper = null;
});

/** Two offers at 0.5 and one at 0.6, and who watches what comes next. */
function watched(terms: MarketTerms = {}): { floor: TestExchange; watcher: FillWatcher } {
  const floor = openFloor({ selfTrade: "allow", ...terms });
  floor.send("alice SELL 10 YES @ 0.5", "bob SELL 10 YES @ 0.5", "bob SELL 10 YES @ 0.6");
  const names = ["", "faucet", "fees", "alice", "bob", "carol"];
  return { floor, watcher: new FillWatcher(floor.exchange, (account) => names[account] ?? "") };
}

/** What the watcher says of an order that is decided otherwise than it should be. */
function said(sentence: string, tamper: Tamper, terms?: MarketTerms): string | null {
  planted.tamper = null;
  const { floor, watcher } = watched(terms);
  planted.tamper = tamper;
  expect(floor.exchange.submit(floor.command(sentence)).ok).toBe(true);
  const { broken } = watcher;
  return broken === null ? null : `${broken.name}: ${broken.text}`;
}

const withEvents =
  (change: (events: readonly DomainEvent[]) => readonly DomainEvent[]): Tamper =>
  (decide, state, stamped) => {
    const decision = decide(state, stamped);
    return decision.ok ? { ...decision, events: [...change(decision.events)] } : decision;
  };

/** Another fill than the one that there should be. */
const withFill = (fill: Partial<EventOf<"orderTraded">>): Tamper =>
  withEvents((events) =>
    events.map((event) => (event.kind === "orderTraded" ? { ...event, ...fill } : event)),
  );

/** As if the order were of another type, which it says it is not. */
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

/** The order comes, and that becomes of it. */
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

describe("a fill", () => {
  it.each<[string, string, Tamper, string]>([
    [
      "is of who came first at its price",
      "carol BUY 5 YES @ 0.6",
      withFill({ maker: 2 }),
      "orders trade by price, then by arrival: order 4 takes 5 @ 0.5 from order 2, expected order 1 of alice (SELL 10 YES @ 0.5), which has 10 open: it came earlier at this price than order 2 of bob (SELL 10 YES @ 0.5)",
    ],
    [
      "is at the best price",
      "carol BUY 5 YES @ 0.6",
      withFill({ maker: 3, price: price(6000) }),
      "orders trade by price, then by arrival: order 4 takes 5 @ 0.6 from order 3, expected order 1 of alice (SELL 10 YES @ 0.5), which has 10 open: its price is better than order 3 of bob (SELL 10 YES @ 0.6)",
    ],
    [
      "is at the maker's own price",
      "carol BUY 5 YES @ 0.6",
      withFill({ price: price(5100) }),
      "a fill is at the maker's price, of all that both have open: order 4 of carol (BUY 5 YES @ 0.6) takes 5 @ 0.51 COMPLEMENTARY from order 1 of alice (SELL 10 YES @ 0.5), expected 5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "is of all that both have open",
      "carol BUY 5 YES @ 0.6",
      withFill({ size: size(300) }),
      "a fill is at the maker's price, of all that both have open: order 4 of carol (BUY 5 YES @ 0.6) takes 3 @ 0.5 COMPLEMENTARY from order 1 of alice (SELL 10 YES @ 0.5), expected 5 @ 0.5 COMPLEMENTARY",
    ],
    [
      "merges where two sellers meet",
      "carol SELL 5 NO @ 0.4",
      withFill({ matchType: "MINT" }),
      "a fill is at the maker's price, of all that both have open: order 4 of carol (SELL 5 NO @ 0.4) takes 5 @ 0.5 MINT from order 1 of alice (SELL 10 YES @ 0.5), expected 5 @ 0.5 MERGE",
    ],
  ])("%s", (_rule, sentence, tamper, text) => {
    expect(said(sentence, tamper)).toBe(text);
    expect(said(sentence, sound)).toBeNull();
  });
});

describe("an order that comes", () => {
  it.each<[string, string, Tamper, string]>([
    [
      "is filled whole or not at all when it is FOK",
      "carol BUY 50 YES @ 0.6 FOK",
      decidedAs("FAK"),
      "order 4 of carol (BUY 50 YES @ 0.6) FOK with 20 open: FAK_REMAINDER, expected all of it to be filled, or nothing",
    ],
    [
      "is not killed when it is FOK and there is enough",
      "carol BUY 30 YES @ 0.6 FOK",
      becoming("FOK_UNFILLED"),
      "order 4 of carol (BUY 30 YES @ 0.6) FOK with 30 open: FOK_UNFILLED, expected it to meet order 1 of alice (SELL 10 YES @ 0.5), which has 10 open",
    ],
    [
      "does not rest when it is FAK",
      "carol BUY 50 YES @ 0.6 FAK",
      decidedAs("GTC"),
      "order 4 of carol (BUY 50 YES @ 0.6) FAK with 20 open: rests, expected FAK_REMAINDER",
    ],
    [
      "rests when it is GTC",
      "carol BUY 50 YES @ 0.6",
      decidedAs("FAK"),
      "order 4 of carol (BUY 50 YES @ 0.6) GTC with 20 open: FAK_REMAINDER, expected it to rest",
    ],
    [
      "trades before it rests",
      "carol BUY 5 YES @ 0.5",
      becoming("rests"),
      "order 4 of carol (BUY 5 YES @ 0.5) GTC with 5 open: rests, expected it to meet order 1 of alice (SELL 10 YES @ 0.5), which has 10 open",
    ],
    [
      "rests or ends",
      "carol BUY 5 YES @ 0.4",
      becoming("nothing"),
      "order 4 of carol (BUY 5 YES @ 0.4) GTC with 5 open: neither rests nor ends, expected it to rest",
    ],
  ])("%s", (_rule, sentence, tamper, text) => {
    expect(said(sentence, tamper)).toBe(`an order rests or ends as its type says: ${text}`);
    expect(said(sentence, sound)).toBeNull();
  });
});

describe("an order that meets one of its own account", () => {
  const canceledMaker = withEvents((events) => [
    ...events.slice(0, 1),
    { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
    ...events.slice(1),
  ]);
  it.each<[string, MarketTerms["selfTrade"], string, Tamper, string]>([
    [
      "trades with it under the policy allow",
      "allow",
      "alice BUY 5 YES @ 0.5",
      becoming("SELF_TRADE"),
      "order 4 of alice (BUY 5 YES @ 0.5) GTC with 5 open: SELF_TRADE, expected it to meet order 1 of alice (SELL 10 YES @ 0.5), which has 10 open",
    ],
    [
      "is not the one that is canceled under cancel-maker",
      "cancel-maker",
      "alice BUY 5 YES @ 0.5",
      becoming("SELF_TRADE"),
      "order 4 of alice (BUY 5 YES @ 0.5) GTC with 5 open: SELF_TRADE, expected it to meet order 1 of alice (SELL 10 YES @ 0.5), which has 10 open",
    ],
    [
      "does not end orders of others",
      "cancel-maker",
      "carol BUY 5 YES @ 0.4",
      canceledMaker,
      "order 1 of alice (SELL 10 YES @ 0.5) is canceled for order 4 of carol (BUY 5 YES @ 0.4), expected not: it is not the next to trade",
    ],
    [
      "is canceled alone under cancel-taker",
      "cancel-taker",
      "alice BUY 5 YES @ 0.5",
      canceledMaker,
      "order 1 of alice (SELL 10 YES @ 0.5) is canceled for order 4 of alice (BUY 5 YES @ 0.5), expected not: the policy is cancel-taker",
    ],
    [
      "goes no further under cancel-both",
      "cancel-both",
      "alice BUY 5 YES @ 0.5",
      (decide, state, { at, command }) =>
        withEvents((events) => [
          ...events.filter(({ kind }) => kind === "orderPlaced"),
          { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
          { kind: "orderRested", order: 4 },
        ])(decide, state, { at, command }),
      "order 4 of alice (BUY 5 YES @ 0.5) GTC with 5 open: rests, expected SELF_TRADE",
    ],
  ])("%s", (_rule, selfTrade = "allow", sentence, tamper, text) => {
    expect(said(sentence, tamper, { selfTrade })).toBe(`the self-trade policy holds: ${text}`);
    expect(said(sentence, sound, { selfTrade })).toBeNull();
  });
});

describe("after each command", () => {
  it("what the account of an order has reserved is what its orders may cost", () => {
    const { floor, watcher } = watched();
    const { collateral } = floor.state.accounts.get(5);
    collateral.reserved = money(collateral.reserved + 1_000_000);
    floor.exchange.submit(floor.command("alice SELL 1 YES @ 0.7"));
    expect(watcher.broken).toBeNull();
    floor.exchange.submit(floor.command("carol BUY 1 YES @ 0.4"));
    expect(watcher.broken).toEqual({
      name: "reserved = what live orders may cost",
      text: "carol has 1.4 USDC reserved, expected 0.4 USDC",
    });
  });

  it("what an order has matched is the sum of its fills", () => {
    const { floor, watcher } = watched();
    floor.state.orders.get(1).matched = size(100);
    floor.exchange.submit(floor.command("carol BUY 2 YES @ 0.5"));
    expect(watcher.broken).toEqual({
      name: "an order's matched size = sum of its fills",
      text: "order 1 of alice (SELL 10 YES @ 0.5) has matched 3, expected 2",
    });
  });

  it("the first rule that does not hold stays the one that is told", () => {
    const { floor, watcher } = watched();
    floor.state.orders.get(1).matched = size(100);
    floor.exchange.submit(floor.command("carol BUY 2 YES @ 0.5"));
    const first = watcher.broken;
    floor.exchange.submit(floor.command("carol BUY 2 YES @ 0.5"));
    expect(watcher.broken).toBe(first);
  });
});
