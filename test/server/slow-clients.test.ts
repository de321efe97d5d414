import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import { refusalIn } from "./raw-socket.ts";

const LIMIT_MS = 1_000;
const SLOW = 200;
/** One byte at a time, more often than once a second, so that the silence is not what ends it. */
const DRIP_MS = 250;
/** Bytes that a client sends within the limit. Counted instead of milliseconds, because a busy machine delays both alike. */
const LIMIT_BYTES = LIMIT_MS / DRIP_MS;
const MAX_BYTES = 5 * LIMIT_BYTES;

const api = useApi({ requestTimeout: LIMIT_MS });

const IN_HEADERS = "GET /clob/time HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const IN_BODY =
  "POST /clob/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";

interface SlowClient {
  /** Bytes sent until the server hung up; infinite if it did not. */
  readonly bytes: number;
  readonly answer: string;
}

/** Sends a beginning and then one byte after the other until the server hangs up. */
function dripping(beginning: string, onEnd: "close" | "end" = "end"): Promise<SlowClient> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port: api.port, host: "127.0.0.1", allowHalfOpen: true });
    let sent = 0;
    let answer = "";
    let drip: NodeJS.Timeout | undefined;
    const end = (bytes: number): void => {
      clearInterval(drip);
      resolve({ bytes, answer });
      socket.destroy();
    };
    socket.on("connect", () => {
      socket.write(beginning);
      drip = setInterval(() => {
        socket.write("a");
        sent += 1;
        if (sent === MAX_BYTES) end(Number.POSITIVE_INFINITY);
      }, DRIP_MS);
    });
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
    socket.on("error", () => {});
    socket.on(onEnd, () => end(sent));
  });
}

/** How long each of a series of polls takes, in milliseconds, shortest first, until told to stop. */
async function poll(until: () => boolean): Promise<number[]> {
  const times: number[] = [];
  do {
    const start = performance.now();
    const reply = await fetch(`${api.server.url}/clob/time`);
    await reply.text();
    times.push(performance.now() - start);
    expect(reply.status).toBe(200);
  } while (!until());
  return times.sort((a, b) => a - b);
}

const p99 = (times: readonly number[]): number => times[Math.ceil(times.length * 0.99) - 1] ?? 0;

describe("a client that takes its time", () => {
  it(titleOf("H12"), async () => {
    let polls = 0;
    const alone = p99(await poll(() => ++polls >= 200));
    const before = await api.stateHash();
    let done = false;
    const clients = Promise.all(
      Array.from({ length: SLOW }, (_, index) => dripping(index % 2 === 0 ? IN_HEADERS : IN_BODY)),
    ).finally(() => {
      done = true;
    });
    const crowded = p99(await poll(() => done));
    for (const { bytes, answer } of await clients) {
      expect(bytes).toBeLessThan(2 * LIMIT_BYTES);
      const [head = "", text = ""] = answer.split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 408 /);
      const headers = new Map(
        head
          .split("\r\n")
          .slice(1)
          .map((line) => line.split(": ") as [string, string]),
      );
      const lists = new Map([...headers].map(([name, value]) => [name, [value]]));
      expect(refusalIn({ status: 408, headers: lists, text }).code).toBe("REQUEST_TIMEOUT");
    }
    // On a machine that is busy with other things the poller is slow by itself.
    expect(crowded).toBeLessThan(Math.max(50, 4 * alone));
    expect(await api.stateHash()).toBe(before);
  });

  it("is cut off even if it never hangs up itself", async () => {
    const clients = await Promise.all([IN_HEADERS, IN_BODY].map((beginning) => dripping(beginning, "close")));
    for (const { bytes } of clients) expect(bytes).toBeLessThan(4 * LIMIT_BYTES);
  });
});
