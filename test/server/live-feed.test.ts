import { Buffer } from "node:buffer";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventStreamReader, type StreamEntry, streamEntry } from "../../src/api/event-stream.ts";
import { millis } from "../../src/core/units.ts";
import { Stream } from "../../src/server/stream.ts";
import { LatestEntries } from "../../src/server/stream-entries.ts";
import type { Durability } from "../../src/setting.ts";
import { FailingDisk, faultsOf } from "../engine/support/failing-disk.ts";
import { openOn } from "../engine/support/persisted.ts";
import { takeStep, takeSteps } from "../engine/support/short-history.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { reasonsOf, replayed } from "./stream-reader.ts";

const MIB = 1024 * 1024;

/** Reads the feed only while `until` waits. */
class ManualReader {
  readonly entries: StreamEntry[] = [];
  readonly #pieces: AsyncIterator<string | Uint8Array>;
  readonly #read = eventStreamReader();

  constructor(stream: Stream, from: "start" | "now" = "now") {
    const pieces = stream.open(from, null).pieces as AsyncIterable<string | Uint8Array>;
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Reads until the latest entry satisfies a condition, and returns it. */
  async until(isAwaited: (entry: StreamEntry) => boolean): Promise<StreamEntry> {
    for (;;) {
      const latest = this.entries.at(-1);
      if (latest !== undefined && isAwaited(latest)) return latest;
      const { value, done } = await this.#pieces.next();
      if (done === true) throw new Error("the feed has ended");
      this.entries.push(...this.#read(Buffer.from(value)).map(streamEntry));
    }
  }
}

const latestId = async (stream: Stream): Promise<string> =>
  (await new ManualReader(stream).until(() => true)).id;

/** A feed of an exchange in memory, and a reader that has read its opening. */
async function openFeed() {
  const opened = await openOn(new SimulatedDisk(), { data: null });
  const stream = new Stream(opened);
  onTestFinished(() => stream.close());
  const reader = new ManualReader(stream);
  await reader.until(() => true);
  const readAll = async (): Promise<void> => {
    const latest = await latestId(stream);
    await reader.until(({ id }) => id === latest);
  };
  return { opened, stream, reader, readAll };
}

const POSTED = { requestId: "1", method: "POST", arrivedAt: 0, fault: null, caller: "", rawBody: null };

describe("a slow reader", () => {
  it("gets the state again, with the reason", async () => {
    const { opened, reader, readAll } = await openFeed();
    const { exchange } = opened;
    const title = "x".repeat(100_000);
    for (let count = 0; count < 100; count += 1) {
      const texts = { title: "x", slug: `event-${count}`, description: title, category: "", tags: [] };
      exchange.submit({ kind: "createEvent", ...texts, endDate: null });
    }
    await readAll();
    expect(reasonsOf(reader)).toEqual(["now", "slow"]);
    expect(replayed(reader.entries).hash).not.toBe("");
    expect(exchange.sequence).toBe(100);
  });

  it("shares a buffer of at most 8 MiB with all other readers", () => {
    const latest = new LatestEntries("id: 0\n");
    let most = 0;
    for (let count = 1; count <= 200_000; count += 1) {
      latest.next.putText(`id: ${count}\nevent: x\ndata: ${"é".repeat(50)}\n\n`);
      latest.added();
      // Reading the end makes a chunk of what has been added.
      if (count % 100 === 0) most = Math.max(most, latest.end - latest.first);
    }
    expect(most).toBeLessThanOrEqual(8 * MIB);
    expect(latest.end).toBeGreaterThan(16 * MIB);
    const pieces: Uint8Array[] = [];
    for (let place = latest.positionAfter(["id: 199990\n"]) as number; place < latest.end; ) {
      const piece = latest.read(place, latest.end);
      pieces.push(piece);
      place += piece.length;
    }
    expect(Buffer.concat(pieces).toString()).toMatch(/^id: 199991\n(.|\n)*id: 200000\n/);
    expect(latest.positionAfter(["id: 1\n"])).toBeNull();
  });

  it("gets no old content of reused memory", () => {
    const stale = vi
      .spyOn(Buffer, "allocUnsafeSlow")
      .mockImplementation((size) => Buffer.alloc(size, "id: 9\n"));
    const latest = new LatestEntries("id: 0\n");
    const entries = ["id: 1\nabcd\n\n", "id: 2\nefgh\n\n"];
    for (const entry of entries) {
      latest.next.putText(entry);
      latest.added();
      expect(latest.latest).toBe(entry.slice(0, 6));
    }
    stale.mockRestore();
  });
});

it("a request that resets the exchange follows the opening although it is answered at once", async () => {
  const { opened, stream, reader, readAll } = await openFeed();
  opened.reopen();
  stream.answered({ ...POSTED, url: "/sim/reset", firstCommand: 1, lastCommand: 0 }, 200, undefined);
  await readAll();
  expect(reader.entries.map(({ event }) => event)).toEqual(["opening", "opening", "request"]);
});

it.each([
  ["/clob/order", 20],
  ["/sim/bots", 30],
])("of 30 successful requests with commands to %s, %i are sent in one push", async (url, sent) => {
  const { stream, reader, readAll } = await openFeed();
  for (let count = 0; count < 30; count += 1) {
    stream.answered({ ...POSTED, url, firstCommand: 1, lastCommand: 1 }, 200, undefined);
  }
  await readAll();
  expect(reader.entries.filter(({ event }) => event === "request")).toHaveLength(sent);
});

describe("after a disk fault", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it.each<Durability>(["process", "power"])(
    "entries are only of persisted commands, and the restored state follows (%s)",
    async (durability) => {
      for (const fault of faultsOf(["write", "sync"])) {
        for (let nth = 1; nth < 8; nth += 2) {
          const disk = new SimulatedDisk();
          const opened = await openOn(disk, { durability });
          const stream = new Stream(opened);
          const reader = new ManualReader(stream, "start");
          await reader.until(() => true);
          const failing = new FailingDisk(disk, fault, nth);
          let latest = "";
          const taking = reader.until(({ id }) => id === latest);
          for (let step = 0; step < 12 && opened.persistence.broken === null; step += 1) {
            takeStep(opened, step);
            // Only the feed flushes the journal here.
            await vi.advanceTimersByTimeAsync(40);
          }
          const reasons = opened.persistence.broken === null ? ["start"] : ["start", "putBack"];
          latest = await latestId(stream);
          // A heartbeat, if nothing else.
          await vi.advanceTimersByTimeAsync(15_000);
          await taking;
          const { sequence, hash } = opened.exchange;
          const entriesBefore = reader.entries.slice(
            0,
            reader.entries.findLastIndex(({ event }) => event === "opening"),
          );
          for (const { id } of entriesBefore) expect(Number.parseInt(id, 10)).toBeLessThanOrEqual(sequence);
          expect(replayed(reader.entries).hash).toBe(hash);
          expect(reasonsOf(reader)).toEqual(reasons);
          expect(failing.hasFailed || reasons.length === 1).toBe(true);
          stream.close();
        }
      }
    },
  );
});

it("the feed of an exchange opened from its directory begins with the recovered state", async () => {
  const disk = new SimulatedDisk();
  const first = await openOn(disk);
  takeSteps(first, 8);
  await first.close();
  const opened = await openOn(disk);
  const { sequence } = opened.exchange;
  opened.exchange.advanceTo(millis(opened.exchange.now + 1_000));
  takeStep(opened, 8);
  const stream = new Stream(opened);
  const reader = new ManualReader(stream, "start");
  const latest = await latestId(stream);
  await reader.until(({ id }) => id === latest);
  expect(reader.entries[0]?.data).toMatchObject({ reason: "start", sequence, base: { kind: "state" } });
  expect(replayed(reader.entries).hash).toBe(opened.exchange.hash);
  stream.close();
});

it.each([1, 2, 3, 7, 1_000])("an event stream can be parsed in pieces of %d bytes", (length) => {
  const read = eventStreamReader();
  const text =
    ': hello\n\nid: 1\nevent: a\ndata: "é"\n\ndata:b\r\ndata: c\r\n\r\nid: 2\n\nevent: none\n\ndata: d\n\n';
  const bytes = Buffer.from(text);
  const events = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    read(bytes.subarray(index * length, (index + 1) * length)),
  ).flat();
  expect(events).toEqual([
    { id: "1", event: "a", data: '"é"' },
    { id: "1", event: "message", data: "b\nc" },
    { id: "2", event: "message", data: "d" },
  ]);
});
