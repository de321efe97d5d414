import { crc32 } from "node:zlib";
import type { DomainEvent } from "../core/events.ts";
import { mixEvents, type WordSink } from "../core/mix-events.ts";

const SEED = 0x2545f491;

/** 32 bits, by two rounds a word of the finalizer of MurmurHash3 (Austin Appleby, public domain). */
class ShortHash implements WordSink {
  value = SEED;

  mix(word: number): void {
    const folded = Math.imul(this.value ^ word, 0x85eb_ca6b);
    this.value = Math.imul(folded ^ (folded >>> 13), 0xc2b2_ae35) ^ (folded >>> 16);
  }

  mixText(text: string): void {
    this.mix(crc32(text));
  }
}

const hash = new ShortHash();

/** 32 bits that name what a command has caused. */
export function eventHash(events: readonly DomainEvent[]): number {
  hash.value = SEED;
  mixEvents(hash, events);
  return hash.value >>> 0;
}
