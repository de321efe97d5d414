import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Api, startApi, useApi, yesOf } from "../support/http.ts";
import { runs } from "../support/runs.ts";
import type { Market } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

const REQUESTS = ["book", "place", "chunked", "cancel all", "fund", "wrong", "hash", "advance"] as const;
type Kind = (typeof REQUESTS)[number];

const api = useApi();
let trader: Trader;
let market: Market;

beforeAll(async () => {
  market = await api.createMarket();
  trader = await deriveTrader(api, 1);
  await api.post("/sim/snapshots", { name: "before" });
});

const headOf = (line: string, headers: Readonly<Record<string, string>>): string =>
  [
    `${line} HTTP/1.1`,
    "Host: localhost",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "\r\n",
  ].join("\r\n");

function plain(
  method: string,
  path: string,
  body = "",
  headers: Readonly<Record<string, string>> = {},
): string {
  const length: Record<string, string> =
    body === "" ? {} : { "content-type": "application/json", "content-length": String(body.length) };
  return `${headOf(`${method} ${path}`, { ...headers, ...length })}${body}`;
}

/** The same in chunks of seven characters. */
function chunked(path: string, body: string, headers: Readonly<Record<string, string>>): string {
  const head = headOf(`POST ${path}`, {
    ...headers,
    "content-type": "application/json",
    "transfer-encoding": "chunked",
  });
  const chunks = (body.match(/.{1,7}/g) ?? []).map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return `${head}${chunks.join("")}0\r\n\r\n`;
}

function bytesOf(kind: Kind, index: number): string {
  const order = JSON.stringify({
    tokenId: yesOf(market),
    side: "BUY",
    price: 0.01 + index / 100,
    size: 5 + index,
  });
  const signed = (body: string): Readonly<Record<string, string>> =>
    trader.headers("POST", "/clob/order", body);
  switch (kind) {
    case "book":
      return plain("GET", `/clob/book?token_id=${yesOf(market)}`);
    case "place":
      return plain("POST", "/clob/order", order, signed(order));
    case "chunked":
      return chunked("/clob/order", order, signed(order));
    case "cancel all":
      return plain("DELETE", "/clob/orders/all", "", trader.headers("DELETE", "/clob/orders/all"));
    case "fund":
      return plain("POST", `/sim/accounts/${trader.address}/fund`, JSON.stringify({ collateral: index + 1 }));
    case "wrong":
      return plain("POST", "/clob/order", "{", signed("{"));
    case "hash":
      return plain("GET", "/sim/state/hash");
    case "advance":
      return plain("POST", "/sim/clock", JSON.stringify({ advance: "1s" }));
  }
}

/** What a connection answers to segments of bytes, whatever the numbers of the requests, and so the lengths, are. */
async function answersTo(segments: readonly Buffer[], ends = true): Promise<string> {
  const socket = connect({ port: api.port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = once(socket, "end");
  for (const segment of segments) {
    await new Promise((resolve) => socket.write(segment, resolve));
    await nextTurn();
  }
  if (ends) socket.end();
  await ended;
  socket.destroy();
  return Buffer.concat(chunks)
    .toString("latin1")
    .replace(/req-\d+/g, "req-N")
    .replace(/content-length: \d+/g, "content-length: N");
}

/** The bytes cut at some of their places, each given as a part of the whole. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => Math.floor(place * bytes.length)))].sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, index) => bytes.subarray(from, cuts[index]))
    .filter(({ length }) => length > 0);
}

const statusesIn = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe("requests of one connection", () => {
  it("lead to the same state and the same answers, wherever their bytes are cut", async () => {
    const histories = fc.array(fc.constantFrom(...REQUESTS), { minLength: 2, maxLength: 8 });
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(histories, cuts, async (kinds, places) => {
        const requests = kinds.map((kind, index) => Buffer.from(bytesOf(kind, index)));
        const runs: { answers: string; hash: string }[] = [];
        for (const segments of [
          [Buffer.concat(requests)],
          cutAt(Buffer.concat(requests), places),
          requests,
        ]) {
          await api.post("/sim/snapshots/before/restore");
          const answers = await answersTo(segments);
          runs.push({ answers, hash: await api.stateHash() });
        }
        expect(statusesIn(runs[0]?.answers ?? "")).toHaveLength(kinds.length);
        expect(runs[1]).toEqual(runs[0]);
        expect(runs[2]).toEqual(runs[0]);
      }),
      runs(60, 7),
    );
  });

  it("are carried out in their order, one without a body behind one with a body", async () => {
    await api.post("/sim/snapshots/before/restore");
    const bytes = ["place", "book", "cancel all", "book"].map((kind, index) => bytesOf(kind as Kind, index));
    const answers = await answersTo([Buffer.from(bytes.join(""))]);
    const books = [...answers.matchAll(/"bids":(\[[^\]]*\])/g)].map(([, bids]) => bids);
    expect(books).toEqual([expect.stringContaining('"size":5'), "[]"]);
  });

  it("are all answered to a client that will send no more", async () => {
    const bytes = Buffer.from(bytesOf("hash", 0).repeat(5));
    expect(statusesIn(await answersTo([bytes]))).toEqual([200, 200, 200, 200, 200]);
  });

  it("are answered up to the one that cannot be read, which ends the connection", async () => {
    const bytes = `${bytesOf("place", 0)}${bytesOf("hash", 0)}NO HTTP\r\n\r\n${bytesOf("hash", 0)}`;
    expect(statusesIn(await answersTo([Buffer.from(bytes)], false))).toEqual([200, 200, 400]);
  });

  it("are answered up to the one whose end never comes", async () => {
    const half = bytesOf("place", 0).slice(0, -3);
    const answers = await answersTo([Buffer.from(`${bytesOf("hash", 0)}${half}`)]);
    expect(statusesIn(answers)).toEqual([200, 400]);
  });
});

describe("a client that sends many requests and reads no answer", () => {
  const ASKED = 40;
  /** What the buffers of the machine may hold beside the server. */
  const MAX_TAKEN = 12;

  /** How many requests the server has taken up since it had counted so many. */
  async function takenSince(before: number, other: Api): Promise<number> {
    const { headers } = await other.send("GET /clob/time");
    return Number(headers["x-request-id"]?.slice("req-".length)) - before - 1;
  }

  it("is answered as far as it has room, and wholly when it reads", async () => {
    const large = await startApi({ world: null });
    const before = await takenSince(-1, large);
    const socket: Socket = connect(large.port, "127.0.0.1");
    socket.pause();
    socket.write(bytesOf("hash", 0).replace("/sim/state/hash", "/sim/state").repeat(ASKED));
    let others = 0;
    let taken = 0;
    // Answers of others come meanwhile; the connection stands still when many of them find nothing new.
    for (let still = 0; still < 30; others += 1) {
      const now = (await takenSince(before, large)) - others;
      still = now === taken && now > 0 ? still + 1 : 0;
      taken = now;
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    }
    expect(taken).toBeLessThan(MAX_TAKEN);
    let text = "";
    let count = 0;
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      count += text.split("HTTP/1.1 200").length - 1;
      text = text.slice(-"HTTP/1.1 20".length);
    });
    socket.end();
    socket.resume();
    await once(socket, "close");
    expect(count).toBe(ASKED);
    await large.close();
  });
});
