import type { Server } from "node:http";
import { type Duplex, duplexPair } from "node:stream";

/**
 * A connection to an HTTP server of this process, over no network; the server need not listen. When one end is destroyed,
 * so is the other.
 */
export function connectInMemory(server: Server): Duplex {
  const [client, served] = duplexPair();
  for (const [end, other] of [[client, served] as const, [served, client] as const]) {
    // What Node's HTTP calls on a socket of the system, which can wait, and keep a process alive.
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
