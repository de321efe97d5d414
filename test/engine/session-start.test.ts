import { expect, it } from "vitest";
import { tokenIdIn } from "../../src/core/market.ts";
import { millis, price, size } from "../../src/core/units.ts";
import { addressOf } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { openOn } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const HOUR_MS = 3_600_000;

it("a session in a resumed directory includes what became due while the program was stopped", async () => {
  const disk = new SimulatedDisk();
  let wall = Date.UTC(2026, 0, 1);
  const open = () => openOn(disk, { clock: { mode: "real" } }, [], () => wall);
  const first = await open();
  takeSteps(first, 12);
  const { state, now } = first.exchange;
  const order = {
    kind: "placeOrder",
    address: addressOf("ann"),
    tokenId: tokenIdIn(state.markets.get(1), "YES"),
  } as const;
  const terms = { side: "BUY", price: price(4_000), size: size(100), orderType: "GTD" } as const;
  expect(first.exchange.submit({ ...order, ...terms, expiration: millis(now + 60_000) }).ok).toBe(true);
  await first.close();
  wall += HOUR_MS;
  const { exchange, session, atSessionStart, close } = await open();
  const entries = session.entries ?? [];
  expect(entries.map(({ command }) => command.kind)).toEqual(["expireOrder"]);
  const again = atSessionStart();
  for (const entry of entries) again.replay(entry);
  expect([again.sequence, again.hash]).toEqual([exchange.sequence, exchange.hash]);
  await close();
});
