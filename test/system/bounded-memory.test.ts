import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { describe, expect, it } from "vitest";
import { money } from "../../src/core/units.ts";
import { LocalVenue } from "../../src/scenario/venue/local-venue.ts";
import { playFlow, VenuePlayer } from "../../src/scenario/venue/play-flow.ts";
import type { Venue } from "../../src/scenario/venue/venue.ts";
import { Wallets } from "../../src/scenario/venue/wallets.ts";
import type { FlowRow } from "../../src/simulation/flow.ts";
import { readFlow } from "../../src/simulation/read-flow.ts";
import { ScenarioFolder } from "../scenario/run/scenario-folder.ts";

const folder = new ScenarioFolder();

const ROWS = 1_000_000;
const MAX_AT_ONCE = 20_000;
const ROW = "0,alice,fund,,,USDC,,0.000001,\n";

/** A file of a million rows, each of which gives alice the smallest part of a dollar. */
async function millionRows(): Promise<string> {
  const path = folder.at("million.csv");
  const file = createWriteStream(path);
  file.write("at,account,op,ref,side,outcome,price,size,type\n");
  for (let written = 0; written < ROWS; written += 10_000) file.write(ROW.repeat(10_000));
  file.end();
  await once(file, "finish");
  return path;
}

/** Hands batches on, and looks when the next is asked for whether all before it have been played. */
class Counted {
  pulled = 0;
  batches = 0;
  largest = 0;
  /** How many rows were pulled and not yet played when more were asked for, at most. */
  ahead = 0;

  async *over(rows: AsyncIterable<readonly FlowRow[]>, played: () => number) {
    for await (const batch of rows) {
      this.ahead = Math.max(this.ahead, this.pulled - played());
      this.pulled += batch.length;
      this.batches += 1;
      this.largest = Math.max(this.largest, batch.length);
      yield batch;
    }
  }
}

const opened = (): LocalVenue =>
  new LocalVenue(folder.scenario("scenario: a million\nsteps: [{ advance: 1s }]\n"), null, new Wallets());

describe("a flow of a million rows is read no faster than it is played, some thousands at a time", () => {
  it("in this process", async () => {
    const venue = opened();
    const counted = new Counted();
    const played = (): number =>
      venue.state.accounts.find(venue.state.accountByAddress.get(venue.signIn("alice")) ?? 0)?.collateral
        .balance ?? 0;
    const rows = counted.over(readFlow(await millionRows()), played);
    expect((await venue.play(rows, "market")).rows).toBe(ROWS);
    expect({ pulled: counted.pulled, played: played() }).toEqual({ pulled: ROWS, played: ROWS });
    expect(counted.ahead).toBe(0);
    expect(counted.largest).toBeLessThan(MAX_AT_ONCE);
    expect(counted.batches).toBeGreaterThan(ROWS / MAX_AT_ONCE);
  }, 120_000);

  it("over HTTP, where the next row waits for the answer to the one before", async () => {
    const counted = new Counted();
    let [asked, answered] = [0, 0];
    const fund = async () => {
      expect(asked).toBe(answered);
      asked += 1;
      await Promise.resolve();
      answered += 1;
      return { ok: true, value: null } as const;
    };
    const venue: Venue = Object.assign(opened(), { fund });
    const row: FlowRow = {
      op: "fund",
      at: 0,
      account: "alice",
      asset: "USDC",
      amount: money(1),
      market: null,
    };
    const batches = async function* () {
      for (let batch = 0; batch < 10; batch += 1) yield Array<FlowRow>(1_000).fill(row);
    };
    const { rows } = await playFlow(
      new VenuePlayer(venue, "market", await venue.now()),
      counted.over(batches(), () => answered),
      null,
    );
    expect({ rows, answered, ahead: counted.ahead }).toEqual({ rows: 10_000, answered: 10_000, ahead: 0 });
  });
});
