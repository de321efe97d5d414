import { randomInt } from "node:crypto";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Listens on a free port of 127.0.0.1 and returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns a port that no server uses now, below those that systems give to other servers and clients meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.on("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

export interface LocalServer {
  readonly url: string;
  close(): void;
}

/** Starts an HTTP server with a given answer. */
export async function httpServer(answer: RequestListener): Promise<LocalServer> {
  const server = createHttpServer(answer);
  const port = await listenLocally(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
