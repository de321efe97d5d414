import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { millis } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import type { Accepted } from "../../../src/engine/journal.ts";
import { addressOf, eventCommand, orderCommand } from "../../support/commands.ts";
import { openFundedExchange, START, verdictOf } from "../../support/exchange.ts";
import { ARENA } from "../properties/moves.ts";

const CONFIG = { ...ARENA, seed: "test" };

describe("watching an exchange", () => {
  it("reports each accepted command once, after it is applied, with its sequence number and time", () => {
    const testExchange = openFundedExchange();
    const { sequence } = testExchange.exchange;
    const received: unknown[] = [];
    testExchange.exchange.watch((number, at, events) => {
      const kinds = events.map(({ kind }) => kind);
      received.push(`${number - sequence} at ${at - START}: ${kinds} ${testExchange.order(1)}`);
    });
    testExchange.advance("5ms");
    testExchange.send("alice BUY 1 YES @ 0.5");
    testExchange.try("nobody BUY 1 YES @ 0.5");
    testExchange.cancel("alice", 1);
    const placed = "1 at 5: orderPlaced,orderRested LIVE 0/1";
    expect(received).toEqual([placed, "2 at 5: orderCanceled CANCELED 0/1 USER"]);
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
    const entries: Accepted[] = [];
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
  it("has a version, and differs if a price, the order of commands, a time or the seed differs", () => {
    const hashAfter = (words: string): string => {
      const testExchange = openFundedExchange();
      testExchange.act(words);
      return testExchange.exchange.hash;
    };
    const hashes = [
      hashAfter("advance 0s"),
      hashAfter("alice BUY 1 YES @ 0.5; bob BUY 1 YES @ 0.4"),
      hashAfter("alice BUY 1 YES @ 0.5; bob BUY 1 YES @ 0.3"),
      hashAfter("bob BUY 1 YES @ 0.4; alice BUY 1 YES @ 0.5"),
      hashAfter("alice BUY 1 YES @ 0.5; advance 1ms; bob BUY 1 YES @ 0.4"),
      new Exchange({ ...CONFIG, seed: "another" }, START).hash,
      new Exchange(CONFIG, START).hash,
    ];
    for (const hash of hashes) expect(hash).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("is unchanged by refused commands, commands without events, and time in which nothing is due", () => {
    const testExchange = openFundedExchange();
    const { hash } = testExchange.exchange;
    expect(verdictOf(testExchange.cancelAll("alice"))).toBe("ok");
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
    const fresh = new Exchange(testExchange.state.config, START);
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    testExchange.advance("1h");
    testExchange.exchange.restart(START);
    const { hash } = fresh;
    expect(testExchange.exchange).toMatchObject({ now: START, sequence: 0, hash, nextDueAt: null });
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

/** Opens an exchange with an agent that acts once, `ms` after the start. */
function agentAt(ms: number, ...sentences: readonly string[]) {
  const testExchange = openFundedExchange();
  const { exchange } = testExchange;
  const at = millis(START + ms);
  const [tokenId] = testExchange.state.markets.get(1).tokenIds;
  exchange.agents = {
    nextAfter: (now) => (now < at ? at : null),
    *act(): Generator<Command> {
      for (const sentence of sentences) yield orderCommand(sentence, exchange.now, () => tokenId);
    },
  };
  return testExchange;
}

describe("agents", () => {
  it("act at their moment, between timed commands before and after it", () => {
    const testExchange = agentAt(1_500, "bob SELL 1 YES @ 0.5");
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s", "alice BUY 1 YES @ 0.4 GTD 2s");
    const { sequence } = testExchange.exchange;
    const received: unknown[] = [];
    testExchange.exchange.watch(
      (number, at, [event]) => void received.push(`${number - sequence} at ${at - START}: ${event?.kind}`),
    );
    testExchange.advance("5s");
    expect(received).toEqual([
      "1 at 1000: orderExpired",
      "2 at 1500: orderPlaced",
      "3 at 2000: orderExpired",
    ]);
  });

  it("act after the timed commands of the same moment: an order that expires then is not matched", () => {
    const testExchange = agentAt(1_000, "bob SELL 1 YES @ 0.5");
    testExchange.send("alice BUY 1 YES @ 0.5 GTD 1s");
    testExchange.advance("5s");
    expect([testExchange.order(1), testExchange.order(2)]).toEqual(["EXPIRED 0/1", "LIVE 0/1"]);
  });

  it("submit all commands of a moment in one step", () => {
    const orders = ["bob SELL 1 YES @ 0.5", "nobody SELL 1 YES @ 0.5", "bob SELL 1 YES @ 0.6"];
    const testExchange = agentAt(1_000, ...orders);
    const { sequence } = testExchange.exchange;
    const steps = testExchange.exchange.advanceInSteps(millis(START + 2_000));
    expect(steps.next().done).toBe(false);
    expect(testExchange.exchange).toMatchObject({ now: START + 1_000, sequence: sequence + 2 });
    expect(steps.next()).toEqual({ done: true, value: true });
    expect(testExchange.exchange).toMatchObject({ now: START + 2_000, sequence: sequence + 2 });
  });

  it("count for the moment that is due next", () => {
    const testExchange = agentAt(1_500, "bob SELL 1 YES @ 0.5");
    expect(testExchange.exchange.nextDueAt).toBe(START + 1_500);
    testExchange.send("alice BUY 1 YES @ 0.4 GTD 1s");
    expect(testExchange.exchange.nextDueAt).toBe(START + 1_000);
    testExchange.advance("1500ms");
    expect(testExchange.exchange.nextDueAt).toBeNull();
  });
});
