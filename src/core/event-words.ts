import type { DomainEvent } from "./events.ts";
import { CANCEL_REASONS, MATCH_TYPES, ORDER_TYPES, SIDES } from "./terms.ts";

/** Consumer of 32-bit integers and texts, in order. */
export interface WordSink {
  /** Mixes in words; `to` is exclusive. */
  mixWords(words: Int32Array, from: number, to: number): void;
  mixText(text: string): void;
}

/** Upper bound of the words of one event. */
const MAX_EVENT_WORDS = 32;
const TWO_32 = 4_294_967_296;
/** Word for null. */
const NONE = 0x7fff_fffd;

/** Words of the latest encoded events, cached because the journal and the state hash need the same ones in turn. */
class EventWords {
  #events: readonly DomainEvent[] | null = null;
  #words = new Int32Array(1024);
  #count = 0;
  /** Texts between the words, each before the word at index `at`. */
  #texts: { readonly at: number; readonly text: string }[] = [];

  /** Mixes the words of events into a sink, in order. */
  mixInto(sink: WordSink, events: readonly DomainEvent[]): void {
    if (events !== this.#events) this.#encode(events);
    let from = 0;
    for (const { at, text } of this.#texts) {
      sink.mixWords(this.#words, from, at);
      sink.mixText(text);
      from = at;
    }
    sink.mixWords(this.#words, from, this.#count);
  }

  #encode(events: readonly DomainEvent[]): void {
    this.#events = null;
    this.#count = 0;
    if (this.#texts.length > 0) this.#texts = [];
    for (const event of events) {
      if (this.#count + MAX_EVENT_WORDS > this.#words.length) {
        const longer = new Int32Array(this.#words.length * 2);
        longer.set(this.#words);
        this.#words = longer;
      }
      this.#encodeEvent(event);
    }
    this.#events = events;
  }

  /** Encodes frequent events field by field, others as text. Numbers of records, prices and sizes are one word each. */
  #encodeEvent(event: DomainEvent): void {
    switch (event.kind) {
      case "orderPlaced":
        this.#putWord(1);
        this.#putWord(event.order);
        this.#putWord(event.account);
        this.#putWord(event.token);
        this.#putWord(event.price);
        this.#putWord(event.size);
        this.#putNumber(event.expiration);
        this.#putNumber(event.touch);
        this.#putNumber(event.fillableSize);
        this.#putNumber(event.blockingOwnOrder);
        this.#putWord(SIDES.indexOf(event.side) + 1);
        this.#putWord(ORDER_TYPES.indexOf(event.orderType) + 1);
        break;
      case "orderTraded":
        this.#putWord(2);
        this.#putWord(event.trade);
        this.#putWord(event.taker);
        this.#putWord(event.maker);
        this.#putWord(event.price);
        this.#putWord(event.size);
        this.#putNumber(event.fee);
        this.#putWord(event.transaction);
        this.#putWord(MATCH_TYPES.indexOf(event.matchType) + 1);
        break;
      case "orderRested":
        this.#putTagged(3, event.order);
        break;
      case "orderExpired":
        this.#putTagged(4, event.order);
        break;
      case "blocksMined":
        this.#putTagged(5, event.height);
        this.#putNumber(event.lastTransaction);
        this.#putNumber(event.empty);
        break;
      case "orderCanceled":
        this.#putTagged(7, event.order);
        this.#putWord(CANCEL_REASONS.indexOf(event.reason) + 1);
        break;
      case "transactionMined":
        this.#putTagged(8, event.transaction);
        break;
      default:
        this.#putWord(6);
        this.#texts.push({ at: this.#count, text: sortedText(event) });
    }
  }

  #putWord(value: number): void {
    this.#words[this.#count] = value;
    this.#count += 1;
  }

  /** Encodes the tag of a kind, then the number of its record. */
  #putTagged(tag: number, value: number): void {
    this.#putWord(tag);
    this.#putNumber(value);
  }

  /** Encodes an integer below 2^53 or null. */
  #putNumber(value: number | null): void {
    if (value === null) {
      this.#putWord(NONE);
      return;
    }
    this.#putWord(value | 0);
    if (value >= TWO_32 || value < 0) this.#putWord(Math.floor(value / TWO_32) | 0);
  }
}

const EVENT_WORDS = new EventWords();

/**
 * Mixes events into a sink. Equal events give equal words in every version of Node and on every machine. An event that is
 * not encoded field by field is mixed as JSON with sorted keys.
 */
export const mixEvents = (sink: WordSink, events: readonly DomainEvent[]): void =>
  EVENT_WORDS.mixInto(sink, events);

/** Returns JSON with keys sorted at every depth. */
function sortedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  let text = "";
  for (const name of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[name];
    if (field !== undefined) text += `${text === "" ? "" : ","}"${name}":${sortedText(field)}`;
  }
  return `{${text}}`;
}
