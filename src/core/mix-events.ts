import type { DomainEvent } from "./events.ts";
import type { CancelReason } from "./terms.ts";

/** Takes in integers and texts, in order. */
export interface WordSink {
  /** Takes in a number's lower 32 bits. */
  mix(word: number): void;
  mixText(text: string): void;
}

type Of<Kind extends DomainEvent["kind"]> = Extract<DomainEvent, { readonly kind: Kind }>;

const TWO_32 = 4_294_967_296;
/** Stands for no number. */
const NONE = 0x7fff_fffd;

/**
 * Hands on what a command has caused: equal events give equal words in every version of Node and on every machine. What
 * there are millions of is handed on number by number, all else as its text with sorted names.
 */
export function mixEvents(sink: WordSink, events: readonly DomainEvent[]): void {
  for (const event of events) mixEvent(sink, event);
}

function mixEvent(sink: WordSink, event: DomainEvent): void {
  switch (event.kind) {
    case "orderPlaced":
      mixPlaced(sink, event);
      break;
    case "orderTraded":
      mixTraded(sink, event);
      break;
    case "orderRested":
      mixKind(sink, 3, event.order);
      break;
    case "orderExpired":
      mixKind(sink, 4, event.order);
      break;
    case "blocksMined":
      mixKind(sink, 5, event.height);
      mixNumber(sink, event.lastTransaction);
      mixNumber(sink, event.empty);
      break;
    case "orderCanceled":
      mixKind(sink, 7, event.order);
      sink.mix(CANCEL_REASONS[event.reason]);
      break;
    case "transactionMined":
      mixKind(sink, 8, event.transaction);
      break;
    default:
      sink.mix(6);
      sink.mixText(sortedText(event));
  }
}

// Numbers of records, prices and sizes are below 2^32: one word each.

function mixPlaced(sink: WordSink, event: Of<"orderPlaced">): void {
  sink.mix(1);
  sink.mix(event.order);
  sink.mix(event.account);
  sink.mix(event.token);
  sink.mix(event.price);
  sink.mix(event.size);
  mixNumber(sink, event.expiration);
  mixNumber(sink, event.touch);
  mixNumber(sink, event.crossable);
  mixNumber(sink, event.ownInWay);
  sink.mix(SIDES[event.side]);
  sink.mix(ORDER_TYPES[event.orderType]);
}

function mixTraded(sink: WordSink, event: Of<"orderTraded">): void {
  sink.mix(2);
  sink.mix(event.trade);
  sink.mix(event.taker);
  sink.mix(event.maker);
  sink.mix(event.price);
  sink.mix(event.size);
  mixNumber(sink, event.fee);
  sink.mix(event.transaction);
  sink.mix(MATCH_TYPES[event.matchType]);
}

/** A kind of event, and the number of what it happens to. */
function mixKind(sink: WordSink, kind: number, value: number): void {
  sink.mix(kind);
  mixNumber(sink, value);
}

/** Takes in an integer below 2^53, or what stands for none. */
function mixNumber(sink: WordSink, value: number | null): void {
  if (value === null) {
    sink.mix(NONE);
    return;
  }
  sink.mix(value | 0);
  if (value >= TWO_32 || value < 0) sink.mix(Math.floor(value / TWO_32) | 0);
}

const SIDES = { BUY: 1, SELL: 2 } as const;
const ORDER_TYPES = { GTC: 1, GTD: 2, FOK: 3, FAK: 4 } as const;
const MATCH_TYPES = { COMPLEMENTARY: 1, MINT: 2, MERGE: 3 } as const;

const CANCEL_REASONS: Readonly<Record<CancelReason, number>> = {
  USER: 1,
  FOK_UNFILLED: 2,
  FAK_UNFILLED: 3,
  FAK_REMAINDER: 4,
  SELF_TRADE: 5,
  MARKET_CLOSED: 6,
  SETTLEMENT_FAILED: 7,
};

/** JSON whose names are sorted, at every depth. */
function sortedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `"${name}":${sortedText(field)}`).join(",")}}`;
}
