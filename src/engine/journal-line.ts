import type { Command, CommandOf } from "../core/commands.ts";
import { idOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import type { OrderType, Side } from "../core/terms.ts";
import type { Millis, Price, Size } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import type { Durability } from "./journal-end.ts";

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
  /** A request was refused: nothing came of it. */
  refused: RefusedRequest;
  /** Further refused requests are not noted, after so many. */
  refusedFull: { readonly noted: number };
  /** The scenario that had failed, and the files that it speaks of, by paths below a folder of theirs. */
  scenario: { readonly file: string; readonly texts: Readonly<Record<string, string>> };
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
  "scenario",
  "refused",
  "refusedFull",
]);

/** One line of a journal. What has 32 bits is written as 8 hex digits. */
export interface Line {
  /** Its number, from 1 without gaps. */
  readonly n: number;
  /** The `c` of the line before; 0 in the first. */
  readonly p: number;
  /** The latest line that was known to be on the disk itself when this one was written. */
  readonly s: number;
  /** Virtual time, Unix ms. */
  readonly t: Millis;
  /** The kind of the command or note, and its data. */
  readonly k: string;
  readonly d: unknown;
  /** `eventHash` of what the command caused; 0 of a note. */
  readonly r: number;
  /** The CRC-32 of all bytes of the line before it. */
  readonly c: number;
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

function placing(data: OrderData, { accounts, markets }: State): CommandOf<"placeOrder"> {
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

function canceling(
  { order: number }: CancelData,
  { accounts, orders, idPrefixes }: State,
): CommandOf<"cancelOrder"> {
  const order = orders.find(number);
  return {
    kind: "cancelOrder",
    address: order === undefined ? "" : accounts.get(order.account).address,
    orderId: idOf(idPrefixes.order, number),
  };
}
