import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tradeStatus } from "../src/core/chain/settlement.ts";
import { emptyWorld, openWorld } from "../src/world/open-world.ts";
import type { World } from "../src/world/world.ts";
import { readWorld } from "../src/world/world-file.ts";
import { SettlementFloor } from "./core/chain/settlement-floor.ts";
import { START } from "./support/exchange.ts";
import { TINY_WORLD } from "./support/http.ts";

const tiny = readWorld(readFileSync(TINY_WORLD, "utf8"));
const [first] = tiny.flow;
/** The same, with a trade in the last moment before it opens: its first trader buys from itself. */
const busy: World = {
  ...tiny,
  flow: [...tiny.flow, [-1, first?.[1] ?? 0, 0, "BUY", "YES", 0.99, 50, "FAK"]],
};

describe.each(["auto", "manual", "instant"] as const)(
  "a world that opens with settlement %s",
  (settlement) => {
    const opened = (world: World): SettlementFloor => {
      const floor = new SettlementFloor({ settlement, seed: world.seed });
      openWorld(floor.exchange, world, START);
      return floor;
    };

    test("has nothing of its history left to settle: a fault befalls what comes next", () => {
      const floor = opened(busy);
      expect(floor.state.trades.size).toBeGreaterThan(20);
      expect(floor.state.trades.get(floor.state.trades.size).at).toBe(START - 1);
      expect(new Set([...floor.state.trades].map((trade) => tradeStatus(floor.state, trade)))).toEqual(
        new Set(["CONFIRMED"]),
      );
      expect(floor.exchange.nextDueAt).toBe(null);
    });

    test("has mined no block when it had no trades", () => {
      expect(opened(emptyWorld("test")).head).toBe(0);
    });
  },
);
