import { once } from "node:events";
import { WebSocket } from "ws";
import type { ProcessTask } from "../separate-process.ts";

/** Server and number of subscribers. */
export interface Subscribing {
  readonly port: number;
  readonly count: number;
}

/** Opens a WebSocket to the chain of a local server. */
export async function openSocket(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chain`);
  await once(socket, "open");
  return socket;
}

/** Returns a call with a unique id. */
export const call = (method: string, ...params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: "2.0", id: method, method, params });

/** Subscribers of new heads in a separate process. Returns the lowest and highest number of heads received by one. */
export const subscribers: ProcessTask<Subscribing> = ({ port, count }) => {
  const told = new Array<number>(count).fill(0);
  let opened: Promise<unknown> | null = null;
  const open = async (index: number): Promise<void> => {
    const socket = await openSocket(port);
    const answered = once(socket, "message");
    socket.send(call("eth_subscribe", "newHeads"));
    await answered;
    socket.on("message", () => {
      told[index] = (told[index] as number) + 1;
    });
    socket.on("close", (code) => {
      throw new Error(`a subscriber was disconnected with ${code}`);
    });
  };
  return async () => {
    opened ??= (async () => {
      for (let index = 0; index < count; index += 1) await open(index);
    })();
    await opened;
    return [Math.min(...told), Math.max(...told)];
  };
};
