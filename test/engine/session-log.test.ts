import { expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import { Exchange, type Snapshot } from "../../src/engine/exchange.ts";
import { SessionLog } from "../../src/engine/journal.ts";
import { ARENA } from "../core/properties/moves.ts";
import { addressOf } from "../support/commands.ts";
import { START } from "../support/exchange.ts";
import { rowsOf } from "../support/table.ts";

/** An exchange whose opening derived keys for `world`, and the log of its session. */
function opened(maximum?: number): { exchange: Exchange; log: SessionLog } {
  const log = new SessionLog(maximum);
  const exchange = new Exchange(ARENA, START, log);
  derive(exchange, "world");
  log.begin();
  return { exchange, log };
}

/** Submits the shortest command that is always accepted. */
const derive = (exchange: Exchange, name: string): void =>
  expect(exchange.submit({ kind: "deriveCredentials", address: addressOf(name) }).ok).toBe(true);

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

/** Returns the names that derived keys, in order. */
function derived({ entries }: SessionLog): string {
  if (entries === null) return "too many";
  const names = entries.map(({ command }) =>
    ["world", "alice", "bob", "carol", "dave"].find(
      (name) => command.kind === "deriveCredentials" && command.address === addressOf(name),
    ),
  );
  return names.join(" ") || "nothing";
}

/**
 * A rule, the maximum, and steps: names that derive keys, snapshots that are kept and restored by number, a restart, the begin
 * of a session. Then what is logged at each `?`.
 */
const STEPS = rowsOf(`
follows the exchange to an earlier snapshot, and to a later one | 9 | keep alice keep bob carol keep restore-2 dave ? restore-3 ? restore-1 ? | alice dave, alice bob carol, nothing
is empty after a restart, and does not log the commands that open the world again | 9 | alice restart world ? begin bob ? | nothing, bob
drops all commands above the maximum, until a snapshot with fewer is restored | 2 | alice keep bob ? carol ? dave ? restore-1 ? | alice bob, too many, too many, alice
`);

it.each(STEPS)("%s", (_rule, maximum, steps = "", expected) => {
  const { exchange, log } = opened(Number(maximum));
  const kept: Snapshot[] = [];
  const logged: string[] = [];
  for (const step of steps.split(" ")) {
    const [verb = "", number] = step.split("-");
    if (verb === "?") logged.push(derived(log));
    else if (verb === "keep") kept.push(exchange.snapshot());
    else if (verb === "restore") exchange.restore(kept[Number(number) - 1] as Snapshot);
    else if (verb === "restart") exchange.restart(START);
    else if (verb === "begin") log.begin();
    else derive(exchange, verb);
  }
  expect(logged.join(", ")).toBe(expected);
});
