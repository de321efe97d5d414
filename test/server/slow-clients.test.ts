import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import { parseReplies, refusalIn } from "./raw-socket.ts";

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

const api = useApi({ requestTimeout: LIMIT_MS });

const HEAD_START = "GET /clob/time HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const BODY_START =
  "POST /clob/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";

interface SlowClient {
  /** Bytes sent until the server closed the connection; infinite if it did not. */
  readonly bytes: number;
  readonly answer: string;
}

/** Sends the start of a request and then one byte per interval until the server closes the connection. */
function sendSlowly(start: string, onEnd: "close" | "end" = "end"): Promise<SlowClient> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port: api.port, host: "127.0.0.1", allowHalfOpen: true });
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
    const before = await api.stateHash();
    let isAnyClosed = false;
    const clients = Array.from({ length: SLOW }, (_, index) =>
      sendSlowly(index % 2 === 0 ? HEAD_START : BODY_START).finally(() => {
        isAnyClosed = true;
      }),
    );
    let answered = 0;
    for (; !isAnyClosed; answered += 1) expect((await fetch(`${api.server.url}/clob/time`)).status).toBe(200);
    // The others are served meanwhile: a second suffices for some hundred requests, for five on the busiest machine.
    expect(answered).toBeGreaterThan(5);
    for (const { bytes, answer } of await Promise.all(clients)) {
      expect(bytes).toBeLessThan(LATEST);
      const [reply] = parseReplies(Buffer.from(answer));
      expect(reply && refusalIn(reply)).toMatchObject({ status: 408, code: "REQUEST_TIMEOUT" });
    }
    expect(await api.stateHash()).toBe(before);
  });

  it("is disconnected even if it does not close its side", async () => {
    const clients = await Promise.all(
      [HEAD_START, BODY_START].map((beginning) => sendSlowly(beginning, "close")),
    );
    for (const { bytes } of clients) expect(bytes).toBeLessThan(LATEST);
  });
});
