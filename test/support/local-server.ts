import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Listens on a free port of 127.0.0.1 and returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns a port that no server uses now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenLocally(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
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
