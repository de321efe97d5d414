import { Buffer } from "node:buffer";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Incoming, Outbox, Outgoing } from "../../src/server/messages.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Api, apiOfTest, startApi, useApi, yesOf } from "../support/http.ts";
import { forAllAsync, runs } from "../support/runs.ts";
import { titleOf } from "./bad-inputs.ts";
import {
  CHUNKED,
  chunked,
  HOST,
  headerLines,
  JSON_BODY,
  parseReplies,
  refusalIn,
  requestBytes,
} from "./raw-socket.ts";
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

/** A request after which the connection stays open. */
const requestTo = (line: string, body = "", headers: readonly string[] = []): string => {
  const typed = body === "" ? [] : [JSON_BODY];
  return requestBytes(line, [HOST, ...typed, ...headers], body, "keep-alive").toString();
};

function bytesOf(kind: Kind, index: number): string {
  const terms = { price: 0.01 + index / 100, size: 5 + index };
  const order = JSON.stringify({ tokenId: yesOf(market), side: "BUY", ...terms });
  const signed = (line: string, body = ""): string[] => {
    const [method = "", path = ""] = line.split(" ");
    return headerLines(trader.headers(method, path, body));
  };
  const place = "POST /clob/order";
  switch (kind) {
    case "book":
      return requestTo(`GET /clob/book?token_id=${yesOf(market)}`);
    case "place":
      return requestTo(place, order, signed(place, order));
    case "chunked":
      return requestTo(place, chunked(order, 7), [CHUNKED, ...signed(place, order)]);
    case "cancel all":
      return requestTo("DELETE /clob/orders/all", "", signed("DELETE /clob/orders/all"));
    case "fund":
      return requestTo(
        `POST /sim/accounts/${trader.address}/fund`,
        JSON.stringify({ collateral: index + 1 }),
      );
    case "wrong":
      return requestTo(place, "{", signed(place, "{"));
    case "hash":
      return requestTo("GET /sim/state/hash");
    case "advance":
      return requestTo("POST /sim/clock", JSON.stringify({ advance: "1s" }));
  }
}

/** The answers of a connection to segments of bytes, without request ids and content lengths, which depend on the ids. */
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

/** Cuts bytes at some fractions of their length. */
function cutAt(bytes: Buffer, fractions: readonly number[]): Buffer[] {
  const cuts = [...new Set(fractions.map((place) => Math.floor(place * bytes.length)))].sort((a, b) => a - b);
  return [0, ...cuts]
    .map((from, index) => bytes.subarray(from, cuts[index]))
    .filter(({ length }) => length > 0);
}

const statusesIn = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe("requests of one connection", () => {
  it("give the same state and the same answers, however their bytes are cut", async () => {
    const histories = fc.array(fc.constantFrom(...REQUESTS), { minLength: 2, maxLength: 8 });
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
    await forAllAsync(runs(30, 7), [histories, cuts], async (kinds, fractions) => {
      const requests = kinds.map((kind, index) => Buffer.from(bytesOf(kind, index)));
      const runs: { answers: string; hash: string }[] = [];
      const whole = Buffer.concat(requests);
      for (const segments of [[whole], cutAt(whole, fractions), requests]) {
        await api.post("/sim/snapshots/before/restore");
        const answers = await answersTo(segments);
        runs.push({ answers, hash: await api.stateHash() });
      }
      expect(statusesIn(runs[0]?.answers ?? "")).toHaveLength(kinds.length);
      expect(runs[1]).toEqual(runs[0]);
      expect(runs[2]).toEqual(runs[0]);
    });
  });

  it("are executed in order, also one without a body after one with a body", async () => {
    await api.post("/sim/snapshots/before/restore");
    const bytes = ["place", "book", "cancel all", "book"].map((kind, index) => bytesOf(kind as Kind, index));
    const answers = await answersTo([Buffer.from(bytes.join(""))]);
    const books = [...answers.matchAll(/"bids":(\[[^\]]*\])/g)].map(([, bids]) => bids);
    expect(books).toEqual([expect.stringContaining('"size":5'), "[]"]);
  });

  it("are answered up to an invalid one, which ends the connection", async () => {
    const bytes = `${bytesOf("place", 0)}${bytesOf("hash", 0)}NO HTTP\r\n\r\n${bytesOf("hash", 0)}`;
    expect(statusesIn(await answersTo([Buffer.from(bytes)], false))).toEqual([200, 200, 400]);
  });

  it("are answered up to an incomplete one", async () => {
    const half = bytesOf("place", 0).slice(0, -3);
    const answers = await answersTo([Buffer.from(`${bytesOf("hash", 0)}${half}`)]);
    expect(statusesIn(answers)).toEqual([200, 400]);
  });
});

describe("a client that sends many requests and reads no answer", () => {
  const REQUEST_COUNT = 24;
  /** Requests whose answers may fit into buffers of the operating system. */
  const MAX_TAKEN = 12;

  /** Number of requests that the server has started since a count. */
  async function takenSince(before: number, other: Api): Promise<number> {
    const { headers } = await other.send("GET /clob/time");
    return Number(headers["x-request-id"]?.slice("req-".length)) - before - 1;
  }

  it("is answered until buffers are full, and completely when it reads, although it has ended its side", async () => {
    const large = await apiOfTest({ world: null });
    const before = await takenSince(-1, large);
    const socket: Socket = connect(large.port, "127.0.0.1");
    socket.pause();
    socket.write(bytesOf("hash", 0).replace("/sim/state/hash", "/sim/state").repeat(REQUEST_COUNT));
    let others = 0;
    let taken = 0;
    // Requests of another client are answered meanwhile; `taken` is final when 30 of them find no change.
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
    expect(count).toBe(REQUEST_COUNT);
  });
});

const LIMIT_MS = 1_000;
const SLOW = 200;
/** One byte per interval, shorter than a second, so that no idle timeout ends the connection. */
const INTERVAL_MS = 250;
/**
 * Bytes that a client sends within four limits. The server checks every half limit; the rest is for a busy machine, which
 * delays it. Bytes are counted instead of milliseconds because clients are delayed as well.
 */
const LATEST = (4 * LIMIT_MS) / INTERVAL_MS;
const MAX_BYTES = LATEST + LIMIT_MS / INTERVAL_MS;

const impatient = useApi({ requestTimeout: LIMIT_MS });

const HEAD_START = "GET /clob/time HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const BODY_START =
  "POST /clob/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
/** Its headers refuse it, so that the answer is sent before the body. */
const REFUSED_START = requestBytes("POST /sim/reset", [
  HOST,
  "Content-Type: text/plain",
  "Content-Length: 5000",
]).toString();

/**
 * Sends the start of a request and then one byte per interval until the server closes the connection. Returns how many bytes it
 * sent, infinite if the server did not, and the answer.
 */
function sendSlowly(start: string, onEnd: "close" | "end" = "end") {
  return new Promise<{ bytes: number; answer: string }>((resolve) => {
    const socket: Socket = connect({ port: impatient.port, host: "127.0.0.1", allowHalfOpen: true });
    let sent = 0;
    let answer = "";
    let interval: NodeJS.Timeout | undefined;
    const end = (bytes: number): void => {
      clearInterval(interval);
      resolve({ bytes, answer });
      socket.destroy();
    };
    socket.on("connect", () => {
      socket.write(start);
      interval = setInterval(() => {
        socket.write("a");
        sent += 1;
        if (sent === MAX_BYTES) end(Number.POSITIVE_INFINITY);
      }, INTERVAL_MS);
    });
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    socket.on("error", () => {});
    socket.on(onEnd, () => end(sent));
  });
}

describe("a slow client", () => {
  it(titleOf("H12"), async () => {
    const starts = Array.from({ length: SLOW }, (_, index) => (index % 2 === 0 ? HEAD_START : BODY_START));
    const others = starts.map((start) => {
      const socket = connect(api.port, "127.0.0.1").on("error", () => {});
      socket.write(start);
      return socket;
    });
    for (let answered = 0; answered < 20; answered += 1) {
      for (const socket of others) socket.write("a");
      expect((await fetch(`${api.server.url}/clob/time`)).status).toBe(200);
    }
    for (const socket of others) socket.destroy();
    const before = await impatient.stateHash();
    const clients = starts.map((start) => sendSlowly(start));
    for (const { bytes, answer } of await Promise.all(clients)) {
      expect(bytes).toBeLessThan(LATEST);
      const [reply] = parseReplies(Buffer.from(answer));
      expect(reply && refusalIn(reply)).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT" });
    }
    expect(await impatient.stateHash()).toBe(before);
  });

  it("is disconnected even if it does not close its side", async () => {
    const clients = await Promise.all(
      [HEAD_START, BODY_START, REFUSED_START].map((beginning) => sendSlowly(beginning, "close")),
    );
    for (const { bytes } of clients) expect(bytes).toBeLessThan(LATEST);
  });
});

describe("a connection that is in use when the server stops", () => {
  it("is closed after its next answer, although its client would send more", async () => {
    const { server, port } = await startApi();
    const request = requestTo("GET /clob/time");
    const socket = connect(port, "127.0.0.1");
    socket.write(request + request.slice(0, -9));
    const [first] = await once(socket, "data");
    const stopped = server.close();
    socket.write(request.slice(-9) + request);
    const [second] = await once(socket, "data");
    const replies = [first, second].map((bytes) => parseReplies(bytes));
    const kept = replies.map((found) => found.map(({ headers }) => headers.get("connection")));
    expect(kept).toEqual([[["keep-alive"]], [["close"]]]);
    await stopped;
  });

  it("is closed after an answer that was pending", async () => {
    const { server, port } = await startApi();
    const socket = connect(port, "127.0.0.1");
    const expecting = requestTo("POST /sim/clock", "", ["Expect: 100-continue", "Content-Length: 2"]);
    socket.write(requestTo("GET /clob/time") + expecting);
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes;
    });
    await expect.poll(() => received).toContain("100 Continue");
    const [stopped, closed] = [server.close(), once(socket, "close")];
    received = "";
    socket.write("{}");
    await Promise.all([stopped, closed]);
    const replies = parseReplies(Buffer.from(received));
    expect(replies.map(({ headers }) => headers.get("connection"))).toEqual([["close"]]);
  });
});

const folder = temporaryFolder();

it("a change of the clock that is not done when the server stops ends there, before the last line of the journal", async () => {
  const data = join(folder, "stopped");
  const stopping = await startApi({ data, bots: "busy" });
  const sequence = async () => (await stopping.get<{ sequence: number }>("/sim")).sequence;
  const before = await sequence();
  const socket = connect(stopping.port, "127.0.0.1");
  socket.write(requestTo("POST /sim/clock", JSON.stringify({ advance: "365d" })));
  await expect.poll(sequence).toBeGreaterThan(before);
  await stopping.server.close();
  const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ k: "close" });
});

/** An outbox with a number of connected clients, and the answers it has sent. */
function outboxOf(clients: number) {
  const outbox = new Outbox();
  const sockets = Array.from({ length: clients }, () => new EventEmitter());
  for (const socket of sockets) outbox.countClient(socket as Socket);
  const sent: number[] = [];
  const post = (...answers: readonly number[]): void => {
    for (const answer of answers) outbox.post(() => sent.push(answer));
  };
  return { outbox, sockets, sent, post };
}

describe("the answer of an outbox", () => {
  it("is sent at once if few clients are connected", () => {
    const { sent, post } = outboxOf(3);
    post(1, 2);
    expect(sent).toEqual([1, 2]);
  });

  it("is sent at the end of the turn if many clients are connected, in order of completion", async () => {
    const { outbox, sent, post } = outboxOf(4);
    post(1, 2);
    outbox.post(() => post(4));
    post(3);
    expect(sent).toEqual([]);
    await nextTurn();
    expect(sent).toEqual([1, 2, 3]);
    await nextTurn();
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it("is sent at once again when clients have disconnected", async () => {
    const { sockets, sent, post } = outboxOf(4);
    post(1);
    sockets[0]?.emit("close");
    post(2);
    expect(sent).toEqual([2]);
    await nextTurn();
    expect(sent).toEqual([2, 1]);
  });
});

/** Returns the numbers of pieces that a response gives to its socket at a time, and the bytes of its body. */
async function sentText(text: string) {
  const pieces: Buffer[] = [];
  const counts: number[] = [];
  const take = (chunks: readonly { readonly chunk: Buffer }[], done: () => void): void => {
    counts.push(chunks.length);
    pieces.push(...chunks.map(({ chunk }) => chunk));
    done();
  };
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => take([{ chunk }], done);
  const socket = new Duplex({ write, writev: take, read() {} }) as Socket;
  const response = new Outgoing(new Incoming(socket));
  response.assignSocket(socket);
  const length = Buffer.byteLength(text);
  response.writeHead(200, ["content-length", String(length)]);
  response.endWith(text, length === text.length);
  await once(response, "finish");
  const bytes = Buffer.concat(pieces);
  return { counts, body: bytes.subarray(bytes.indexOf("\r\n\r\n") + 4) };
}

describe("the text of an answer", () => {
  it("goes to the socket in one piece with the head, if it is ASCII", async () => {
    expect((await sentText("{}")).counts).toEqual([1]);
  });

  it.each(["{}", '{"name":"Zürich"}', '{"name":"✓"}'])("is sent in UTF-8: %s", async (text) => {
    expect((await sentText(text)).body.toString()).toBe(text);
  });
});
