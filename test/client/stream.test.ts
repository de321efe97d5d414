import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StreamEntry } from "../../src/api/event-stream.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import { ExchangeFailure } from "../../src/client/result.ts";
import { openLocal } from "../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { startApi, TINY_WORLD, useApi } from "../support/http.ts";
import { listenLocally } from "../support/local-server.ts";

const api = useApi({ simToken: "secret" });

/** The first `count` entries of a feed; `then` is called after each. */
async function take(
  client: ExchangeClient,
  count: number,
  then: (entry: StreamEntry) => unknown = () => {},
): Promise<StreamEntry[]> {
  const entries: StreamEntry[] = [];
  for await (const entry of client.control.stream()) {
    entries.push(entry);
    if (entries.length === count) return entries;
    await then(entry);
  }
  throw new Error("the feed has ended");
}

const eventsOf = (entries: readonly StreamEntry[]): string[] => entries.map(({ event }) => event);

describe("control.stream", () => {
  it("yields entries, with the token of the control plane", async () => {
    const client = new ExchangeClient(api.server.url, { simToken: "secret" });
    const entries = await take(client, 3, ({ event }) => event === "opening" && api.newToken());
    expect(eventsOf(entries)).toEqual(["opening", "command", "command"]);
  });

  it("throws the server's refusal", async () => {
    const client = new ExchangeClient(api.server.url);
    const failed = await take(client, 1).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ExchangeFailure);
    expect((failed as ExchangeFailure).error).toMatchObject({ code: "SIM_TOKEN_REQUIRED", status: 401 });
  });

  it("throws, without reconnecting, if no server listens", async () => {
    const gone = await startApi();
    await gone.close();
    await expect(take(new ExchangeClient(gone.server.url), 1)).rejects.toThrow("CONNECTION_LOST");
  });

  it("continues after the last entry over a new connection", async () => {
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const upstream = connect(api.port, "127.0.0.1");
      sockets.push(socket);
      for (const each of [socket, upstream]) each.on("error", () => each.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    onTestFinished(() => void proxy.close());
    const port = await listenLocally(proxy);
    const client = new ExchangeClient(`http://127.0.0.1:${port}`, { simToken: "secret" });
    const entries = await take(client, 7, async ({ event }) => {
      if (event === "command") return;
      for (const socket of sockets.splice(0)) socket.destroy();
      await api.newToken();
    });
    expect(eventsOf(entries)).toEqual([
      ...["opening", "command", "command", "request", "command", "command", "request"],
    ]);
  });

  it("ends with its signal", async () => {
    const ending = new AbortController();
    const client = new ExchangeClient(api.server.url, { simToken: "secret" });
    const entries: StreamEntry[] = [];
    for await (const entry of client.control.stream({ from: "start", signal: ending.signal })) {
      entries.push(entry);
      ending.abort();
    }
    expect(eventsOf(entries)[0]).toBe("opening");
  });

  it("ends when its client is closed", async () => {
    const client = new ExchangeClient(api.server.url, { simToken: "secret" });
    await expect(take(client, 2, () => client.close())).rejects.toThrow("the feed has ended");
  });

  it("follows an exchange in this process", async () => {
    const local = await openLocal({ ...DEFAULT_CONFIG, world: TINY_WORLD, logLevel: "silent" });
    onTestFinished(() => local.close());
    const client = new ExchangeClient("http://localhost", { transport: local.transport });
    const entries = await take(client, 2, () => client.control.chain.bump());
    expect(eventsOf(entries)).toEqual(["opening", "request"]);
  });
});
