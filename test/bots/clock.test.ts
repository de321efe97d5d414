import { expect, it } from "vitest";
import { Clock } from "../../src/engine/clock.ts";
import { elapsed, HOUR_MS, openFloor } from "./floor.ts";

it("a scaled clock that agents cannot follow goes as fast as it can, and holds nobody up", () => {
  const { exchange } = openFloor();
  let wall = 0;
  let looks = 0;
  // Each look takes a millisecond, and is due every ten.
  exchange.agents = {
    nextAfter: (now) => elapsed(Math.floor((now - elapsed(0)) / 10) * 10 + 10),
    act: () => {
      wall += 1;
      looks += 1;
      return [];
    },
  };
  const clock = new Clock(exchange, { mode: "scaled", rate: 1_000 }, () => wall);
  clock.stop();
  wall += 1_000;
  clock.settle();
  expect(looks).toBeLessThan(30);
  expect(exchange.now).toBe(elapsed(looks * 10));
  const before = looks;
  wall += 1;
  clock.settle();
  expect(looks - before).toBeLessThan(30);
  exchange.agents = null;
  wall += HOUR_MS;
  clock.settle();
  expect(exchange.now).toBeGreaterThan(elapsed(1_000 * HOUR_MS));
});
