import { once } from "node:events";
import { type ClientOptions, WebSocket } from "ws";
import type { Api } from "../support/http.ts";
import { type Answer, rpc } from "./rpc.ts";
import { Seen } from "./seen.ts";

/** What a subscription was told. */
export interface Told {
  readonly subscription: string;
  readonly result: unknown;
}

/** A plain WebSocket to the chain of a server: what it sends is answered in its order. */
export class RpcSocket {
  readonly webSocket: WebSocket;
  /** What its subscriptions were told. */
  readonly told = new Seen<Told>();
  /** The code and the reason with which the connection ended. */
  readonly closed: Promise<readonly [number, string]>;
  readonly #answers: ((answer: unknown) => void)[] = [];

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    this.closed = once(webSocket, "close").then(([code, reason]) => [code as number, String(reason)]);
    webSocket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { readonly method?: string; readonly params: Told };
      if (message.method === "eth_subscription") this.told.add(message.params);
      else this.#answers.shift()?.(message);
    });
  }

  /** Sends a message as it stands, and answers what comes back. */
  send<Reply = Answer>(message: string | Buffer): Promise<Reply> {
    this.webSocket.send(message);
    return new Promise((resolve) => this.#answers.push(resolve as (answer: unknown) => void));
  }

  /** The answer to one call. */
  call(method: string, ...params: readonly unknown[]): Promise<Answer> {
    return this.send(JSON.stringify(rpc(method, params)));
  }

  /** The result of one call that succeeds. */
  async result<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const { error, result } = await this.call(method, ...params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }

  /** The id of a new subscription. */
  subscribe(...params: readonly unknown[]): Promise<string> {
    return this.result("eth_subscribe", ...params);
  }

  close(): void {
    this.webSocket.close();
  }
}

/** The chain's address for a WebSocket. */
export const socketUrl = ({ server }: Api): string => `${server.url.replace("http", "ws")}/chain`;

/** A connection that is open. */
export async function openSocket(api: Api, options: ClientOptions = {}): Promise<RpcSocket> {
  const webSocket = new WebSocket(socketUrl(api), options);
  await once(webSocket, "open");
  return new RpcSocket(webSocket);
}

/** The status and the body with which a wish for a connection is refused. */
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
