import type { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { CancelOrder, Command, OrderType, PlaceOrder, Side } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import type { Millis, Price, Size } from "../core/units.ts";
import type { ClockSetting } from "../runtime/clock.ts";
import type { Durability } from "./journal-file.ts";
import { parseCommon } from "./order-line.ts";

/** The name of the format, in the first line of each journal. */
export const FORMAT = "clobsim-journal/1";

/** What an exchange is opened with before its first command. */
export interface Base {
  /** `world`: its history is played; `state`: it goes on from a document of a state. */
  readonly kind: "world" | "state";
  readonly content: unknown;
}

/** The data of the first line. */
export interface OpeningData {
  readonly format: string;
  /** The version of the program that made it. */
  readonly engine: string;
  readonly config: ExchangeConfig;
  readonly start: Millis;
  /** How the clock was set, and whether a reset brings it to the wall clock's time. */
  readonly clock: ClockSetting & { readonly followsWall: boolean };
  readonly base: Base;
  /** Where the exchange stood then. */
  readonly sequence: number;
  /** The hash of its state. */
  readonly hash: string;
}

/** Lines that are no commands, by their `k`. */
export interface Notes {
  opening: OpeningData;
  /** A program begins to use the journal. */
  start: { readonly engine: string; readonly durability: Durability; readonly wall: number } & ClockSetting;
  /** The clock was set; `wall` is what the wall clock showed. */
  clock: { readonly wall: number } & ClockSetting;
  /** The exchange went back to where it stood after a line. */
  restore: { readonly line: number };
  /** The exchange was opened anew, with the base of the opening. */
  reset: Record<string, never>;
  /** The program has stopped in good order. */
  close: { readonly hash: string; readonly wall: number };
  /** A command that made the program fail: a defect. It is not in the state. */
  defect: { readonly command: Command | null; readonly message: string };
  /** The end of a report: the state's hash, why it was made and by what, and the one command that replays it. */
  report: {
    readonly hash: string;
    readonly reason: string;
    readonly engine: string;
    readonly node: string;
    readonly replay: string;
  };
}
export type NoteKind = keyof Notes;

const NOTE_KINDS: ReadonlySet<string> = new Set<NoteKind>([
  "opening",
  "start",
  "clock",
  "restore",
  "reset",
  "close",
  "defect",
  "report",
]);

/** One line of a journal. */
export interface Line {
  /** Its number, from 1 without gaps. */
  readonly n: number;
  /** The `c` of the line before; zeros in the first. */
  readonly p: string;
  /** The latest line that was known to be on the disk itself when this one was written. */
  readonly s: number;
  /** Virtual time, Unix ms. */
  readonly t: Millis;
  /** The kind of the command or note, and its data. */
  readonly k: string;
  readonly d: unknown;
  /** `eventHash` of what the command caused; zeros of a note. */
  readonly r: string;
  /** The CRC-32 of all bytes of the line before it. */
  readonly c: string;
}

export const isNote = <Kind extends NoteKind>(
  line: Line,
  kind: Kind,
): line is Line & { readonly k: Kind; readonly d: Notes[Kind] } => line.k === kind;

/** The data of a line `order`: a command placeOrder, whose account and token are known by their numbers. */
export interface OrderData {
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration?: Millis;
}

/** The data of a line `cancel`: a command cancelOrder of its owner. */
export interface CancelData {
  readonly order: number;
}

/** The command of a line, which the state before it may be needed to tell; null of a note. */
export function commandOf({ k, d }: Line, state: State): Command | null {
  if (NOTE_KINDS.has(k)) return null;
  if (k === "order") return placing(d as OrderData, state);
  if (k === "cancel") return canceling(d as CancelData, state);
  return { kind: k, ...(d as object) } as Command;
}

// What a state does not know can be nobody's: the command is refused, and differs from what was recorded.

function placing(data: OrderData, { accounts, markets }: State): PlaceOrder {
  const { account, token, side, price, size, orderType, expiration = null } = data;
  const market = markets.find(marketOfToken(token));
  return {
    kind: "placeOrder",
    address: accounts.find(account)?.address ?? "",
    tokenId: market === undefined ? "" : tokenIdIn(market, outcomeOf(token)),
    side,
    price,
    size,
    orderType,
    expiration,
  };
}

function canceling({ order: number }: CancelData, { accounts, orders, idPrefixes }: State): CancelOrder {
  const order = orders.find(number);
  return {
    kind: "cancelOrder",
    address: order === undefined ? "" : accounts.get(order.account).address,
    orderId: idOf(idPrefixes.order, number),
  };
}

/** A number of 32 bits as a line has it. */
export const hex8 = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");

const CHECK = ',"c":"';
/** `","c":"01234567"}` stands at the end of every line. */
const HEX_TAIL = 10;
const TAIL_LENGTH = CHECK.length + HEX_TAIL;

/** The number of 8 hex digits in a line. */
export function hexIn(digits: string): number {
  let value = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const code = digits.charCodeAt(at);
    value = value * 16 + (code >= 97 ? code - 87 : code - 48);
  }
  return value;
}

/** Reads one line, without the line feed that ends it; null when it is not a whole line as it was written. */
export function parseLine(bytes: Buffer): Line | null {
  const end = bytes.length;
  if (end < TAIL_LENGTH || bytes[end - 1] !== 125 || bytes[0] !== 123) return null;
  if (!isCheckAt(bytes, end - TAIL_LENGTH)) return null;
  if (crc32(bytes.subarray(0, end - HEX_TAIL)) !== hexAt(bytes, end - HEX_TAIL)) return null;
  const text = bytes.toString("utf8");
  const common = parseCommon(text);
  if (common !== null) return common;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

function isCheckAt(bytes: Buffer, from: number): boolean {
  for (let at = 0; at < CHECK.length; at += 1) if (bytes[from + at] !== CHECK.charCodeAt(at)) return false;
  return true;
}

/** The 8 hex digits from a place on as a number; -1 when they are something else. */
function hexAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = bytes[at] as number;
    const digit = code >= 97 ? code - 87 : code - 48;
    if (!(digit >= 0 && digit <= 15) || (code > 57 && code < 97)) return -1;
    value = value * 16 + digit;
  }
  return value;
}
