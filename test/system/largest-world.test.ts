import { expect, it } from "vitest";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import { ORDER_WIDTH } from "../../src/simulation/world-orders.ts";

it("the largest generated world has less than a billion USDC, including the shares of all markets", async () => {
  const world = await generateWorld({ seed: "7", markets: 20_000 });
  const count = world.events.flatMap(({ markets }) => markets).length;
  const issued = world.traders.reduce((sum, { collateral, shares }) => sum + collateral + shares * count, 0);
  expect(count).toBe(20_000);
  expect(world.flow.length / ORDER_WIDTH).toBeGreaterThan(24 * count);
  expect(issued).toBeLessThan(1e9);
});
