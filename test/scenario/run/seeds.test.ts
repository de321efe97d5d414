import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { idOf } from "../../../src/core/ids.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import type { Venue } from "../../../src/scenario/venue/venue.ts";
import { diffOf, runOn, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const TRADE = `scenario: a trade
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 20 YES @ 0.50 as ask
  - alice: BUY 5 YES @ 0.50 as bid
  - alice: cancel all
`;

/** Returns a transcript without its state hash. */
const seenBy = (transcript: readonly string[]): string[] =>
  transcript.filter((line) => !/^ {3}state v2:[\da-f]{64}$/.test(line));

/** Runs the scenario, and returns the ids of its orders, too. */
async function runWithIds(seed: string) {
  const scenario = { ...folder.scenario(TRADE), seed };
  const venue = new LocalVenue(scenario);
  const result = await runOn(scenario, venue);
  return { result, ids: [1, 2].map((number) => idOf(venue.state.idPrefixes.order, number)) };
}

describe("the seed of a scenario", () => {
  it("is the beginning of its name's SHA-256 by default", async () => {
    const { seed } = await folder.run("scenario: nothing but time\nsteps: [{ advance: 1s }]\n");
    expect(seed).toBe(createHash("sha256").update("nothing but time").digest("hex").slice(0, 16));
  });

  it("is that of the file, unless the caller gives one", async () => {
    const text = "scenario: seeded\nseed: 7\nsteps: [{ advance: 1s }]\n";
    expect((await folder.run(text)).seed).toBe("7");
    expect((await folder.run(text, { seed: "eight" })).seed).toBe("eight");
  });

  it("changes ids, and nothing that a scenario observes", async () => {
    const [one, other] = [await runWithIds("one"), await runWithIds("other")];
    expect(one.ids.filter((id) => other.ids.includes(id))).toEqual([]);
    expect(seenBy(other.result.transcript)).toEqual(seenBy(one.result.transcript));
    expect(other.result.stateHash).not.toBe(one.result.stateHash);
  });

  it("changes a generated flow", async () => {
    const text = "scenario: generated\nsteps: [{ generate: { orders: 50, accounts: 5 } }]\n";
    const [one, again, other] = [
      await folder.run(text, { seed: "1" }),
      await folder.run(text, { seed: "1" }),
      await folder.run(text, { seed: "2" }),
    ];
    expect(again.transcript).toEqual(one.transcript);
    expect(again.stateHash).toBe(one.stateHash);
    expect(seenBy(other.transcript)).not.toEqual(seenBy(one.transcript));
  });
});

describe("running a scenario several times", () => {
  /** Counts opened exchanges, and calls `change` before the first step of each. */
  const counting = (change: (venue: LocalVenue, time: number) => void = () => {}) => {
    const opened = { times: 0 };
    const venue = (of: Venue): void => {
      opened.times += 1;
      change(of as LocalVenue, opened.times);
    };
    return { opened, watcher: { venue } };
  };

  it("passes if all runs are equal, each on a fresh exchange", async () => {
    const { opened, watcher } = counting();
    const { status } = await folder.run(TRADE, { repeat: 3, watcher });
    expect({ status, times: opened.times }).toEqual({ status: "passed", times: 3 });
  });

  it("fails if a result differs, and shows the difference", async () => {
    const { watcher } = counting((venue, time) => {
      const { place } = venue;
      if (time !== 3) return;
      venue.place = (account, words) => place.call(venue, account, { ...words, type: "FAK" });
    });
    const failure = await folder.failure(TRADE, { repeat: 4, watcher });
    expect(failure.text).toBe("run 3 of 4");
    expect(failure.message).toBe("two runs of the scenario differ, which is a defect of clobsim");
    expect(diffOf(failure)).toContain("- 1. bob: SELL 20 YES @ 0.50 as ask → LIVE 0/20");
    expect(diffOf(failure).join("\n")).toMatch(/^\+ 1\. bob: SELL 20 YES @ 0\.50 as ask → CANCELED 0\/20/m);
    expect(failure.repeat).toMatch(/ --seed \S+ --repeat 4$/);
  });

  it("fails if only a refusal differs", async () => {
    const { watcher } = counting((venue, time) => {
      const { cancel } = venue;
      if (time !== 2) return;
      venue.cancel = async (account, order) => {
        const attempt = await cancel.call(venue, account, order);
        return attempt.ok ? attempt : { ...attempt, code: "MARKET_CLOSED" };
      };
    });
    const text = `scenario: refused in either order
accounts: { alice: { USDC: 10 }, bob: {} }
steps:
  - alice: BUY 1 YES @ 0.5 as bid
  - race: [{ bob: cancel bid }, { advance: 1s }]
`;
    const failure = await folder.failure(text, { repeat: 2, watcher });
    expect(diffOf(failure)).toContain("+ 3. bob: cancel bid → refused: MARKET_CLOSED");
  });

  it("fails if only the state hash differs", async () => {
    const { watcher } = counting((venue, time) => {
      if (time === 2) venue.open("mallory", []);
    });
    const { message } = await folder.failure(TRADE, { repeat: 2, watcher });
    expect(message).toBe("two runs of the scenario differ, which is a defect of clobsim");
  });

  it("fails like the first failed run", async () => {
    const { watcher } = counting((venue, time) => {
      if (time === 2) venue.call("closeMarket", { path: venue.pathOf("market") });
    });
    const { message, repeat } = await folder.failure(TRADE, { repeat: 3, watcher });
    expect(message).toMatch(/^refused: MARKET_CLOSED: /);
    expect(repeat).toMatch(/ --step \d+ --repeat 3$/);
  });

  it("ends with the first failure", async () => {
    const { opened, watcher } = counting();
    await folder.failure('scenario: wrong\nsteps: [{ expect: { stateHash: "" } }]\n', { repeat: 5, watcher });
    expect(opened.times).toBe(1);
  });
});
