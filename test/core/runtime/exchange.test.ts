import { describe, expect, it } from "vitest";
import { money, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import type { Entry } from "../../../src/engine/journal.ts";
import { contentHash } from "../../../src/engine/state-hash.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { openFloor, START } from "../../support/exchange.ts";

const CONFIG = {
  seed: "test",
  faucet: { collateral: money(0), everyMarket: size(0) },
  credentials: "rotate",
  ...UNSETTLED,
} as const;

describe("watching an exchange", () => {
  it("reports each accepted command once, after it is applied, with its sequence number and time", () => {
    const floor = openFloor();
    const { sequence } = floor.exchange;
    const received: unknown[] = [];
    floor.exchange.watch((number, at, events) => {
      received.push([number - sequence, at - START, events.map(({ kind }) => kind), floor.order(1)]);
    });
    floor.advance("5ms");
    floor.send("alice BUY 1 YES @ 0.5");
    floor.try("nobody BUY 1 YES @ 0.5");
    floor.cancel("alice", 1);
    expect(received).toEqual([
      [1, 5, ["orderPlaced", "orderRested"], "LIVE 0/1"],
      [2, 5, ["orderCanceled"], "CANCELED 0/1 USER"],
    ]);
  });

  it("reports timed commands", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.5 GTD 1s");
    const received: unknown[] = [];
    floor.exchange.watch((_sequence, at, events) => void received.push([at - START, events]));
    floor.advance("1m");
    expect(received).toEqual([[1000, [{ kind: "orderExpired", order: 1 }]]]);
  });

  it("ends for one watcher when its returned function is called", () => {
    const floor = openFloor();
    const received: string[] = [];
    const unwatch = floor.exchange.watch(() => void received.push("one"));
    floor.exchange.watch(() => void received.push("other"));
    floor.send("alice BUY 1 YES @ 0.5");
    unwatch();
    unwatch();
    floor.send("alice BUY 1 YES @ 0.5");
    expect(received).toEqual(["one", "other", "other"]);
  });
});

describe("the journal of an exchange", () => {
  it("receives each accepted command, numbered without gaps, before it is applied", () => {
    const entries: Entry[] = [];
    const applied: number[] = [];
    const exchange: Exchange = new Exchange(CONFIG, START, {
      append: (entry) => {
        entries.push(entry);
        applied.push(exchange.state.events.size);
      },
    });
    for (const slug of ["one", "one", "two"]) exchange.submit(eventCommand(slug));
    exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") });
    expect(entries.map(({ sequence, at, command }) => [sequence, at, command])).toEqual([
      [1, START, eventCommand("one")],
      [2, START, eventCommand("two")],
    ]);
    expect(applied).toEqual([0, 1]);
  });

  it("that throws aborts the command without a change, and accepts the next one", () => {
    let isFull = true;
    const exchange = new Exchange(CONFIG, START, {
      append: () => {
        if (isFull) throw new Error("disk full");
      },
    });
    const { hash } = exchange;
    expect(() => exchange.submit(eventCommand("one"))).toThrow("disk full");
    expect([exchange.hash, exchange.sequence]).toEqual([hash, 0]);
    isFull = false;
    expect(exchange.submit(eventCommand("one")).ok).toBe(true);
    expect(exchange.sequence).toBe(1);
  });
});

describe("the hash of a state", () => {
  const hashAfter = (...steps: readonly ((floor: ReturnType<typeof openFloor>) => void)[]): string => {
    const floor = openFloor();
    for (const step of steps) step(floor);
    return floor.exchange.hash;
  };
  const place =
    (...orders: string[]) =>
    (floor: ReturnType<typeof openFloor>): void =>
      void floor.send(...orders);

  it("has a version, and is equal for equal histories", () => {
    const hash = hashAfter(place("alice BUY 1 YES @ 0.5", "bob SELL 3 YES @ 0.5"));
    expect(hash).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(hashAfter(place("alice BUY 1 YES @ 0.5", "bob SELL 3 YES @ 0.5"))).toBe(hash);
  });

  it("differs if a price, the order of commands, a time or the seed differs", () => {
    const later = (floor: ReturnType<typeof openFloor>): void => floor.advance("1ms");
    const hashes = [
      hashAfter(),
      hashAfter(place("alice BUY 1 YES @ 0.5", "bob BUY 1 YES @ 0.4")),
      hashAfter(place("alice BUY 1 YES @ 0.5", "bob BUY 1 YES @ 0.3")),
      hashAfter(place("bob BUY 1 YES @ 0.4", "alice BUY 1 YES @ 0.5")),
      hashAfter(place("alice BUY 1 YES @ 0.5"), later, place("bob BUY 1 YES @ 0.4")),
      new Exchange({ ...CONFIG, seed: "another" }, START).hash,
      new Exchange(CONFIG, START).hash,
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("is unchanged by refused commands, commands without events, and time in which nothing is due", () => {
    const floor = openFloor();
    const { hash } = floor.exchange;
    expect(floor.exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") }).ok).toBe(true);
    floor.advance("1h");
    expect(floor.exchange.hash).toBe(hash);
  });

  it("is computed from the history, without reading the state", () => {
    const { exchange } = openFloor();
    const { hash } = exchange;
    const content = contentHash(exchange.state);
    Object.assign(exchange.state, { issued: 99 });
    expect([exchange.hash, contentHash(exchange.state) === content]).toEqual([hash, false]);
  });
});

describe("restarting an exchange", () => {
  it("removes everything except the seed, and begins at the new start", () => {
    const floor = openFloor();
    const fresh = new Exchange(CONFIG, START);
    floor.send("alice BUY 1 YES @ 0.5 GTD 1s");
    floor.advance("1h");
    floor.exchange.restart(START);
    expect(floor.exchange).toMatchObject({ now: START, sequence: 0, hash: fresh.hash, nextDueAt: null });
  });

  it("and repeating the same commands gives the same state", () => {
    const floor = openFloor();
    const again = openFloor();
    again.exchange.restart(START);
    const commands = [
      eventCommand("one"),
      { kind: "deriveCredentials", address: addressOf("alice") },
    ] as const;
    for (const { exchange } of [floor, again]) {
      exchange.restart(START);
      for (const command of commands) exchange.submit(command);
    }
    expect(again.exchange.hash).toBe(floor.exchange.hash);
  });

  it("keeps the watchers", () => {
    const floor = openFloor();
    const received: number[] = [];
    floor.exchange.watch((sequence) => void received.push(sequence));
    floor.exchange.restart(START);
    floor.exchange.submit(eventCommand("one"));
    expect(received).toEqual([1]);
  });
});

describe("two exchanges in one process", () => {
  it("are independent", () => {
    const [one, two] = [openFloor(), openFloor()];
    const { hash } = two.exchange;
    one.send("alice BUY 1 YES @ 0.5 GTD 1s");
    one.advance("1h");
    expect(two.exchange).toMatchObject({ hash, now: START });
    expect(two.exchange.submit(two.command("alice BUY 1 YES @ 0.5")).ok).toBe(true);
  });
});
