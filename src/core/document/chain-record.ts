import type { ByteCursor } from "../bytes/byte-cursor.ts";
import type { Chain, ChainWallet } from "../chain/chain.ts";
import type { DigestWords } from "../hash.ts";
import type { Address } from "../terms.ts";
import { MAX_MILLIS, type Millis } from "../units.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";
import { fieldTexts, integerAt, itemsAt, listAt, signedIntegerAt } from "./line-fields.ts";
import { readFault } from "./transaction-record.ts";

/** Numbers of transactions that follow one another: the first and the last. */
export type Run = readonly [first: number, last: number];

/** A block as a document tells it: where it stands on another follows from the heights. */
export interface BlockRecord {
  readonly height: number;
  readonly at: Millis;
  readonly baseFee: number;
  readonly mined: readonly Run[];
  readonly logs: number;
  readonly gas: number;
  readonly digest: DigestWords;
}

/** A block that is being put together. */
export interface BuildingRecord extends Omit<BlockRecord, "digest"> {
  readonly cursor: number;
  readonly isFilled: boolean;
}

/** Where the chain stands. */
export interface HeadRecord {
  readonly head: number;
  readonly at: Millis;
  readonly digest: DigestWords;
  readonly blocks: number;
  readonly reorganizations: number;
}

/** What is still to come on the chain. */
export type WaitingRecord = Pick<
  Chain,
  "fresh" | "held" | "lost" | "nextBlockAt" | "lastFilled" | "faults" | "faultsSet"
>;

/** What is left half done; nothing between two commands that were submitted. */
export interface UnfinishedRecord {
  readonly asked: number;
  readonly building: BuildingRecord | null;
}

/** What the chain knows of an address. */
export interface WalletRecord {
  readonly address: Address;
  readonly wallet: ChainWallet;
}

const BLOCK_KEYS = ["serial", "height", "at", "baseFee", "mined", "logs", "gas", "digest"] as const;
const BUILDING_KEYS = ["height", "at", "baseFee", "cursor", "mined", "logs", "gas", "isFilled"] as const;
const HEAD_KEYS = ["head", "at", "digest", "blocks", "reorganizations"] as const;
const WAITING_KEYS = ["fresh", "held", "lost", "nextBlockAt", "lastFilled", "faults", "faultsSet"] as const;
const WALLET_KEYS = ["address", "mined", "pending", "native", "allowances", "operators"] as const;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;
const WORDS = 4;
const LEAST_WORD = -2_147_483_648;
const MOST_WORD = 2_147_483_647;

/** A block. @throws DocumentError where it is none. */
export function readBlock(value: unknown, where: Where, serial: number): BlockRecord {
  const fields = new Fields(value, where, "", BLOCK_KEYS);
  fields.integer("serial", serial, serial);
  return { ...readInside(fields), digest: readDigest(fields) };
}

const BLOCK = fieldTexts(BLOCK_KEYS);

/** The same of a line that is written as documents are; null when it is not, or is no such block. */
export function blockAt(cursor: ByteCursor, serial: number): BlockRecord | null {
  const found = integerAt(cursor, BLOCK.serial);
  const block: BlockRecord = {
    height: integerAt(cursor, BLOCK.height),
    at: integerAt(cursor, BLOCK.at) as Millis,
    baseFee: integerAt(cursor, BLOCK.baseFee),
    mined: listAt(cursor, BLOCK.mined, (): Run => {
      const [first = 0, last = 0] = itemsAt(cursor, () => cursor.integer());
      return [first, last];
    }),
    logs: integerAt(cursor, BLOCK.logs),
    gas: integerAt(cursor, BLOCK.gas),
    digest: listAt(cursor, BLOCK.digest, () => signedIntegerAt(cursor)) as unknown as DigestWords,
  };
  const isRead = !cursor.isLost && cursor.isAtEnd && found === serial && block.digest.length === WORDS;
  const isRight = block.at <= MAX_MILLIS && block.mined.every(isRun) && block.digest.every(isWord);
  return isRead && isRight ? block : null;
}

/** Where the chain stands. @throws DocumentError where it is no such thing. */
export function readHead(value: unknown, where: Where): HeadRecord {
  const fields = new Fields(value, where, "", HEAD_KEYS);
  return {
    head: fields.integer("head"),
    at: fields.millis("at"),
    digest: readDigest(fields),
    blocks: fields.integer("blocks", 1),
    reorganizations: fields.integer("reorganizations"),
  };
}

/** What is still to come. @throws DocumentError where it is no such thing. */
export function readWaiting(value: unknown, where: Where): WaitingRecord {
  const fields = new Fields(value, where, "", WAITING_KEYS);
  return {
    fresh: fields.integer("fresh", 1),
    held: fields.integers("held", 1),
    lost: fields.integers("lost", 1),
    nextBlockAt: fields.millisOrNull("nextBlockAt"),
    lastFilled: fields.integerOrNull("lastFilled"),
    faults: fields.list("faults", (item, path) => readFault(item, where, path)),
    faultsSet: fields.integer("faultsSet"),
  };
}

/** What is left half done. @throws DocumentError where it is no such thing. */
export function readUnfinished(value: unknown, where: Where): UnfinishedRecord {
  const fields = new Fields(value, where, "", ["asked", "building"]);
  const building = fields.isNull("building") ? null : fields.fields("building", BUILDING_KEYS);
  return {
    asked: fields.integer("asked"),
    building: building && {
      ...readInside(building),
      cursor: building.integer("cursor"),
      isFilled: building.boolean("isFilled"),
    },
  };
}

/** What the chain knows of an address. @throws DocumentError where it is no such thing. */
export function readWallet(value: unknown, where: Where): WalletRecord {
  const fields = new Fields(value, where, "", WALLET_KEYS);
  const isNonce = (nonce: unknown, number: unknown): boolean => isCount(nonce, 0) && isCount(number, 1);
  const isAllowance = (spender: unknown, amount: unknown): boolean =>
    isLike(spender, ADDRESS) && isLike(amount, DECIMAL);
  const isPermission = (operator: unknown, allowed: unknown): boolean =>
    isLike(operator, ADDRESS) && typeof allowed === "boolean";
  const allowances = readPairs(fields, "allowances", "an address and an integer in quotes", isAllowance);
  return {
    address: fields.address("address"),
    wallet: {
      mined: fields.integer("mined"),
      pending: new Map(readPairs<number, number>(fields, "pending", "a nonce and a transaction", isNonce)),
      native: BigInt(fields.decimal("native")),
      allowances: new Map(
        allowances.map(([spender, amount]) => [spender as Address, BigInt(amount as string)]),
      ),
      operators: new Map(
        readPairs<Address, boolean>(fields, "operators", "an address, and true or false", isPermission),
      ),
    },
  };
}

const isCount = (value: unknown, least: number): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least;
const isLike = (value: unknown, form: RegExp): boolean => typeof value === "string" && form.test(value);

/** Pairs of which no two have the same first. */
function readPairs<A, B, Key extends string = string>(
  fields: Fields<Key>,
  key: Key,
  what: string,
  isRight: (first: unknown, second: unknown) => boolean,
): (readonly [A, B])[] {
  const seen = new Set<unknown>();
  return fields.list(key, (item, path) => {
    const isPair = Array.isArray(item) && item.length === 2 && isRight(item[0], item[1]);
    if (!isPair) throw new DocumentError(fields.where, path, what, item);
    if (seen.has(item[0])) throw new DocumentError(fields.where, path, "what none before has", item[0]);
    seen.add(item[0]);
    return item as unknown as readonly [A, B];
  });
}

const isRun = (value: unknown): value is Run =>
  Array.isArray(value) && value.length === 2 && isCount(value[0], 1) && isCount(value[1], value[0]);

const isWord = (word: number): boolean => word === (word | 0);

type Inside = "height" | "at" | "baseFee" | "mined" | "logs" | "gas";

function readInside(fields: Fields<Inside>): Omit<BlockRecord, "digest"> {
  const mined = fields.list("mined", (item, path): Run => {
    if (isRun(item)) return item;
    throw new DocumentError(fields.where, path, "the first and the last of a run of transactions", item);
  });
  return {
    height: fields.integer("height"),
    at: fields.millis("at"),
    baseFee: fields.integer("baseFee"),
    mined,
    logs: fields.integer("logs"),
    gas: fields.integer("gas"),
  };
}

function readDigest(fields: Fields<"digest">): DigestWords {
  const words = fields.integers("digest", LEAST_WORD, MOST_WORD);
  if (words.length !== WORDS) throw fields.wrong("digest", `${WORDS} integers`);
  return words as unknown as DigestWords;
}
