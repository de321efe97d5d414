import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { MAX_REFUSED, type RefusedRequest } from "../../src/core/refusals.ts";
import type { Durability } from "../../src/setting.ts";
import { linesIn } from "../cli/journal-lines.ts";
import { addressOf, eventCommand } from "../support/commands.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { openOn, withoutLock } from "./support/kept.ts";

const REFUSED: RefusedRequest = {
  method: "POST",
  path: "/clob/order",
  address: addressOf("ann"),
  isProven: true,
  status: 400,
  code: "INVALID_TICK_SIZE",
  field: "price",
  asked: {
    kind: "request",
    body: { tokenId: "1", side: "BUY", price: 0.555, size: 10 },
    query: {},
    isCut: false,
  },
};

const journalOf = (image: DiskImage): string =>
  Buffer.from(image.get("/data/journal.ndjson") ?? [])
    .toString("utf8")
    .replace(/\0+$/, "");
const kindsIn = (image: DiskImage): unknown[] => linesIn(journalOf(image)).map(({ k }) => k);
const notesIn = (image: DiskImage): unknown[] =>
  kindsIn(image).filter((kind) => `${kind}`.startsWith("refused"));

/** What an answer does before it leaves; whether it had to wait. */
const answer = ({ persistence }: Awaited<ReturnType<typeof openOn>>): boolean =>
  persistence.flush(persistence.position) !== undefined;

describe.each<Durability>(["process", "power"])("a note of a refused request (%s)", (durability) => {
  it("is written before its answer, which does not wait for a sync", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk, { durability });
    await opened.persistence.flush(opened.persistence.position);
    opened.noteRefused(REFUSED);
    let syncs = 0;
    disk.before = ({ kind }) => {
      if (kind.startsWith("sync")) syncs += 1;
    };
    expect(answer(opened)).toBe(false);
    expect(syncs).toBe(0);
    expect(notesIn(disk.image)).toEqual(["refused"]);
    await opened.close();
  });

  it("changes neither state nor sequence, and is there when the exchange is opened again", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk, { durability });
    const { hash, sequence } = opened.exchange;
    opened.noteRefused(REFUSED);
    opened.exchange.submit(eventCommand("event"));
    expect(opened.exchange.sequence).toBe(sequence + 1);
    opened.noteRefused(REFUSED);
    await opened.persistence.flush(opened.persistence.position);
    const after = opened.exchange.hash;
    expect(after).not.toBe(hash);
    const again = await openOn(new SimulatedDisk(withoutLock(disk.image)), { durability });
    expect([again.exchange.hash, again.exchange.sequence]).toEqual([after, sequence + 1]);
    expect(notesIn(disk.image)).toEqual(["refused", "refused"]);
    await again.close();
    await opened.close();
  });

  it("that the disk does not take stops nothing, and is written when it does", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk, { durability });
    await opened.persistence.flush(opened.persistence.position);
    disk.before = ({ kind }) => {
      if (kind === "write") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    };
    opened.noteRefused(REFUSED);
    expect(answer(opened)).toBe(false);
    expect(opened.persistence.broken).toBeNull();
    disk.before = () => {};
    opened.exchange.submit(eventCommand("event"));
    await opened.persistence.flush(opened.persistence.position);
    expect(kindsIn(disk.image).slice(-2)).toEqual(["refused", "createEvent"]);
    await opened.close();
  });

  it("of a journal that is broken harms nothing", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk, { durability });
    disk.before = ({ kind }) => {
      if (kind === "write") throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    };
    opened.exchange.submit(eventCommand("event"));
    await Promise.resolve()
      .then(() => opened.persistence.flush(opened.persistence.position))
      .catch(() => {});
    expect(opened.persistence.broken).not.toBeNull();
    opened.noteRefused(REFUSED);
    expect(answer(opened)).toBe(false);
    await opened.close();
  });
});

describe("notes of refused requests", () => {
  it("end with one that says so, and none follows, whoever opens the journal again", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk);
    for (let count = 0; count < MAX_REFUSED - 1; count += 1) opened.noteRefused(REFUSED);
    await opened.close();
    const again = await openOn(disk);
    for (let count = 0; count < 10; count += 1) again.noteRefused(REFUSED);
    await again.close();
    const last = await openOn(disk);
    last.noteRefused(REFUSED);
    await last.close();
    const notes = notesIn(disk.image);
    expect(notes).toHaveLength(MAX_REFUSED + 1);
    expect(notes.at(-1)).toBe("refusedFull");
    expect(journalOf(disk.image).length).toBeLessThan(5 * 1024 * 1024);
  });

  it("are counted anew where no state tells how many there are", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk);
    for (let count = 0; count < MAX_REFUSED; count += 1) opened.noteRefused(REFUSED);
    await opened.close();
    const journal = disk.image.get("/data/journal.ndjson");
    const other = new SimulatedDisk(new Map([["/data/journal.ndjson", journal ?? new Uint8Array()]]));
    const again = await openOn(other);
    again.noteRefused(REFUSED);
    again.noteRefused(REFUSED);
    await again.close();
    expect(notesIn(other.image).slice(MAX_REFUSED - 1)).toEqual(["refused", "refusedFull"]);
  });

  it("of an unkept session are the first ones, and those left out are counted", async () => {
    const opened = await openOn(new SimulatedDisk(), { data: null });
    const start = opened.exchange.snapshot();
    for (let count = 0; count < MAX_REFUSED + 3; count += 1) opened.noteRefused(REFUSED);
    expect(opened.session.refused).toHaveLength(MAX_REFUSED);
    expect(opened.session.refusedLeftOut).toBe(3);
    opened.exchange.restore(start);
    expect(opened.session.refused).toEqual([]);
  });
});
