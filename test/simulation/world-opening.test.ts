import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tradeStatus } from "../../src/core/chain/settlement.ts";
import { parseIso, toIso } from "../../src/core/time.ts";
import { price, size } from "../../src/core/units.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { datedEnd, withEndDate, withoutEndDate } from "../../src/simulation/event-story.ts";
import { emptyWorld, openWorld } from "../../src/simulation/opening.ts";
import { readWorld, type World, type WorldEvent } from "../../src/simulation/world.ts";
import {
  packOrders,
  type WorldOrder,
  type WorldRow,
  worldOrders,
} from "../../src/simulation/world-orders.ts";
import { SettlementExchange } from "../core/chain/settlement-exchange.ts";
import { START } from "../support/exchange.ts";
import { TINY_WORLD } from "../support/http.ts";

const tiny = readWorld(readFileSync(TINY_WORLD, "utf8"));
const orders = [...worldOrders(tiny)];
/** The same, with a self-trade of its first trader right before the start. */
const busy: World = { ...tiny, format: "clobsim-world/2", flow: packOrders([...orders, buyingAtLast()]) };

function buyingAtLast(): WorldOrder {
  const trader = orders[0]?.trader ?? 0;
  const terms = { side: "BUY", outcome: "YES", orderType: "FAK" } as const;
  return { at: -1, trader, market: 0, ...terms, price: price(9900), size: size(5000) };
}

describe.each(["auto", "manual", "instant"] as const)(
  "a world that opens with settlement %s",
  (settlement) => {
    const opened = (world: World): SettlementExchange => {
      const exchange = new SettlementExchange({ settlement, seed: world.seed });
      openWorld(exchange.exchange, world, START);
      return exchange;
    };

    test("has no pending trades: a fault affects the next one", () => {
      const exchange = opened(busy);
      expect(exchange.state.trades.size).toBeGreaterThan(20);
      expect(exchange.state.trades.get(exchange.state.trades.size).at).toBe(START - 1);
      expect(new Set([...exchange.state.trades].map((trade) => tradeStatus(exchange.state, trade)))).toEqual(
        new Set(["CONFIRMED"]),
      );
      expect(exchange.exchange.nextDueAt).toBe(null);
    });

    test("has no blocks without trades", () => {
      expect(opened(emptyWorld("test")).head).toBe(0);
    });
  },
);

describe("a world of an earlier version", () => {
  const hashOf = (world: World): string => {
    const exchange = new SettlementExchange({ seed: world.seed });
    openWorld(exchange.exchange, world, START);
    return contentHash(exchange.state);
  };

  test("opens equally from rows of decimals and from packed integers", () => {
    const rows = orders.map((order): WorldRow => {
      const { at, trader, market, side, outcome, price, size, orderType } = order;
      return [at, trader, market, side, outcome, price / 10_000, size / 100, orderType];
    });
    expect(hashOf({ ...tiny, format: "clobsim-world/1", flow: rows })).toBe(hashOf(tiny));
  });

  test("ends at midnight UTC if it has no period, and keeps its texts", () => {
    const { endOf: _, ...event } = tiny.events[0] as WorldEvent;
    const old: World = {
      ...emptyWorld("test"),
      events: [{ ...event, title: "By the 5th?", endsInDays: 4, markets: [] }],
    };
    const exchange = new SettlementExchange();
    openWorld(exchange.exchange, old, START);
    const [opened] = [...exchange.state.events];
    expect(opened?.title).toBe("By the 5th?");
    expect(toIso(opened?.endDate ?? START)).toBe("2026-01-05T00:00:00.000Z");
  });
});

describe("the end of an event", () => {
  test.each([
    ["2026-01-01", 4, "day", "2026-01-05"],
    ["2026-01-01", 8, "month", "2026-01-31"],
    ["2026-11-22", 9, "month", "2026-12-31"],
    ["2028-01-30", 5, "month", "2028-02-29"],
    ["2027-01-30", 5, "month", "2027-02-28"],
    ["2026-01-01", 25, "quarter", "2026-03-31"],
    ["2026-05-17", 80, "quarter", "2026-09-30"],
    ["2026-11-22", 30, "quarter", "2026-12-31"],
    ["2026-11-22", 60, "year", "2027-12-31"],
    ["9999-12-31", 1, "month", "9999-12-31"],
  ] as const)(
    "that opens on %s and ends %i days later, to the end of the %s, is on %s",
    (start, days, period, date) => {
      const at = parseIso(`${start}T15:30Z`) ?? START;
      const end = datedEnd(at, { endsInDays: days, endOf: period });
      const { endDate } = end;
      expect(toIso(endDate)).toMatch(`${date}T23:59:59`);
      expect(endDate).toBeGreaterThan(at);
      const [year, month, day] = date.split("-").map(Number);
      const name = new Date(Date.UTC(2000, (month ?? 0) - 1)).toLocaleString("en", {
        month: "long",
        timeZone: "UTC",
      });
      expect(withEndDate("Now? By {endDate}, {endDate}", end)).toBe(
        `Now? By ${name} ${day}, ${year}, ${name} ${day}, ${year}`,
      );
    },
  );

  test.each([
    ["Will it rain by {endDate}?", "Will it rain?"],
    ["Rain on {endDate}", "Rain"],
    ["Will it rain?", "Will it rain?"],
  ])("is removed from a name: %j", (text, name) => {
    expect(withoutEndDate(text)).toBe(name);
  });
});
