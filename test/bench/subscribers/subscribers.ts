import { once } from "node:events";
import { WebSocket } from "ws";
import type { Part } from "../apart.ts";

/** Where subscribers connect to, and how many there are. */
export interface Subscribing {
  readonly port: number;
  readonly count: number;
}

/** Opens a WebSocket to the chain of a server of this machine. */
export async function openSocket(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chain`);
  await once(socket, "open");
  return socket;
}

/** A call, the id of whose answer is that of nobody else. */
export const call = (method: string, ...params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: "2.0", id: method, method, params });

/** Clients of new heads in a process of their own. Each time: how many heads the one that was told fewest knows, and most. */
export const subscribers: Part<Subscribing> = ({ port, count }) => {
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
      throw new Error(`a subscriber was cut off with ${code}`);
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
