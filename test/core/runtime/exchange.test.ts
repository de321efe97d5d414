import { describe, expect, it } from "vitest";
import { money, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import type { Entry } from "../../../src/engine/journal.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";

const CONFIG = {
  seed: "test",
  faucet: { collateral: money(0), everyMarket: size(0) },
  credentials: "rotate",
  ...UNSETTLED,
} as const;

describe("watching an exchange", () => {
  it("reports each accepted command once, after it is applied, with its sequence number and time", () => {
    const testExchange = openFundedExchange();
    const { sequence } = testExchange.exchange;
    const received: unknown[] = [];
    testExchange.exchange.watch((number, at, events) => {
      received.push([number - sequence, at - START, events.map(({ kind }) => kind), testExchange.order(1)]);
    });
    testExchange.advance("5ms");
    testExchange.send("alice BUY 1 YES @ 0.5");
    testExchange.try("nobody BUY 1 YES @ 0.5");
    testExchange.cancel("alice", 1);
    expect(received).toEqual([
      [1, 5, ["orderPlaced", "orderRested"], "LIVE 0/1"],
      [2, 5, ["orderCanceled"], "CANCELED 0/1 USER"],
    ]);
  });

  it("ends for one watcher when its returned function is called", () => {
    const testExchange = openFundedExchange();
    const received: string[] = [];
    const unwatch = testExchange.exchange.watch(() => void received.push("one"));
    testExchange.exchange.watch(() => void received.push("other"));
    testExchange.send("alice BUY 1 YES @ 0.5");
    unwatch();
    unwatch();
    testExchange.send("alice BUY 1 YES @ 0.5");
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
  const hashAfter = (
    ...steps: readonly ((testExchange: ReturnType<typeof openFundedExchange>) => void)[]
  ): string => {
    const testExchange = openFundedExchange();
    for (const step of steps) step(testExchange);
    return testExchange.exchange.hash;
  };
  const place =
    (...orders: string[]) =>
    (testExchange: ReturnType<typeof openFundedExchange>): void =>
      void testExchange.send(...orders);

  it("has a version, and is equal for equal histories", () => {
    const hash = hashAfter(place("alice BUY 1 YES @ 0.5", "bob SELL 3 YES @ 0.5"));
    expect(hash).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(hashAfter(place("alice BUY 1 YES @ 0.5", "bob SELL 3 YES @ 0.5"))).toBe(hash);
  });

  it("differs if a price, the order of commands, a time or the seed differs", () => {
    const later = (testExchange: ReturnType<typeof openFundedExchange>): void => testExchange.advance("1ms");
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
    const testExchange = openFundedExchange();
    const { hash } = testExchange.exchange;
    expect(testExchange.exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") }).ok).toBe(
      true,
    );
    testExchange.advance("1h");
    expect(testExchange.exchange.hash).toBe(hash);
  });

  it("is computed from the history, without reading the state", () => {
    const { exchange } = openFundedExchange();
    const { hash } = exchange;
    const content = contentHash(exchange.state);
    Object.assign(exchange.state, { issued: 99 });
    expect([exchange.hash, contentHash(exchange.state) === content]).toEqual([hash, false]);
  });
});

describe("restarting an exchange", () => {
  it("removes everything except the seed, and begins at the new start", () => {
    const testExchange = openFundedExchange();
    const fresh = new Exchange(CONFIG, START);
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    testExchange.advance("1h");
    testExchange.exchange.restart(START);
    expect(testExchange.exchange).toMatchObject({
      now: START,
      sequence: 0,
      hash: fresh.hash,
      nextDueAt: null,
    });
  });

  it("keeps the watchers, and repeating the same commands gives the same state", () => {
    const { exchange } = openFundedExchange();
    const received: number[] = [];
    exchange.watch((sequence) => void received.push(sequence));
    const [one, two] = [1, 2].map(() => {
      exchange.restart(START);
      exchange.submit(eventCommand("one"));
      exchange.submit({ kind: "deriveCredentials", address: addressOf("alice") });
      return exchange.hash;
    });
    expect([two, received]).toEqual([one, [1, 2, 1, 2]]);
  });
});

describe("two exchanges in one process", () => {
  it("are independent", () => {
    const [one, two] = [openFundedExchange(), openFundedExchange()];
    const { hash } = two.exchange;
    one.send("alice BUY 1 YES @ 0.5 GTD 1s");
    one.advance("1h");
    expect(two.exchange).toMatchObject({ hash, now: START });
    expect(two.exchange.submit(two.command("alice BUY 1 YES @ 0.5")).ok).toBe(true);
  });
});
