import { createHash } from "node:crypto";
import { mixEvents } from "../core/event-words.ts";
import type { DomainEvent } from "../core/events.ts";
import { Digest, type DigestWords } from "../core/hash.ts";
import type { State } from "../core/state.ts";
import { canonicalLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";

/** Lines are handed to the hash in pieces of about so many characters. */
const PIECE_LENGTH = 65_536;

/** The SHA-256 of the canonical state, worked out anew from all that is in it: 64 hex digits. */
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
 * What led to a state, in 128 bits: the text of the world or the content hash of the state that a history begins with, then
 * the moment and events of every command accepted after that. It costs the same after each command, however large the
 * state has become.
 */
export class HistoryDigest {
  #digest: Digest;

  /** Goes on from `text`, 32 hex digits. */
  constructor(text: string) {
    this.#digest = new Digest(wordsIn(text));
  }

  /** The digest of a history that begins with a state. */
  static of(state: State): HistoryDigest {
    return new HistoryDigest(contentHash(state).slice(0, 32));
  }

  /** The digest of a history that begins with what a text tells. */
  static ofText(text: string): HistoryDigest {
    return new HistoryDigest(createHash("sha256").update(text).digest("hex").slice(0, 32));
  }

  /** Takes in an accepted command. */
  mix(at: Millis, events: readonly DomainEvent[]): void {
    this.#digest.mixWide(at);
    mixEvents(this.#digest, events);
    this.#digest.mix(events.length);
  }

  /** 32 hex digits, with which another can go on. */
  get text(): string {
    return this.#digest.words.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** 32 bits of it. All four words count: the latest command has not met each of them. */
  get short(): number {
    const [a, b, c, d] = this.#digest.words;
    return (a ^ b ^ c ^ d) >>> 0;
  }

  /** What a state hash is shown as: `v2:` and 64 hex digits. Version 1 was the content hash. */
  get hash(): string {
    return `v2:${createHash("sha256").update(this.text).digest("hex")}`;
  }
}

function wordsIn(text: string): DigestWords {
  const [a, b, c, d] = [0, 8, 16, 24].map((at) => Number.parseInt(text.slice(at, at + 8), 16));
  if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("no digest");
  return [a, b, c, d];
}
