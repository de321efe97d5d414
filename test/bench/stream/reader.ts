import type { Buffer } from "node:buffer";
import { get } from "node:http";
import type { Part } from "../apart.ts";

/** A reader of the live feed in a process of its own. Each time: how many openings it was told, the latest sequence and all bytes. */
export const streamReader: Part<{ readonly port: number }> = ({ port }) => {
  let [openings, latest, length] = [0, 0, 0];
  // It looks at the bytes as little as can be: on a machine of few processors what it does is not done by the server.
  const take = (bytes: Buffer): void => {
    length += bytes.length;
    if (bytes.includes("\nevent: opening\n")) openings += 1;
    const at = bytes.lastIndexOf("\nid: ");
    if (at >= 0) latest = Number.parseInt(bytes.toString("latin1", at + 5, at + 30), 10);
  };
  const opened = new Promise<void>((resolve) => {
    get(`http://127.0.0.1:${port}/sim/stream`, (reply) =>
      reply.on("data", take).once("data", () => resolve()),
    );
  });
  return async () => {
    await opened;
    return [openings, latest, length];
  };
};
