import type { Slices } from "../engine/slices.ts";
import type { Outgoing } from "./exchange-message.ts";

const PIECE_LENGTH = 64 * 1024;

/**
 * Writes the pieces of an answer as the client takes them, while others have their turn, and ends it. Stops without a word
 * when the client goes away.
 */
export async function writePieces(
  slices: Slices,
  response: Outgoing,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  let hasTime = await slices.next();
  for (const piece of pieces) {
    if (response.destroyed) return;
    const hasRoom = response.write(piece);
    if (hasRoom && hasTime()) continue;
    if (!hasRoom) await roomIn(response);
    hasTime = await slices.next();
  }
  response.end();
}

/** Waits until a response takes more, or its connection has ended. */
function roomIn(response: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go);
      response.off("close", go);
      resolve();
    };
    response.on("drain", go);
    response.on("close", go);
  });
}

/** Lines of text, each followed by a line feed, put together into pieces worth a write. */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** A text as UTF-8, piece by piece. */
export function* slicesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PIECE_LENGTH) yield bytes.subarray(at, at + PIECE_LENGTH);
}
