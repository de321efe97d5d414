import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { bytesOf, post } from "./call.ts";
import { bombard } from "./raw-client.ts";

const servers: Server[] = [];

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const load = (port: number, ...bodies: readonly object[]) =>
  bombard({
    port,
    requests: bodies.map((body) => bytesOf(post("/x", body), port)),
    connections: 3,
    durationMs: 1,
  });

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe("the client that loads a server", () => {
  it("sends the requests in turn and ends after the last of them", async () => {
    const received: string[] = [];
    const port = await serve((request, response) => {
      request.on("data", (bytes: Buffer) => received.push(bytes.toString()));
      request.on("end", () => response.writeHead(200, ["content-length", "2"]).end("{}"));
    });
    await load(port, { turn: 1 }, { turn: 2 });
    const count = (body: object) => received.filter((each) => each === JSON.stringify(body)).length;
    expect(count({ turn: 1 })).toBeGreaterThanOrEqual(3);
    expect(count({ turn: 2 })).toBe(count({ turn: 1 }));
  });

  it("reads an answer that comes in pieces to its end", async () => {
    const body = "x".repeat(300_000);
    const port = await serve((request, response) => {
      request.resume();
      response.writeHead(200, ["content-length", String(body.length)]).end(body);
    });
    await expect(load(port, {})).resolves.toHaveProperty("requestsPerSecond");
  });

  it.each([
    { what: "an answer that is no 200", status: 503, headers: ["content-length", "0"] },
    { what: "an answer without a length", status: 200, headers: [] },
  ])("fails at $what", async ({ status, headers }) => {
    const port = await serve((request, response) => {
      request.resume();
      response.writeHead(status, headers).end("{}");
    });
    await expect(load(port, {})).rejects.toThrow("not an answer of 200");
  });

  it("fails when the server closes a connection", async () => {
    const port = await serve((request) => request.socket.end());
    await expect(load(port, {})).rejects.toThrow("closed a connection");
  });
});
