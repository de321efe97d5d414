import type { Buffer } from "node:buffer";
import { get } from "node:http";
import type { ProcessTask } from "../separate-process.ts";

/** Reader of the live feed in a separate process. Returns the number of openings, the latest sequence number and all bytes. */
export const streamReader: ProcessTask<{ readonly port: number }> = ({ port }) => {
  let [openings, latest, length] = [0, 0, 0];
  // Parses as little as possible, because on few processors its CPU time is missing for the server.
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
