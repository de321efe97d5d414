import type { Server } from "node:http";
import { createServer, type Socket, type Server as TcpServer } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { createHttpServer, type Site } from "./http-server.ts";
import type { ExchangeSite } from "./site.ts";

const CLOSE_GRACE_MS = 2_000;

/** Address on which a server listens; port 0 chooses a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Serves a site over HTTP: to clients of this process, and to others after `listen`. */
export class HttpService {
  readonly #server: Server;
  readonly #members: () => readonly ExchangeSite[];
  readonly #sockets = new Set<Socket | Duplex>();
  #keepsAlive = true;

  /** `members` returns the exchanges that the site has opened so far. */
  constructor(site: Site, members: () => readonly ExchangeSite[]) {
    this.#members = members;
    this.#server = createHttpServer(site);
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      if (!this.#keepsAlive) socket.unref();
    });
  }

  /** Returns the port. @throws the system's error if the address cannot be used. */
  listen(address: ListenAddress): Promise<number> {
    return listen(this.#server, address);
  }

  connect(): Duplex {
    return connectInMemory(this.#server);
  }

  /** Whether the server and its connections keep the process alive; initially true. */
  set keepsAlive(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
    for (const handle of [this.#server, ...this.#sockets] as Socket[]) {
      if (keepsAlive) handle.ref();
      else handle.unref();
    }
  }

  /**
   * Answers pending requests, then stops; after `graceMs`, connections are destroyed. After the server has closed, `members`
   * must not grow.
   */
  close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    for (const { service, chainSockets } of this.#members()) {
      service.clock.stop();
      service.stream.close();
      chainSockets.close();
    }
    return new Promise((resolve) => {
      const force = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy();
        for (const { chainSockets } of this.#members()) chainSockets.terminate();
      }, graceMs);
      this.#server.close(() => {
        clearTimeout(force);
        for (const { service } of this.#members()) {
          service.clock.stop();
          service.faults.stop();
          service.log.close();
        }
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }
}

/** @throws the system's error if the address cannot be used. */
export async function requireFree(address: ListenAddress): Promise<void> {
  const probe = createServer();
  await listen(probe, address);
  await new Promise((resolve) => probe.close(resolve));
}

function listen(server: TcpServer, { host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/**
 * Connects to an HTTP server of this process without a network; the server need not listen. Closing one end destroys the
 * other.
 */
function connectInMemory(server: Server): Duplex {
  const [client, served] = duplexPair();
  for (const [end, other] of [[client, served] as const, [served, client] as const]) {
    // Methods of net.Socket that Node's HTTP code calls and a Duplex does not have.
    const nothing = (): Duplex => end;
    Object.assign(end, {
      ref: nothing,
      unref: nothing,
      setKeepAlive: nothing,
      setNoDelay: nothing,
      setTimeout: nothing,
    });
    end.once("close", () => other.destroy());
  }
  server.emit("connection", served);
  return client;
}
