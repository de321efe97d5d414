import { CERTAIN, type SettlementFaultKind } from "../chain/settlement-fault.ts";
import type { Command, CommandOf } from "../commands.ts";
import { FULL_PRICE, MAX_SIZE, type Price, type Size } from "../units.ts";
import { readCall } from "./call-record.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";
import {
  address,
  anyText,
  type FieldReader,
  integer,
  listOf,
  moment,
  oneOf,
  optional,
  orNull,
  type Shape,
  shaped,
  textLike,
  texts,
} from "./shape.ts";

type Data<Kind extends Command["kind"]> = Omit<Extract<Command, { kind: Kind }>, "kind">;

const HIGHEST_FEE = 10_000;
/** What the API, the chain and scenarios take at most, so that no command takes for ever. */
const MOST_BLOCKS = 100_000;
const FAULTS: readonly SettlementFaultKind[] = ["fail", "retry", "delay", "ghost", "gasSpike"];

const number = integer(1);
const wei = textLike(/^(?:0|[1-9][0-9]{0,77})$/, "an integer in quotes");

const tickSize: FieldReader<Price> = (fields, key) => {
  const ticks = fields.integer(key, 1, FULL_PRICE / 2);
  fields.demand(FULL_PRICE % ticks === 0, key, `a divisor of ${FULL_PRICE}`);
  return ticks as Price;
};

/** Only a GTD order has one. */
const expiration: FieldReader<CommandOf<"placeOrder">["expiration"]> = (fields, key) => {
  if (fields.value("orderType") === "GTD") return fields.millis(key);
  fields.demand(fields.isNull(key), key, "null, for the order is not GTD");
  return null;
};

/** What a line or a command says of an order besides whose it is and what it is for. */
export const ORDER_TERMS = {
  side: oneOf("BUY", "SELL"),
  price: integer<Price>(1, FULL_PRICE - 1),
  size: integer<Size>(1, MAX_SIZE),
  orderType: oneOf("GTC", "GTD", "FOK", "FAK"),
} as const;

/** The data of each kind of command; what decides whether it is refused is not looked at. */
const COMMANDS: { readonly [Kind in Command["kind"]]: Shape<Data<Kind>> } = {
  createEvent: {
    title: anyText,
    slug: anyText,
    description: anyText,
    category: anyText,
    tags: texts,
    endDate: orNull(moment),
  },
  createMarket: {
    event: number,
    question: anyText,
    slug: anyText,
    description: anyText,
    category: anyText,
    tags: texts,
    tickSize,
    minOrderSize: integer(0, MAX_SIZE),
    feeRateBps: integer(0, HIGHEST_FEE),
    matching: oneOf("complementary", "independent"),
    selfTrade: oneOf("allow", "cancel-taker", "cancel-maker", "cancel-both"),
    endDate: orNull(moment),
  },
  closeMarket: { market: number },
  resolveMarket: { market: number, winningOutcome: oneOf("YES", "NO", "SPLIT") },
  fundAccount: {
    address,
    collateral: integer(),
    tokens: listOf({ tokenId: anyText, size: integer<Size>() }),
    everyMarket: integer(),
  },
  deriveCredentials: { address },
  placeOrder: { address, tokenId: anyText, ...ORDER_TERMS, expiration },
  cancelOrder: { address, orderId: anyText },
  cancelAllOrders: { address },
  expireOrder: { order: number },
  sendTransaction: {
    from: address,
    to: address,
    nonce: orNull(integer()),
    value: wei,
    gas: integer(),
    maxFeePerGas: integer(),
    maxPriorityFeePerGas: integer(),
    input: (fields, key) => fields.hex(key),
    call: (fields, key) => readCall(fields.value(key), fields.where, `${fields.path}.${key}`),
    raw: (fields, key) => fields.hexOrNull(key),
    hash: (fields, key) => fields.wordOrNull(key),
  },
  mineBlocks: { count: integer(1, MOST_BLOCKS) },
  reorganizeChain: { depth: integer(1, MOST_BLOCKS) },
  setSettlementFault: {
    fault: oneOf(...FAULTS),
    probability: integer(0, CERTAIN),
    times: orNull(number),
    blocks: integer(0, MOST_BLOCKS),
    baseFee: integer(),
    reason: orNull(anyText),
    order: optional(number),
  },
  endSettlementFault: { number: orNull(number) },
  bumpFees: {},
  setNativeBalance: { address, wei },
  produceBlock: {},
  executeTransaction: { transaction: number },
  sealBlock: {},
};

export const isCommandKind = (kind: unknown): kind is Command["kind"] =>
  typeof kind === "string" && Object.hasOwn(COMMANDS, kind);

/** Checks all of a command but its kind. @throws DocumentError where it is no such command. */
export function checkCommandData(kind: Command["kind"], data: unknown, where: Where): void {
  shaped<Data<Command["kind"]>>(COMMANDS[kind], data, where);
}

/** A command, its kind among its fields. @throws DocumentError where it is none. */
export function readCommand(value: unknown, where: Where): Command {
  const kind = Fields.kindIn(value);
  if (!isCommandKind(kind)) throw new DocumentError(where, ".kind", "the kind of a command", kind);
  const { kind: _, ...data } = value as Command;
  checkCommandData(kind, data, where);
  return value as Command;
}
