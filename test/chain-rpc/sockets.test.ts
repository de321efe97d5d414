import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { addFault } from "../server/faults.ts";
import { answerTo } from "../server/raw-socket.ts";
import { type Api, startApi } from "../support/http.ts";
import { type Answer, post, rpc } from "./rpc.ts";
import { openSocket, type RpcSocket, refusalOf, socketUrl } from "./rpc-socket.ts";

let api: Api;
let socket: RpcSocket;

beforeAll(async () => {
  api = await startApi({ settlement: "manual" });
});
afterAll(() => api.close());
beforeEach(async () => {
  socket = await openSocket(api);
});
afterEach(() => socket.close());

interface Head {
  readonly hash: string;
}

const CHAIN_ID = { jsonrpc: "2.0", id: 1, result: "0x7a69" };

describe("a message", () => {
  it.each([
    ["a call", rpc("eth_chainId")],
    [
      "a batch with a notification",
      [rpc("eth_chainId", [], "a"), { jsonrpc: "2.0", method: "eth_chainId" }, 7],
    ],
    ["an unknown method", rpc("eth_nowhere")],
    ["wrong parameters", rpc("eth_getBalance", ["0x1", "latest"])],
    ["params by name", { ...rpc("eth_chainId"), params: { a: 1 } }],
    ["an empty batch", []],
    ["no call at all", 7],
    ["no JSON", "{"],
    ["no text", ""],
  ])("is answered as over HTTP: %s", async (_what, message) => {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const overHttp = (await post(api, text)).body;
    expect(await socket.send(text)).toEqual(overHttp);
  });

  it("that is binary is no JSON, whatever it holds", async () => {
    const answer = await socket.send(Buffer.from(JSON.stringify(rpc("eth_chainId"))));
    expect(answer).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await socket.call("eth_chainId")).toEqual(CHAIN_ID);
  });

  it("is answered in the order in which it came, one after the other, and notifications not at all", async () => {
    socket.webSocket.send(JSON.stringify({ jsonrpc: "2.0", method: "evm_mine" }));
    const before = await socket.result<string>("eth_blockNumber");
    const [mined, after] = await Promise.all([
      socket.call("anvil_mine", "0x3", "0x1"),
      socket.result<string>("eth_blockNumber"),
    ]);
    expect(mined.result).toBeNull();
    expect(Number(after)).toBe(Number(before) + 3);
  });

  it("of more than 1 MiB ends its connection with 1009, and no other", async () => {
    const other = await openSocket(api);
    const call = rpc("eth_call", ["x".repeat(1024 * 1024)]);
    other.webSocket.send(JSON.stringify(call));
    expect((await other.closed)[0]).toBe(1009);
    expect(await socket.call("eth_chainId")).toEqual(CHAIN_ID);
  });

  it("that is hit by a fault is answered with its error, and then the next one is carried out", async () => {
    await addFault(api, { route: "POST /chain", status: 503, latency: "1ms", times: 1 });
    expect(await socket.call("evm_mine")).toMatchObject({
      id: 1,
      error: { code: -32603, data: { code: "UNAVAILABLE", status: 503 } },
    });
    expect(await socket.call("eth_chainId")).toEqual(CHAIN_ID);
  });

  it.each([
    ["connection", 0],
    ["reply", 1],
  ] as const)("whose %s a fault drops ends the connection", async (drop, mined) => {
    const before = Number(await socket.result("eth_blockNumber"));
    await addFault(api, { route: "POST /chain", drop, times: 1 });
    socket.webSocket.send(JSON.stringify(rpc("evm_mine")));
    expect((await socket.closed)[0]).toBe(1006);
    const again = await openSocket(api);
    expect(Number(await again.result("eth_blockNumber"))).toBe(before + mined);
    again.close();
  });
});

describe("a connection", () => {
  it.each([
    ["a page of a foreign origin", { origin: "http://evil.example" }, "ORIGIN_NOT_ALLOWED"],
    ["a page of no origin", { origin: "null" }, "ORIGIN_NOT_ALLOWED"],
    ["a name that means this machine by DNS alone", { host: "evil.example" }, "HOST_NOT_ALLOWED"],
  ])("is refused to %s", async (_who, headers, code) => {
    const [status, body] = await refusalOf(socketUrl(api), { headers });
    expect([status, JSON.parse(body)]).toMatchObject([403, { error: { code: 4100, data: { code } } }]);
  });

  it("is open to pages of this machine", async () => {
    const page = await openSocket(api, { origin: "http://localhost:3000" });
    expect(await page.call("eth_chainId")).toEqual(CHAIN_ID);
    page.close();
  });

  it("is there at /chain alone", async () => {
    const [status] = await refusalOf(socketUrl(api).replace("/chain", "/clob/time"));
    expect(status).toBe(200);
  });

  it.each([
    ["an unknown version", "sec-websocket-version: 7\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="],
    ["no key", "sec-websocket-version: 13"],
  ])("with %s is refused", async (_what, headers) => {
    const head = `GET /chain HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n\r\n`;
    expect((await answerTo(api.port, head)).status).toBe(400);
  });

  it("steers the chain only with the token of the control plane", async () => {
    const guarded = await startApi({ simToken: "s3cret" });
    const stranger = await openSocket(guarded);
    expect((await stranger.call("evm_mine")).error?.code).toBe(4100);
    expect(await stranger.result("eth_subscribe", "newHeads")).toBe("0x1");
    const owner = await openSocket(guarded, { headers: { authorization: "Bearer s3cret" } });
    expect((await owner.call("evm_mine")).result).toBe("0x0");
    await stranger.told.count(1);
    await guarded.close();
  });

  it("sees the exchange that it is connected to, and no other of the process", async () => {
    const other = await startApi({ settlement: "manual" });
    const there = await openSocket(other);
    for (const each of [socket, there]) await each.subscribe("newHeads");
    await there.call("evm_mine");
    await there.told.count(1);
    await socket.call("evm_mine");
    await Promise.all([socket.told.count(1), there.call("eth_chainId")]);
    expect((await there.told.count(1)).length).toBe(1);
    await other.close();
  });

  it("is ended with 1001 when the server closes, after what is under way", async () => {
    const own = await startApi({ settlement: "manual" });
    const client = await openSocket(own);
    await client.subscribe("newHeads");
    await own.close();
    expect(await client.closed).toEqual([1001, "the server stops"]);
  });
});

describe("as time passes", () => {
  let own: Api;
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
    own = await startApi({ settlement: "manual" });
  });
  afterEach(async () => {
    await own.close();
    vi.useRealTimers();
  });

  it("who is not there any more is cut off, who answers pings is not", async () => {
    const gone = await openSocket(own, { autoPong: false });
    const there = await openSocket(own);
    for (let round = 0; round < 2; round += 1) {
      const pinged = Promise.all([gone, there].map(({ webSocket }) => once(webSocket, "ping")));
      vi.advanceTimersByTime(20_000);
      if (round === 0) await pinged;
      // Its pong has come before this.
      expect(await there.call("eth_chainId")).toEqual(CHAIN_ID);
    }
    expect((await gone.closed)[0]).toBe(1006);
  });

  describe("with more to tell than all buffers on the way hold", () => {
    const BLOCKS = 1_000;
    /** Each is told of every block: 60 MB in all. */
    const SUBSCRIPTIONS = 30;
    let slow: RpcSocket;
    let reader: RpcSocket;

    beforeEach(async () => {
      [slow, reader] = [await openSocket(own), await openSocket(own)];
      await reader.subscribe("newHeads");
      for (let count = 0; count < SUBSCRIPTIONS; count += 1) await slow.subscribe("newHeads");
      slow.webSocket.pause();
      const timers = vi.getTimerCount();
      await reader.result("anvil_mine", BLOCKS);
      await reader.told.count(BLOCKS);
      // That of the one whose buffer is full.
      while (vi.getTimerCount() === timers) await new Promise(setImmediate);
    });

    it("who takes nothing is cut off with 1013 and a reason, and others are told everything", async () => {
      vi.advanceTimersByTime(10_000);
      slow.webSocket.resume();
      const reason = expect.stringMatching(/^\d+ bytes wait, of which none was taken for 10 s$/);
      expect(await slow.closed).toEqual([1013, reason]);
      expect((await slow.told.count(1)).length).toBeLessThan(BLOCKS * SUBSCRIPTIONS);
      expect(await reader.call("eth_chainId")).toEqual(CHAIN_ID);
    });

    it("who takes it, however late, is told everything", async () => {
      vi.advanceTimersByTime(9_000);
      slow.webSocket.resume();
      const told = await slow.told.count(BLOCKS * SUBSCRIPTIONS);
      const seen = new Set(
        told.map(({ subscription, result }) => `${subscription} ${(result as Head).hash}`),
      );
      expect(seen.size).toBe(BLOCKS * SUBSCRIPTIONS);
    });
  });

  it("who does not hang up is cut off when the server closes", async () => {
    const another = await startApi({ settlement: "manual" });
    const client = await openSocket(another);
    client.webSocket.pause();
    const closing = another.close();
    vi.advanceTimersByTime(2_000);
    await closing;
    client.webSocket.resume();
    expect((await client.closed)[0]).toBe(1001);
  });
});

it("a request that waits for its answer is not lost by a subscription, nor the other way round", async () => {
  const id = await socket.subscribe("newHeads");
  const calls = Array.from({ length: 50 }, (_, place) => JSON.stringify(rpc("evm_mine", [], place)));
  const answers = await Promise.all(calls.map((call) => socket.send<Answer>(call)));
  expect(answers.map((answer) => answer.id)).toEqual(calls.map((_call, place) => place));
  const told = await socket.told.count(50);
  expect(told.every(({ subscription }) => subscription === id)).toBe(true);
});
