import { crc32 } from "node:zlib";
import type { CancelReason, DomainEvent } from "../core/events.ts";

const SEED = 0x2545f491;
const TWO_32 = 4_294_967_296;

// Two rounds of multiplication and shifting, as in the finalizer of MurmurHash3 (Austin Appleby, public domain).
function mixed(hash: number, word: number): number {
  const folded = Math.imul(hash ^ word, 0x85eb_ca6b);
  return Math.imul(folded ^ (folded >>> 13), 0xc2b2_ae35) ^ (folded >>> 16);
}

/** Takes in an integer below 2^53, or what stands for none. */
function withNumber(hash: number, value: number | null): number {
  if (value === null) return mixed(hash, 0x7fff_fffd);
  return value < TWO_32 && value >= 0
    ? mixed(hash, value | 0)
    : mixed(mixed(hash, value | 0), Math.floor(value / TWO_32) | 0);
}

/**
 * 32 bits that name what a command has caused: equal events give equal hashes in every version of Node and on every
 * machine. What there are millions of is taken in number by number, all else by its text with sorted names.
 */
export function eventHash(events: readonly DomainEvent[]): number {
  let hash = SEED;
  for (const event of events) hash = withEvent(hash, event);
  return hash >>> 0;
}

function withEvent(hash: number, event: DomainEvent): number {
  switch (event.kind) {
    case "orderPlaced": {
      let next = withNumber(mixed(hash, 1), event.order);
      next = withNumber(withNumber(next, event.account), event.token);
      next = withNumber(withNumber(next, event.price), event.size);
      next = withNumber(withNumber(next, event.expiration), event.touch);
      next = withNumber(withNumber(next, event.crossable), event.ownInWay);
      return mixed(mixed(next, SIDES[event.side]), ORDER_TYPES[event.orderType]);
    }
    case "orderTraded": {
      let next = withNumber(mixed(hash, 2), event.trade);
      next = withNumber(withNumber(next, event.taker), event.maker);
      next = withNumber(withNumber(next, event.price), event.size);
      next = withNumber(withNumber(next, event.fee), event.transaction);
      return mixed(next, MATCH_TYPES[event.matchType]);
    }
    case "orderRested":
      return withNumber(mixed(hash, 3), event.order);
    case "orderExpired":
      return withNumber(mixed(hash, 4), event.order);
    case "orderCanceled":
      return mixed(withNumber(mixed(hash, 7), event.order), CANCEL_REASONS[event.reason]);
    case "transactionMined":
      return withNumber(mixed(hash, 8), event.transaction);
    case "blocksMined":
      return withNumber(
        withNumber(withNumber(mixed(hash, 5), event.height), event.lastTransaction),
        event.empty,
      );
    default:
      return mixed(mixed(hash, 6), crc32(sortedText(event)));
  }
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
const sortedText = (value: unknown): string => JSON.stringify(value, (_name, part: unknown) => sorted(part));

function sorted(part: unknown): unknown {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
}
