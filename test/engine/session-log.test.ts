import { expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { SessionLog } from "../../src/engine/journal.ts";
import { ARENA } from "../core/properties/moves.ts";
import { addressOf } from "../support/commands.ts";
import { START } from "../support/exchange.ts";

/** An exchange whose opening derived keys for `world`, and the log of its session. */
function opened(maximum?: number): { exchange: Exchange; log: SessionLog } {
  const log = new SessionLog(maximum);
  const exchange = new Exchange(ARENA, START, log);
  derive(exchange, "world");
  log.begin();
  return { exchange, log };
}

/** Submits the shortest command that is always accepted, for each name. */
const derive = (exchange: Exchange, ...names: readonly string[]): void => {
  for (const name of names) {
    const { ok } = exchange.submit({ kind: "deriveCredentials", address: addressOf(name) });
    expect(ok).toBe(true);
  }
};

/** Returns the names that derived keys, in order; null if there are too many commands. */
const actors = ({ entries }: SessionLog): (string | undefined)[] | null =>
  entries?.map(({ command }) =>
    ["world", "alice", "bob", "carol", "dave"].find(
      (name) => command.kind === "deriveCredentials" && command.address === addressOf(name),
    ),
  ) ?? null;

it("logs accepted commands in order, with time and sequence", () => {
  const { exchange, log } = opened();
  derive(exchange, "alice");
  exchange.advanceTo(millis(START + 500));
  derive(exchange, "bob");
  expect(log.entries).toEqual([
    { sequence: 2, at: START, command: { kind: "deriveCredentials", address: addressOf("alice") } },
    { sequence: 3, at: START + 500, command: { kind: "deriveCredentials", address: addressOf("bob") } },
  ]);
});

it("logs neither the opening nor commands that are refused or change nothing", () => {
  const { exchange, log } = opened();
  exchange.submit({ kind: "cancelOrder", address: addressOf("alice"), orderId: "none" });
  exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") });
  expect(log.entries).toEqual([]);
});

it("follows the exchange to an earlier snapshot, and to a later one", () => {
  const { exchange, log } = opened();
  const empty = exchange.snapshot();
  derive(exchange, "alice");
  const early = exchange.snapshot();
  derive(exchange, "bob", "carol");
  const late = exchange.snapshot();
  exchange.restore(early);
  derive(exchange, "dave");
  expect(actors(log)).toEqual(["alice", "dave"]);
  exchange.restore(late);
  expect(actors(log)).toEqual(["alice", "bob", "carol"]);
  exchange.restore(empty);
  expect(actors(log)).toEqual([]);
});

it("is empty after a restart, and does not log the commands that open the world again", () => {
  const { exchange, log } = opened();
  derive(exchange, "alice");
  exchange.restart(START);
  derive(exchange, "world");
  expect(actors(log)).toEqual([]);
  log.begin();
  derive(exchange, "bob");
  expect(actors(log)).toEqual(["bob"]);
});

it("drops all commands above the maximum, until a snapshot with fewer is restored", () => {
  const { exchange, log } = opened(2);
  derive(exchange, "alice");
  const one = exchange.snapshot();
  derive(exchange, "bob");
  expect(actors(log)).toEqual(["alice", "bob"]);
  derive(exchange, "carol");
  expect(actors(log)).toBeNull();
  derive(exchange, "dave");
  expect(actors(log)).toBeNull();
  exchange.restore(one);
  expect(actors(log)).toEqual(["alice"]);
});
