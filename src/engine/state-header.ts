import type { Where } from "../core/document/document-error.ts";
import {
  anyText,
  integer,
  moment,
  objectOf,
  orNull,
  type Shape,
  shapedAtLeast,
  textLike,
} from "../core/document/shape.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import type { Durability } from "./journal-end.ts";
import { CLOCK_SETTING, durability, engineVersion, wallTime } from "./line-shape.ts";
import type { KnownClock } from "./replayer.ts";
import { StoreError } from "./store-error.ts";

export const STATE_FORMAT = "clobsim-state/1";
const FORMAT_NAME = STATE_FORMAT.slice(0, STATE_FORMAT.indexOf("/") + 1);

/** Where in a history a state stands. */
export interface StateHeader {
  readonly format: string;
  readonly engine: string;
  /** The last line of the journal that is in it, its check, and the size of the journal up to there. */
  readonly line: number;
  readonly check: string;
  readonly offset: number;
  readonly sequence: number;
  readonly now: Millis;
  /** The digest of what led there, as `HistoryDigest.text`; null where an earlier version has written it. */
  readonly digest: string | null;
  /** Addresses of the dev accounts, lower case. */
  readonly devAccounts: readonly Address[];
  readonly clock: KnownClock;
  /** How the lines before were kept. */
  readonly durability: Durability;
  /** How many refused requests they note; earlier versions noted none. */
  readonly refused: number;
}

/** What of it counts where a state begins a history of its own. */
const BEGINNING: Shape<Pick<StateHeader, "now" | "sequence" | "devAccounts">> = {
  now: moment,
  sequence: integer(),
  devAccounts: (fields, key) => fields.addresses(key),
};
const HEADER: Shape<StateHeader> = {
  format: anyText,
  engine: engineVersion,
  line: integer(1),
  digest: orNull(textLike(/^[0-9a-f]{32}$/, "32 hex digits")),
  check: textLike(/^[0-9a-f]{8}$/, "8 hex digits"),
  offset: integer(1),
  ...BEGINNING,
  clock: objectOf({ setting: objectOf(CLOCK_SETTING), virtual: moment, wall: wallTime }),
  durability,
  refused: integer(),
};
const WHERE: Where = { section: "clobsim", index: null, line: null };

/** @throws DocumentError where it is no header of a state that can begin a history. */
export const readBeginning = (header: unknown) => shapedAtLeast(BEGINNING, header, WHERE);

/** The header of the state in a file. @throws StoreError `newer`, `corrupt`; DocumentError */
export function readHeader(header: unknown, path: string): StateHeader {
  const format = (header as Partial<StateHeader> | null | undefined)?.format;
  if (format === STATE_FORMAT)
    return shapedAtLeast(HEADER, { digest: null, refused: 0, ...(header as object) }, WHERE);
  if (typeof format !== "string" || !format.startsWith(FORMAT_NAME))
    throw new StoreError("corrupt", `${path} has no header that says where its state stands`);
  throw new StoreError(
    "newer",
    `${path} was written by a newer version: its format is ${format}, this one reads ${STATE_FORMAT}`,
  );
}
