import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { describe, expect, it } from "vitest";
import { money } from "../../src/core/units.ts";
import { LocalVenue } from "../../src/scenario/venue/local-venue.ts";
import { byOperations, playFlow } from "../../src/scenario/venue/play-flow.ts";
import type { Venue } from "../../src/scenario/venue/venue.ts";
import type { FlowRow } from "../../src/simulation/flow.ts";
import { readFlow } from "../../src/simulation/read-flow.ts";
import { ScenarioFolder } from "../scenario/run/scenario-folder.ts";

const folder = new ScenarioFolder();

const ROWS = 1_000_000;
const MAX_BATCH = 20_000;
const ROW = "0,alice,fund,,,USDC,,0.000001,\n";

/** Writes a file of a million rows, each of which funds alice with one micro-USDC. */
async function writeRows(): Promise<string> {
  const path = folder.at("million.csv");
  const file = createWriteStream(path);
  file.write("at,account,op,ref,side,outcome,price,size,type\n");
  for (let written = 0; written < ROWS; written += 10_000) file.write(ROW.repeat(10_000));
  file.end();
  await once(file, "finish");
  return path;
}

/** Counts rows that are read ahead of those played. */
class ReadAhead {
  read = 0;
  batches = 0;
  largest = 0;
  /** Maximum number of rows that were read but not yet played when more were requested. */
  ahead = 0;

  async *over(rows: AsyncIterable<readonly FlowRow[]>, played: () => number) {
    for await (const batch of rows) {
      this.ahead = Math.max(this.ahead, this.read - played());
      this.read += batch.length;
      this.batches += 1;
      this.largest = Math.max(this.largest, batch.length);
      yield batch;
    }
  }
}

const openVenue = (): LocalVenue =>
  new LocalVenue(folder.scenario("scenario: a million\nsteps: [{ advance: 1s }]\n"));

describe("a flow of a million rows is read in batches, no faster than it is played", () => {
  it("in this process", async () => {
    const venue = openVenue();
    const readAhead = new ReadAhead();
    const played = (): number =>
      venue.state.accounts.find(venue.state.accountByAddress.get(venue.signIn("alice")) ?? 0)?.collateral
        .balance ?? 0;
    const rows = readAhead.over(readFlow(await writeRows()), played);
    expect((await venue.play(rows, "market")).rows).toBe(ROWS);
    expect({ read: readAhead.read, played: played() }).toEqual({ read: ROWS, played: ROWS });
    expect(readAhead.ahead).toBe(0);
    expect(readAhead.largest).toBeLessThan(MAX_BATCH);
    expect(readAhead.batches).toBeGreaterThan(ROWS / MAX_BATCH);
  });

  it("over HTTP, where each row waits for the answer to the previous one", async () => {
    const readAhead = new ReadAhead();
    let [sent, answered] = [0, 0];
    const open = async () => {
      expect(sent).toBe(answered);
      sent += 1;
      await Promise.resolve();
      answered += 1;
      return { ok: true, value: null } as const;
    };
    const venue: Venue = Object.assign(openVenue(), { open });
    const funded = { asset: "USDC", amount: money(1), market: null } as const;
    const row: FlowRow = { op: "fund", at: 0, account: "alice", ...funded };
    const batches = async function* () {
      for (let batch = 0; batch < 10; batch += 1) yield Array<FlowRow>(1_000).fill(row);
    };
    const execute = byOperations(venue, "market", await venue.now());
    const { rows } = await playFlow(
      execute,
      readAhead.over(batches(), () => answered),
      null,
    );
    expect({ rows, answered, ahead: readAhead.ahead }).toEqual({ rows: 10_000, answered: 10_000, ahead: 0 });
  });
});
