import { describe, expect, it } from "vitest";
import { MAX_REFUSED, type RefusedRequest } from "../../src/core/refusals.ts";
import type { Durability } from "../../src/setting.ts";
import { addressOf, eventCommand } from "../support/commands.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { fill } from "./support/failing-disk.ts";
import { flush, JOURNAL, journalIn, journalLines, openNew, openOn } from "./support/persisted.ts";

const BODY = { tokenId: "1", side: "BUY", price: 0.555, size: 10 };
const REFUSED: RefusedRequest = {
  ...{ method: "POST", path: "/clob/order", address: addressOf("ann"), isProven: true },
  ...{ status: 400, code: "INVALID_TICK_SIZE", field: "price" },
  asked: { kind: "request", body: BODY, query: {}, isCut: false },
};

const kindsIn = (image: DiskImage): string[] => journalLines(journalIn(image)).map(({ k }) => k);
const recordsIn = (image: DiskImage): string[] => kindsIn(image).filter((kind) => kind.startsWith("refused"));

describe.each<Durability>(["process", "power"])("the record of a refused request (%s)", (durability) => {
  it("is written before the response, which does not wait for a sync", async () => {
    const { disk, opened } = await openNew({ durability });
    await flush(opened);
    opened.recordRefused(REFUSED);
    let syncs = 0;
    disk.before = ({ kind }) => {
      if (kind.startsWith("sync")) syncs += 1;
    };
    expect(flush(opened)).toBe(undefined);
    expect(syncs).toBe(0);
    expect(recordsIn(disk.image)).toEqual(["refused"]);
  });

  it("changes neither state nor sequence, also after a restart", async () => {
    const { disk, opened, exchange, resume } = await openNew({ durability });
    const { hash, sequence } = exchange;
    opened.recordRefused(REFUSED);
    expect(exchange).toMatchObject({ hash, sequence });
    exchange.submit(eventCommand("event"));
    opened.recordRefused(REFUSED);
    await flush(opened);
    const again = await resume();
    expect(again.exchange).toMatchObject({ hash: exchange.hash, sequence: sequence + 1 });
    expect(recordsIn(disk.image)).toEqual(["refused", "refused"]);
  });

  it("stays buffered if the disk fails, and is written later", async () => {
    const { disk, opened } = await openNew({ durability });
    await flush(opened);
    fill(disk);
    opened.recordRefused(REFUSED);
    expect(flush(opened)).toBe(undefined);
    expect(opened.persistence.broken).toBeNull();
    disk.before = () => {};
    opened.exchange.submit(eventCommand("event"));
    await flush(opened);
    expect(kindsIn(disk.image).slice(-2)).toEqual(["refused", "createEvent"]);
  });

  it("is dropped if the journal is broken", async () => {
    const { disk, opened, exchange } = await openNew({ durability });
    fill(disk);
    exchange.submit(eventCommand("event"));
    await (async () => flush(opened))().catch(() => {});
    expect(opened.persistence.broken).not.toBeNull();
    opened.recordRefused(REFUSED);
    expect(flush(opened)).toBe(undefined);
  });
});

describe("records of refused requests", () => {
  it("end at the maximum with a last record, also after a restart", async () => {
    const disk = new SimulatedDisk();
    for (const number of [MAX_REFUSED - 1, 10, 1]) {
      const { recordRefused, close } = await openOn(disk);
      for (let count = 0; count < number; count += 1) recordRefused(REFUSED);
      await close();
    }
    const records = recordsIn(disk.image);
    expect(records).toHaveLength(MAX_REFUSED + 1);
    expect(records.at(-1)).toBe("refusedFull");
    expect(journalIn(disk.image).length).toBeLessThan(5 * 1024 * 1024);
  });

  it("are counted in the journal if there is no state file", async () => {
    const { disk, opened } = await openNew();
    for (let count = 0; count < MAX_REFUSED; count += 1) opened.recordRefused(REFUSED);
    await opened.close();
    const other = new SimulatedDisk(new Map([[JOURNAL, journalIn(disk.image)]]));
    const again = await openOn(other);
    again.recordRefused(REFUSED);
    again.recordRefused(REFUSED);
    await again.close();
    expect(recordsIn(other.image).slice(MAX_REFUSED - 1)).toEqual(["refused", "refusedFull"]);
  });

  it("in memory are the first ones, with the number of others", async () => {
    const opened = await openOn(new SimulatedDisk(), { data: null });
    const start = opened.exchange.snapshot();
    for (let count = 0; count < MAX_REFUSED + 3; count += 1) opened.recordRefused(REFUSED);
    expect(opened.session.refused).toHaveLength(MAX_REFUSED);
    expect(opened.session.refusedLeftOut).toBe(3);
    opened.exchange.restore(start);
    expect(opened.session.refused).toEqual([]);
  });
});
