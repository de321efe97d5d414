import type { DomainEvent } from "./events.ts";
import { CANCEL_REASONS, MATCH_TYPES, ORDER_TYPES, SIDES } from "./terms.ts";

/** Takes in integers and texts, in order. */
export interface WordSink {
  /** Takes in a number's lower 32 bits. */
  mix(word: number): void;
  mixText(text: string): void;
}

/**
 * Hands on what a command has caused: equal events give equal words in every version of Node and on every machine. What
 * is not handed on number by number is its text with sorted names.
 */
export function mixEvents(sink: WordSink, events: readonly DomainEvent[]): void {
  for (const event of events) {
    mixEvent(sink, event);
  }
}

/** Events of which there are millions, number by number. Numbers of records, prices and sizes are one word each. */
function mixEvent(sink: WordSink, event: DomainEvent): void {
  switch (event.kind) {
    case "orderPlaced":
      sink.mix(1);
      sink.mix(event.order);
      sink.mix(event.account);
      sink.mix(event.token);
      sink.mix(event.price);
      sink.mix(event.size);
      mixNumber(sink, event.expiration);
      mixNumber(sink, event.touch);
      mixNumber(sink, event.fillableSize);
      mixNumber(sink, event.blockingOwnOrder);
      sink.mix(SIDES.indexOf(event.side) + 1);
      sink.mix(ORDER_TYPES.indexOf(event.orderType) + 1);
      break;
    case "orderTraded":
      sink.mix(2);
      sink.mix(event.trade);
      sink.mix(event.taker);
      sink.mix(event.maker);
      sink.mix(event.price);
      sink.mix(event.size);
      mixNumber(sink, event.fee);
      sink.mix(event.transaction);
      sink.mix(MATCH_TYPES.indexOf(event.matchType) + 1);
      break;
    case "orderRested":
      mixTagged(sink, 3, event.order);
      break;
    case "orderExpired":
      mixTagged(sink, 4, event.order);
      break;
    case "blocksMined":
      mixTagged(sink, 5, event.height);
      mixNumber(sink, event.lastTransaction);
      mixNumber(sink, event.empty);
      break;
    case "orderCanceled":
      mixTagged(sink, 7, event.order);
      sink.mix(CANCEL_REASONS.indexOf(event.reason) + 1);
      break;
    case "transactionMined":
      mixTagged(sink, 8, event.transaction);
      break;
    default:
      sink.mix(6);
      sink.mixText(sortedText(event));
  }
}

/** A kind of event, and the number of what it happens to. */
function mixTagged(sink: WordSink, tag: number, value: number): void {
  sink.mix(tag);
  mixNumber(sink, value);
}

const TWO_32 = 4_294_967_296;
/** Stands for no number. */
const NONE = 0x7fff_fffd;

/** Takes in an integer below 2^53, or what stands for none. */
function mixNumber(sink: WordSink, value: number | null): void {
  if (value === null) {
    sink.mix(NONE);
    return;
  }
  sink.mix(value | 0);
  if (value >= TWO_32 || value < 0) sink.mix(Math.floor(value / TWO_32) | 0);
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
