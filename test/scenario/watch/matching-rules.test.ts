import { afterEach, describe, expect, it, vi } from "vitest";
import { OPEN } from "../../../src/core/book/order-pool.ts";
import type { Command, CommandOf, Stamped } from "../../../src/core/commands.ts";
import type { DomainEvent } from "../../../src/core/events.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import type { State } from "../../../src/core/state.ts";
import type { CancelReason } from "../../../src/core/terms.ts";
import { money, price, size } from "../../../src/core/units.ts";
import { FillWatcher } from "../../../src/scenario/watch/fill-watcher.ts";
import type { MarketTerms } from "../../support/commands.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";
import { diffOf, ScenarioFolder } from "../run/scenario-folder.ts";

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
function brokenRuleOf(sentence: string, tamper: Tamper, terms: MarketTerms): string | null {
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
const withFill = (fill: Partial<DomainEvent<"orderTraded">>): Tamper =>
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

const wrongMaker = withFill({ maker: 2 });

const ALICE = "order 1 of alice (SELL 10 YES @ 0.5)";

/** What the exchange does wrong, by name. */
const DEFECTS: Readonly<Record<string, Tamper>> = {
  "maker 2": wrongMaker,
  "maker 3 at 0.6": withFill({ maker: 3, price: price(6000) }),
  "price 0.51": withFill({ price: price(5100) }),
  "size 3": withFill({ size: size(300) }),
  "as MINT": withFill({ matchType: "MINT" }),
  "decided as GTC": decidedAs("GTC"),
  "decided as FAK": decidedAs("FAK"),
  "killed, as unfilled": becoming("FOK_UNFILLED"),
  "canceled, as self-trade": becoming("SELF_TRADE"),
  "only rests": becoming("rests"),
  "only placed": becoming("nothing"),
  "cancels order 1 first": withEvents((events) => [
    ...events.slice(0, 1),
    { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
    ...events.slice(1),
  ]),
  "cancels order 1, then rests": withEvents((events) => [
    ...events.filter(({ kind }) => kind === "orderPlaced"),
    { kind: "orderCanceled", order: 1, reason: "SELF_TRADE" },
    { kind: "orderRested", order: 4 },
  ]),
};

/** A rule, the order of an account under a self-trade policy, what the exchange does wrong, and what is said of it. */
const RULES = `
orders trade by price, then by arrival
a fill matches the first order at its price | allow | carol | BUY 5 YES @ 0.6 GTC | maker 2 | 5 open: takes 5 @ 0.5 COMPLEMENTARY from order 2, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE
a fill is at the best price | allow | carol | BUY 5 YES @ 0.6 GTC | maker 3 at 0.6 | 5 open: takes 5 @ 0.6 COMPLEMENTARY from order 3, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE

a fill is at the maker's price, of all that both have open
a fill is at the maker's own price | allow | carol | BUY 5 YES @ 0.6 GTC | price 0.51 | 5 open: takes 5 @ 0.51 COMPLEMENTARY from order 1, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE
a fill is of all that both have open | allow | carol | BUY 5 YES @ 0.6 GTC | size 3 | 5 open: takes 3 @ 0.5 COMPLEMENTARY from order 1, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE
a fill merges where two sellers meet | allow | carol | SELL 5 NO @ 0.4 GTC | as MINT | 5 open: takes 5 @ 0.5 MINT from order 1, expected 5 @ 0.5 MERGE FROM_ALICE

an order rests or ends as its type says
an order is filled completely or not at all if it is FOK | allow | carol | BUY 50 YES @ 0.6 FOK | decided as FAK | 50 open: takes 10 @ 0.5 COMPLEMENTARY from order 1, expected FOK_UNFILLED
an order is not killed if it is FOK and there is enough | allow | carol | BUY 30 YES @ 0.6 FOK | killed, as unfilled | 30 open: FOK_UNFILLED, expected 10 @ 0.5 COMPLEMENTARY FROM_ALICE
an order does not rest if it is FAK | allow | carol | BUY 50 YES @ 0.6 FAK | decided as GTC | 20 open: rests, expected FAK_REMAINDER
an order rests if it is GTC | allow | carol | BUY 50 YES @ 0.6 GTC | decided as FAK | 20 open: FAK_REMAINDER, expected it to rest
an order trades before it rests | allow | carol | BUY 5 YES @ 0.5 GTC | only rests | 5 open: rests, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE
an order rests or ends | allow | carol | BUY 5 YES @ 0.4 GTC | only placed | 5 open: nothing more, expected it to rest

the self-trade policy holds
an order trades with one of its own account | allow | alice | BUY 5 YES @ 0.5 GTC | canceled, as self-trade | 5 open: SELF_TRADE, expected 5 @ 0.5 COMPLEMENTARY FROM_ALICE
the taker is not the one that is canceled | cancel-maker | alice | BUY 5 YES @ 0.5 GTC | canceled, as self-trade | 5 open: SELF_TRADE, expected the cancel of ALICE, which has 10 open
an order does not end orders of others | cancel-maker | carol | BUY 5 YES @ 0.4 GTC | cancels order 1 first | 5 open: ALICE is canceled, expected it to rest
the taker is canceled alone | cancel-taker | alice | BUY 5 YES @ 0.5 GTC | cancels order 1 first | 5 open: ALICE is canceled, expected SELF_TRADE
the taker goes no further | cancel-both | alice | BUY 5 YES @ 0.5 GTC | cancels order 1, then rests | 5 open: rests, expected SELF_TRADE
`;

const rules = RULES.trim()
  .split("\n\n")
  .flatMap((part) => {
    const [[name = ""] = [], ...rows] = rowsOf(part);
    return rows.map(([title = "", policy = "", who = "", order = "", defect = "", told = ""]) => {
      const said = told.replace("FROM_ALICE", "from ALICE, which has 10 open").replace("ALICE", ALICE);
      return {
        title,
        policy,
        who,
        order,
        defect,
        broken: `${name}: order 4 of ${who} (${order.slice(0, -4)}) ${order.slice(-3)} with ${said}`,
      };
    });
  });

it.each(rules)("$title, under $policy", ({ policy, who, order, defect, broken }) => {
  const terms = { selfTrade: policy as Required<MarketTerms>["selfTrade"] };
  expect(brokenRuleOf(`${who} ${order}`, DEFECTS[defect] as Tamper, terms)).toBe(broken);
  expect(brokenRuleOf(`${who} ${order}`, sound, terms)).toBeNull();
});

/** Changes records of the exchange before an order of carol, by what does not agree then. */
const CHANGES: readonly [rule: string, change: (state: State) => void, order: string, text: string][] = [
  [
    "reserved = what live orders may cost",
    ({ accounts }) => {
      const { collateral } = accounts.get(5);
      collateral.reserved = money(collateral.reserved + 1_000_000);
    },
    "BUY 1 YES @ 0.4",
    "carol has 1.4 USDC reserved, expected 0.4 USDC",
  ],
  [
    "an order's matched size = sum of its fills",
    ({ orders }) => void Object.assign(orders.get(1), { matched: size(100) }),
    "BUY 2 YES @ 0.5",
    `${ALICE} has matched 3, expected 2`,
  ],
  [
    "book levels = sum of live orders",
    ({ orders, pool }) => {
      pool.cells[orders.get(1).slot + OPEN] = 500;
    },
    "BUY 2 YES @ 0.5",
    `${ALICE} is LIVE, not in the book with 8 open, expected it there`,
  ],
];

describe("after each command", () => {
  it.each(CHANGES)("%s", (name, change, order, text) => {
    const { exchange, watcher } = watched();
    change(exchange.state);
    exchange.exchange.submit(exchange.command("alice SELL 1 YES @ 0.7"));
    expect(watcher.broken).toBeNull();
    exchange.exchange.submit(exchange.command(`carol ${order}`));
    const first = watcher.broken;
    expect(first).toEqual({ name, text });
    exchange.exchange.submit(exchange.command("carol BUY 2 YES @ 0.5"));
    expect(watcher.broken, "only the first broken rule is reported").toBe(first);
  });
});

const folder = new ScenarioFolder();

it.each([
  ["", "", 3],
  [" after a restored snapshot", "  - snapshot: s\n  - alice: BUY 1 YES @ 0.50\n  - restore: s\n", 6],
])("a fill that breaks a rule fails the step of a scenario%s", async (_when, before, step) => {
  planted.tamper = (decide, state, stamped) => {
    const { command } = stamped;
    const isWrong = command.kind === "placeOrder" && command.size === size(500);
    return isWrong ? wrongMaker(decide, state, stamped) : decide(state, stamped);
  };
  const failure = await folder.failure(`scenario: two offers
accounts: { alice: { USDC: 10 }, bob: { YES: 10 }, carol: { YES: 10 } }
steps:
  - bob: SELL 10 YES @ 0.50
  - carol: SELL 10 YES @ 0.50
${before}  - alice: BUY 5 YES @ 0.50
`);
  expect(failure.step).toBe(step);
  expect(diffOf(failure)[0]).toBe(
    "# orders trade by price, then by arrival: order 3 of alice (BUY 5 YES @ 0.5) GTC with 5 open: takes 5 @ 0.5 COMPLEMENTARY from order 2, expected 5 @ 0.5 COMPLEMENTARY from order 1 of bob (SELL 10 YES @ 0.5), which has 10 open",
  );
});
