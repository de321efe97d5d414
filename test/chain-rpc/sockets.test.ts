import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { replyTo } from "../server/raw-socket.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Api, apiOfTest, startApi, useApi } from "../support/http.ts";
import { answerOf, post, rpc } from "./rpc.ts";
import { openSocket, type RpcSocket, refusalOf, socketUrl } from "./rpc-socket.ts";

const api = useApi({ settlement: "manual" });
const folder = temporaryFolder();
let socket: RpcSocket;

beforeEach(async () => {
  socket = await openSocket(api);
});
afterEach(() => socket.close());

const NOTIFICATION = { jsonrpc: "2.0", method: "evm_mine" };
const CHAIN_ID = { jsonrpc: "2.0", id: 1, result: "0x7a69" };

describe("a message", () => {
  it.each([
    ["a call", rpc("eth_chainId")],
    ["a batch with a notification", [rpc("eth_chainId", [], "a"), NOTIFICATION, 7]],
    ["an unknown method", rpc("eth_nowhere")],
    ["an empty batch", []],
    ["a number", 7],
    ["invalid JSON", "{"],
    ["an empty text", ""],
  ])("is answered as over HTTP: %s", async (_case, message) => {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    expect(await socket.send(text)).toEqual((await post(api, text)).body);
  });

  it("that is binary is read as UTF-8, as by anvil", async () => {
    expect(await socket.send(Buffer.from(JSON.stringify(rpc("eth_chainId"))))).toEqual(CHAIN_ID);
    const answer = await socket.send(Buffer.from([0xff]));
    expect(answer).toMatchObject({ id: null, error: { code: -32700 } });
  });

  it("is answered in its order, one at a time; notifications are not answered", async () => {
    socket.webSocket.send(JSON.stringify(NOTIFICATION));
    const before = await socket.result<string>("eth_blockNumber");
    const [mined, after] = await Promise.all([
      socket.call("anvil_mine", "0x3", "0x1"),
      socket.result<string>("eth_blockNumber"),
    ]);
    expect(mined.result).toBeNull();
    expect(Number(after)).toBe(Number(before) + 3);
  });

  it("is executed although its client closes the connection at once", async () => {
    const head = async () => Number((await answerOf(api, "eth_blockNumber")).result);
    const before = await head();
    for (let call = 0; call < 3; call += 1) socket.webSocket.send(JSON.stringify(rpc("evm_mine")));
    socket.close();
    await expect.poll(head).toBe(before + 3);
  });

  it("that waits when the server stops is not executed, although its client has closed the connection", async () => {
    const data = join(folder, "stopped");
    const stopping = await startApi({ data, durability: "power" });
    const { webSocket } = await openSocket(stopping);
    const socketOf = webSocket as unknown as { readonly _socket: Socket };
    // In one write, so that the server has read them all when it learns that the connection is closed.
    socketOf._socket.cork();
    for (let call = 0; call < 500; call += 1) webSocket.send(JSON.stringify(rpc("evm_mine")));
    webSocket.close();
    socketOf._socket.uncork();
    await once(webSocket, "close");
    await stopping.server.close();
    const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ k: "close" });
  });

  it("of more than 1 MiB closes only its own connection, with 1009", async () => {
    const other = await openSocket(api);
    other.webSocket.send(JSON.stringify(rpc("eth_call", ["x".repeat(1024 * 1024)])));
    expect((await other.closed)[0]).toBe(1009);
    expect(await socket.call("eth_chainId")).toEqual(CHAIN_ID);
  });

  it("that matches an injected fault is answered with its error, and the next one is performed", async () => {
    await api.post("/sim/faults", { route: "POST /chain", status: 503, latency: "1ms", times: 1 });
    const error = { code: -32603, data: { code: "UNAVAILABLE", status: 503 } };
    expect(await socket.call("evm_mine")).toMatchObject({ id: 1, error });
    expect(await socket.call("eth_chainId")).toEqual(CHAIN_ID);
  });

  it.each([
    ["connection", 0],
    ["reply", 1],
  ] as const)("whose %s an injected fault drops closes the connection", async (drop, mined) => {
    const before = Number(await socket.result("eth_blockNumber"));
    await api.post("/sim/faults", { route: "POST /chain", drop, times: 1 });
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
    ["a foreign host name", { host: "evil.example" }, "HOST_NOT_ALLOWED"],
  ])("is refused to %s", async (_who, headers, code) => {
    const [status, body] = await refusalOf(socketUrl(api), { headers });
    expect([status, JSON.parse(body)]).toMatchObject([403, { error: { code: 4100, data: { code } } }]);
  });

  it("is open to pages of this machine, and only at /chain", async () => {
    const page = await openSocket(api, { origin: "http://localhost:3000" });
    expect(await page.call("eth_chainId")).toEqual(CHAIN_ID);
    page.close();
    expect((await refusalOf(socketUrl(api).replace("/chain", "/clob/time")))[0]).toBe(200);
  });

  it.each([
    ["an unknown version", "sec-websocket-version: 7\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="],
    ["no key", "sec-websocket-version: 13"],
  ])("with %s is refused", async (_case, headers) => {
    const head = `GET /chain HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n\r\n`;
    expect((await replyTo(api.port, head)).status).toBe(400);
  });

  it("controls the chain only with the token of the control plane", async () => {
    const guarded = await apiOfTest({ simToken: "s3cret" });
    const stranger = await openSocket(guarded);
    expect((await stranger.call("evm_mine")).error?.code).toBe(4100);
    expect(await stranger.result("eth_subscribe", "newHeads")).toBe("0x1");
    const owner = await openSocket(guarded, { headers: { authorization: "Bearer s3cret" } });
    expect((await owner.call("evm_mine")).result).toBe("0x0");
    await stranger.notifications.count(1);
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

  it("a client that does not answer pings is disconnected, another is not", async () => {
    const gone = await openSocket(own, { autoPong: false });
    const there = await openSocket(own);
    for (let round = 0; round < 2; round += 1) {
      const pinged = Promise.all([gone, there].map(({ webSocket }) => once(webSocket, "ping")));
      vi.advanceTimersByTime(20_000);
      if (round === 0) await pinged;
      // Its pong has arrived before this answer.
      expect(await there.call("eth_chainId")).toEqual(CHAIN_ID);
    }
    expect((await gone.closed)[0]).toBe(1006);
  });

  describe("with more notifications than all buffers hold", () => {
    const BLOCKS = 1_000;
    /** Each reports every block: 30 MB in total. */
    const SUBSCRIPTIONS = 15;
    let slow: RpcSocket;
    let reader: RpcSocket;

    beforeEach(async () => {
      [slow, reader] = [await openSocket(own), await openSocket(own)];
      await reader.subscribe("newHeads");
      for (let count = 0; count < SUBSCRIPTIONS; count += 1) await slow.subscribe("newHeads");
      slow.webSocket.pause();
      const timers = vi.getTimerCount();
      await reader.result("anvil_mine", BLOCKS);
      await reader.notifications.count(BLOCKS);
      // The stall timer is cleared while the kernel's buffers grow, and stays when they are full as well.
      for (let turns = 0; turns < 100; turns = vi.getTimerCount() > timers ? turns + 1 : 0) {
        await new Promise(setImmediate);
      }
    });

    it("a client that reads nothing is disconnected with 1013 and a reason, and others receive everything", async () => {
      vi.advanceTimersByTime(10_000);
      slow.webSocket.resume();
      const reason = expect.stringMatching(/^\d+ bytes are pending, and none was read for 10 s$/);
      expect(await slow.closed).toEqual([1013, reason]);
      expect((await slow.notifications.count(1)).length).toBeLessThan(BLOCKS * SUBSCRIPTIONS);
      expect(await reader.call("eth_chainId")).toEqual(CHAIN_ID);
    });

    it("a client that reads late receives everything", async () => {
      vi.advanceTimersByTime(9_000);
      slow.webSocket.resume();
      const received = await slow.notifications.count(BLOCKS * SUBSCRIPTIONS);
      const hashOf = (result: unknown): string => (result as { readonly hash: string }).hash;
      const seen = new Set(received.map(({ subscription, result }) => `${subscription} ${hashOf(result)}`));
      expect(seen.size).toBe(BLOCKS * SUBSCRIPTIONS);
    });
  });

  it("a client that does not close its connection is disconnected when the server closes", async () => {
    const another = await startApi({ settlement: "manual" });
    const client = await openSocket(another);
    client.webSocket.pause();
    const closing = another.close();
    vi.advanceTimersByTime(2_000);
    await closing;
    client.webSocket.resume();
    expect(await client.closed).toEqual([1001, "the server is stopping"]);
  });
});
