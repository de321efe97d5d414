import { createHash } from "node:crypto";
import { mixEvents } from "../core/event-words.ts";
import type { DomainEvent } from "../core/events.ts";
import { Digest, type DigestWords } from "../core/hash.ts";
import type { State } from "../core/state.ts";
import { canonicalLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";

/** Approximate number of characters hashed at a time. */
const PIECE_LENGTH = 65_536;

/** SHA-256 of the canonical state, computed from all of its content: 64 hex digits. */
export function contentHash(state: State): string {
  const hash = createHash("sha256");
  let piece = "";
  for (const line of canonicalLines(state)) {
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    hash.update(piece);
    piece = "";
  }
  return hash.update(piece).digest("hex");
}

/**
 * 128-bit digest of a history: the text of the world or the content hash of the state at its beginning, then time and
 * events of every accepted command. Its cost per command does not depend on the size of the state.
 */
export class HistoryDigest {
  #digest: Digest;

  /** Continues from `text`, 32 hex digits. */
  constructor(text: string) {
    this.#digest = new Digest(wordsIn(text));
  }

  /** Starts the digest of a history that begins with a state. */
  static of(state: State): HistoryDigest {
    return new HistoryDigest(contentHash(state).slice(0, 32));
  }

  /** Starts the digest of a history whose beginning `text` identifies. */
  static ofText(text: string): HistoryDigest {
    return new HistoryDigest(createHash("sha256").update(text).digest("hex").slice(0, 32));
  }

  /** Adds an accepted command. */
  mix(at: Millis, events: readonly DomainEvent[]): void {
    this.#digest.mixWide(at);
    mixEvents(this.#digest, events);
    this.#digest.mix(events.length);
  }

  /** 32 hex digits, from which another digest can continue. */
  get text(): string {
    return this.#digest.words.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** 32 bits of the digest. All four words are combined, because the latest command does not affect each of them. */
  get short(): number {
    const [a, b, c, d] = this.#digest.words;
    return (a ^ b ^ c ^ d) >>> 0;
  }

  /** The state hash: `v2:` and 64 hex digits. Version 1 was the content hash. */
  get hash(): string {
    return `v2:${createHash("sha256").update(this.text).digest("hex")}`;
  }
}

function wordsIn(text: string): DigestWords {
  const [a, b, c, d] = [0, 8, 16, 24].map((at) => Number.parseInt(text.slice(at, at + 8), 16));
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("no digest");
  return [a, b, c, d];
}
