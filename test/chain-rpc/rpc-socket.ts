import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import type { Api } from "../support/http.ts";
import { Collected } from "./collected.ts";
import { type Answer, resultIn, rpc } from "./rpc.ts";

/** A notification of a subscription. */
export interface Notification {
  readonly subscription: string;
  readonly result: unknown;
}

/** A plain WebSocket to the chain of a server. Answers come in the order of the requests. */
export class RpcSocket {
  readonly webSocket: WebSocket;
  readonly notifications = new Collected<Notification>();
  /** Close code and reason of the connection. */
  readonly closed: Promise<readonly [number, string]>;
  readonly #answers: ((answer: unknown) => void)[] = [];

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    this.closed = once(webSocket, "close").then(([code, reason]) => [code as number, String(reason)]);
    webSocket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { readonly method?: string; readonly params: Notification };
      if (message.method === "eth_subscription") this.notifications.add(message.params);
      else this.#answers.shift()?.(message);
    });
  }

  /** Sends a message unchanged and returns its answer. */
  send<Reply = Answer>(message: string | Buffer): Promise<Reply> {
    this.webSocket.send(message);
    return new Promise((resolve) => this.#answers.push(resolve as (answer: unknown) => void));
  }

  call(method: string, ...params: readonly unknown[]): Promise<Answer> {
    return this.send(JSON.stringify(rpc(method, params)));
  }

  /** Performs one call, which must succeed, and returns its result. */
  async result<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    return resultIn<Result>(method, await this.call(method, ...params));
  }

  subscribe(...params: readonly unknown[]): Promise<string> {
    return this.result("eth_subscribe", ...params);
  }

  close(): void {
    this.webSocket.close();
  }
}

/** Returns the URL of the chain for a WebSocket. */
export const socketUrl = ({ server }: Api): string => `${server.url.replace("http", "ws")}/chain`;

/** Opens a connection. */
export async function openSocket(api: Api, options: ClientOptions = {}): Promise<RpcSocket> {
  const webSocket = new WebSocket(socketUrl(api), options);
  await once(webSocket, "open");
  return new RpcSocket(webSocket);
}

/** Returns status and body of a refused connection. */
export function refusalOf(url: string, options: ClientOptions = {}): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const webSocket = new WebSocket(url, options);
    webSocket.on("error", reject);
    webSocket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += String(chunk);
      });
      response.on("end", () => resolve([response.statusCode ?? 0, body]));
    });
  });
}
