import type { DomainEvent } from "./events.ts";
import { CANCEL_REASONS, MATCH_TYPES, ORDER_TYPES, SIDES } from "./terms.ts";

/** Takes in integers of 32 bits and texts, in order. */
export interface WordSink {
  /** Takes in the words from a place up to another. */
  mixWords(words: Int32Array, from: number, to: number): void;
  mixText(text: string): void;
}

/** The words of the latest events that were asked for: a journal and a state's hash ask for the same, one after the other. */
let latest: readonly DomainEvent[] | null = null;
let words = new Int32Array(1024);
let count = 0;
/** Texts between them, each before the word of its place. */
let texts: { readonly at: number; readonly text: string }[] = [];

/**
 * Hands on what a command has caused: equal events give equal words in every version of Node and on every machine. What
 * is not handed on number by number is its text with sorted names.
 */
export function mixEvents(sink: WordSink, events: readonly DomainEvent[]): void {
  if (events !== latest) putEvents(events);
  let from = 0;
  for (const { at, text } of texts) {
    sink.mixWords(words, from, at);
    sink.mixText(text);
    from = at;
  }
  sink.mixWords(words, from, count);
}

function putEvents(events: readonly DomainEvent[]): void {
  latest = null;
  count = 0;
  if (texts.length > 0) texts = [];
  for (const event of events) {
    if (count + MOST_WORDS > words.length) {
      const longer = new Int32Array(words.length * 2);
      longer.set(words);
      words = longer;
    }
    putEvent(event);
  }
  latest = events;
}

/** More than one event has. */
const MOST_WORDS = 32;

/** Events of which there are millions, number by number. Numbers of records, prices and sizes are one word each. */
function putEvent(event: DomainEvent): void {
  switch (event.kind) {
    case "orderPlaced":
      putWord(1);
      putWord(event.order);
      putWord(event.account);
      putWord(event.token);
      putWord(event.price);
      putWord(event.size);
      putNumber(event.expiration);
      putNumber(event.touch);
      putNumber(event.fillableSize);
      putNumber(event.blockingOwnOrder);
      putWord(SIDES.indexOf(event.side) + 1);
      putWord(ORDER_TYPES.indexOf(event.orderType) + 1);
      break;
    case "orderTraded":
      putWord(2);
      putWord(event.trade);
      putWord(event.taker);
      putWord(event.maker);
      putWord(event.price);
      putWord(event.size);
      putNumber(event.fee);
      putWord(event.transaction);
      putWord(MATCH_TYPES.indexOf(event.matchType) + 1);
      break;
    case "orderRested":
      putTagged(3, event.order);
      break;
    case "orderExpired":
      putTagged(4, event.order);
      break;
    case "blocksMined":
      putTagged(5, event.height);
      putNumber(event.lastTransaction);
      putNumber(event.empty);
      break;
    case "orderCanceled":
      putTagged(7, event.order);
      putWord(CANCEL_REASONS.indexOf(event.reason) + 1);
      break;
    case "transactionMined":
      putTagged(8, event.transaction);
      break;
    default:
      putWord(6);
      texts.push({ at: count, text: sortedText(event) });
  }
}

function putWord(value: number): void {
  words[count] = value;
  count += 1;
}

/** A kind of event, and the number of what it happens to. */
function putTagged(tag: number, value: number): void {
  putWord(tag);
  putNumber(value);
}

const TWO_32 = 4_294_967_296;
/** Stands for no number. */
const NONE = 0x7fff_fffd;

/** An integer below 2^53, or what stands for none. */
function putNumber(value: number | null): void {
  if (value === null) {
    putWord(NONE);
    return;
  }
  putWord(value | 0);
  if (value >= TWO_32 || value < 0) putWord(Math.floor(value / TWO_32) | 0);
}

/** JSON whose names are sorted, at every depth. */
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
