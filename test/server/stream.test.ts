import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StreamEntry } from "../../src/api/event-stream.ts";
import { apiOfTest, type Headers, serverOfTest, startApi, useApi } from "../support/http.ts";
import { forAllAsync, runs } from "../support/runs.ts";
import type { Info } from "./replies.ts";
import { reasonsOf, replayed, StreamReader } from "./stream-reader.ts";
import { deriveTrader, type Trader } from "./trader.ts";

const api = useApi();
const readers: StreamReader[] = [];
const closeAll = (): void => {
  for (const reader of readers.splice(0)) reader.close();
};
const reset = async (): Promise<void> => {
  closeAll();
  await api.post("/sim/reset");
};
beforeEach(reset);
afterEach(closeAll);

async function follow(query = "", cuts: readonly number[] = []): Promise<StreamReader> {
  const reader = new StreamReader(api.server.url, query, cuts);
  readers.push(reader);
  await reader.until(() => true);
  return reader;
}

/** Waits until readers have received every entry so far. */
async function receivedBy(...others: readonly StreamReader[]): Promise<void> {
  const reader = await follow();
  const latest = reader.last?.id;
  reader.close();
  await Promise.all(others.map((reader) => reader.until(({ id }) => id === latest)));
}

const info = (): Promise<Info> => api.get<Info>("/sim");
const idsOf = (entries: readonly StreamEntry[]): string[] => entries.map(({ id }) => id);

/** A request in a generated history, which depends on a digit. */
type Move = readonly [kind: string, digit: number];

const FORWARD = ["order", "order", "order", "order", "clock", "cancel", "refused", "read"];
const movesOf = (...kinds: readonly string[]): fc.Arbitrary<Move[]> =>
  fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat(9)), { minLength: 5, maxLength: 40, size: "max" });
const forward = movesOf(...FORWARD);
const anyMoves = movesOf(...FORWARD, ...FORWARD, "snapshot", "restore", "reset");
/** Bytes after which each connection ends. */
const someCuts = fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 12, size: "max" });

async function play(moves: readonly Move[]): Promise<void> {
  let [tokenId, trader]: [string, Trader] = [await api.newToken(), await deriveTrader(api, 1)];
  const place = (side: "BUY" | "SELL", price: number) =>
    trader.send("POST /clob/order", { tokenId, side, price, size: 5 });
  const requests: Readonly<Record<string, (digit: number) => Promise<unknown>>> = {
    order: (digit) => place(digit % 2 === 0 ? "BUY" : "SELL", (48 + Math.floor(digit / 2)) / 100),
    refused: () => place("BUY", 0.555),
    cancel: () => trader.send("DELETE /clob/orders/all"),
    clock: (digit) => api.send("POST /sim/clock", { advance: `${digit % 6}s` }),
    read: () => api.send("GET /clob/book?token_id=none"),
    snapshot: () => api.send("POST /sim/snapshots", { name: "here" }),
    restore: () => api.send("POST /sim/snapshots/here/restore"),
    reset: async () => {
      await api.send("POST /sim/reset");
      [tokenId, trader] = [await api.newToken(), await deriveTrader(api, 1)];
    },
  };
  for (const [kind, digit] of moves) await requests[kind]?.(digit);
}

describe("the feed", () => {
  it("has each command, refusal, clock change and request, in order", async () => {
    const trader = await deriveTrader(api, 1);
    const { sequence } = await info();
    const reader = await follow();
    const tokenId = await api.newToken();
    await trader.place({ tokenId, side: "BUY", price: 0.5, size: 10 });
    const refused = await trader.send("POST /clob/order", { tokenId, side: "BUY", price: 0.555, size: 10 });
    await api.send("POST /sim/clock", { mode: "frozen" });
    await receivedBy(reader);
    const ids = idsOf(reader.entries).map((id) => Number.parseInt(id, 10) - sequence);
    expect(reader.entries.map(({ event }, index) => `${ids[index]} ${event}`)).toEqual([
      ...["0 opening", "1 command", "2 command", "2 request", "3 command", "3 request", "3 refused"],
      ...["3 request", "3 clock", "3 request"],
    ]);
    expect(reader.entries[7]?.data).toEqual({
      t: 1_767_225_600_000,
      d: {
        requestId: refused.headers["x-request-id"],
        ...{ method: "POST", path: "/clob/order", status: 400, code: "INVALID_TICK_SIZE" },
        ...{ ms: expect.any(Number), caller: trader.address.toLowerCase() },
        ...{ first: sequence + 4, last: sequence + 3 },
      },
    });
    expect(reader.entries[5]?.data).toMatchObject({ d: { first: sequence + 3, last: sequence + 3 } });
  });

  it("has the clock as GET /sim/clock, after each change and each move", async () => {
    const reader = await follow();
    const clock = async () => {
      const { mode, rate } = await api.get<Info["clock"]>("/sim/clock");
      return { mode, rate };
    };
    const clocks = [await clock()];
    for (const change of [{ advance: "1ms" }, { mode: "scaled", rate: 0.001 }, { mode: "frozen" }]) {
      await api.post("/sim/clock", change);
      clocks.push(await clock());
    }
    await receivedBy(reader);
    const sent = reader.entries.flatMap(({ event, data }) =>
      event === "opening" ? [data.clock] : event === "clock" ? [data.d] : [],
    );
    expect(sent.map(({ mode, rate }) => ({ mode, rate }))).toEqual(clocks);
  });
});

describe("a reader that reconnects", () => {
  it("gets every entry once, since the start of the session", async () => {
    await forAllAsync(runs(6), [forward, forward, someCuts], async (before, moves, cuts) => {
      await reset();
      await play(before);
      const [whole, cut] = await Promise.all([follow("?from=start"), follow("?from=start", cuts)]);
      // After a reconnection to the session's start, earlier entries are history and have other ids.
      await receivedBy(whole, cut);
      await play(moves);
      await receivedBy(whole, cut);
      expect(cut.entries).toEqual(whole.entries);
    });
  });

  it("gets a new opening if the state was restored or reset meanwhile, and can replay to the hash of the exchange", async () => {
    await forAllAsync(runs(6), [anyMoves, someCuts], async (moves, cuts) => {
      await reset();
      const [whole, cut] = await Promise.all([follow("?from=start"), follow("?from=start", cuts)]);
      await play(moves);
      const late = await follow("?from=start");
      await api.newToken();
      await receivedBy(whole, cut, late);
      const { stateHash } = await info();
      for (const { entries } of [whole, cut, late]) {
        // The entries before each opening can be replayed too.
        entries.forEach(({ event }, index) => {
          if (event === "opening" && index > 0) replayed(entries.slice(0, index));
        });
        expect(replayed(entries).hash).toBe(stateHash);
      }
    });
  });
});

describe("the beginning of a feed", () => {
  it("is an opening without a base by default", async () => {
    const reader = await follow();
    const { sequence, stateHash, seed } = await info();
    expect(reader.entries[0]?.data).toEqual({
      ...{ reason: "now", t: 1_767_225_600_000, format: "clobsim-journal/1", engine: expect.any(String) },
      ...{ seed, sequence, hash: stateHash, clock: { mode: "frozen", rate: 0, followsWall: false } },
    });
  });

  it("is the state if the id is of no entry", async () => {
    const { sequence, stateHash } = await info();
    const wrong = [`${sequence}-00000000`, `${sequence}.1-00000000`, `${sequence + 1}`, "7-00000000-start"];
    for (const id of wrong) {
      const reader = await follow(`?since=${id}`);
      expect(reasonsOf(reader)).toEqual(["unknown"]);
      expect(replayed(reader.entries)).toMatchObject({ hash: stateHash, sequence });
    }
  });

  it("follows a command that is given by its sequence alone", async () => {
    const { sequence } = await info();
    await api.newToken();
    const reader = await follow(`?since=${sequence + 1}`);
    await receivedBy(reader);
    expect(reader.entries.map(({ id, event }) => [Number.parseInt(id, 10) - sequence, event])).toEqual([
      [2, "command"],
      [2, "request"],
    ]);
  });

  it("is followed by another after a restored snapshot and after a reset, the request and all entries since", async () => {
    await api.post("/sim/snapshots", { name: "here" });
    const reader = await follow("?from=start");
    // A history from the start ends with the clock.
    await reader.until(({ event }) => event === "clock");
    for (const path of ["/sim/snapshots/here/restore", "/sim/reset"]) {
      const before = reader.entries.length;
      await api.post(path);
      await api.newToken();
      await receivedBy(reader);
      const since = reader.entries.slice(before);
      const kinds = since.map(({ event }) => event).join(" ");
      expect(kinds).toBe("opening request command command request");
      expect(since[1]?.data).toMatchObject({ d: { method: "POST", path, status: 200 } });
      expect(replayed(since).hash).toBe((await info()).stateHash);
    }
    expect(reasonsOf(reader)).toEqual(["start", "putBack", "putBack"]);
  });
});

it("HEAD /sim/stream ends at once", async () => {
  const { status, headers, text } = await api.send({ method: "HEAD", path: "/sim/stream" });
  expect([status, headers["content-type"], text]).toEqual([200, "text/event-stream", ""]);
});

it("a page of another origin is refused; one of this machine may send last-event-id", async () => {
  const get = (headers: Headers) => ({ method: "GET", path: "/sim/stream", headers }) as const;
  await api.refused(get({ origin: "https://evil.example" }), "ORIGIN_NOT_ALLOWED");
  await api.refused(get({ host: "evil.example" }), "HOST_NOT_ALLOWED");
  const asked = { origin: "http://localhost:5173", "access-control-request-method": "GET" };
  const preflight = await api.send({ method: "OPTIONS", path: "/sim/stream", headers: asked });
  expect(preflight.headers["access-control-allow-headers"]).toMatch(/x-sim-token, last-event-id$/);
});

it("an exchange of a pool has its own feed", async () => {
  const pool = await serverOfTest({ pool: 2 });
  const [one, two] = [new StreamReader(`${pool.url}/1`), new StreamReader(`${pool.url}/2`)];
  readers.push(one, two);
  await Promise.all([one.until(() => true), two.until(() => true)]);
  await fetch(`${pool.url}/2/sim/chain/bump`, { method: "POST" });
  const { data } = await two.until(({ event }) => event === "request");
  expect(data).toMatchObject({ d: { path: "/sim/chain/bump" } });
  expect(one.entries).toHaveLength(1);
});

it("the closing of a server ends every reader at once", async () => {
  const own = await startApi();
  const socket = connect({ port: own.port, host: "127.0.0.1" });
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
  });
  socket.write("GET /sim/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket, "data");
  while (!text.includes('"method":"POST"')) await own.send("POST /sim/chain/bump");
  // If the server waited for readers, it would use a timer.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  await Promise.all([own.close(), once(socket, "close")]).finally(() => vi.useRealTimers());
  expect(text).toMatch(/\r\n0\r\n\r\n$/);
});

it("a 65th reader is refused until another reader has closed", async () => {
  const own = await apiOfTest();
  const others = Array.from({ length: 64 }, () => new StreamReader(own.server.url));
  readers.push(...others);
  await Promise.all(others.map((reader) => reader.until(() => true)));
  const { body } = await own.refused("GET /sim/stream", "UNAVAILABLE");
  expect(body.error).toBe("64 readers follow this exchange");
  others[0]?.close();
  const ask = async (): Promise<number> => {
    const reply = await fetch(`${own.server.url}/sim/stream`);
    await reply.body?.cancel();
    return reply.status;
  };
  await expect.poll(ask).toBe(200);
});
