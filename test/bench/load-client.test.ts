import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listenLocally } from "../support/local-server.ts";
import { bombard, bytesOf, post } from "./load-client.ts";

const servers: Server[] = [];

const serve = (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> =>
  listening(createHttpServer(answer));

/** Answers each request, which must arrive in one piece, with bytes. */
const serveRaw = (answer: (socket: Socket) => void): Promise<number> =>
  listening(createServer((socket) => socket.on("data", () => answer(socket)).on("error", () => {})));

function listening(server: Server): Promise<number> {
  servers.push(server);
  return listenLocally(server);
}

/** Calls a function after a number of turns of the event loop, in which sent bytes arrive. */
function afterTurns(turns: number, call: () => void): void {
  setImmediate(() => (turns === 1 ? call() : afterTurns(turns - 1, call)));
}

const load = (port: number, ...bodies: readonly object[]) =>
  bombard({
    port,
    requests: bodies.map((body) => bytesOf(post("/x", body), port)),
    connections: 3,
    durationMs: 20,
  });

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe("the load client", () => {
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

  it("sends nothing before a response in pieces is complete", async () => {
    const answering = new Set<Socket>();
    let early = 0;
    const port = await serve((request, response) => {
      if (answering.has(request.socket)) early += 1;
      answering.add(request.socket);
      request.resume();
      response.writeHead(200, ["content-length", "4"]).write("{ ");
      afterTurns(5, () => {
        answering.delete(request.socket);
        response.end(" }");
      });
    });
    await load(port, {});
    expect(early).toBe(0);
  });

  it("reads a head in pieces, with names in capitals and status 201", async () => {
    const port = await serveRaw((socket) => {
      socket.write("HTTP/1.1 201 Created\r\nContent-Le");
      afterTurns(5, () => socket.write("ngth: 2\r\n\r\n{}"));
    });
    expect((await load(port, {})).requestsPerSecond).toBeGreaterThan(0);
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

  it("fails if the server closes a connection", async () => {
    const port = await serve((request) => request.socket.end());
    await expect(load(port, {})).rejects.toThrow("closed a connection");
  });
});
