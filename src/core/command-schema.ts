import { FAULT_TERMS } from "./chain/settlement-fault.ts";
import { CALL_TERMS } from "./chain/transaction.ts";
import type { Command } from "./commands.ts";
import { MARKET_TERMS } from "./market.ts";
import {
  address,
  DocumentError,
  decimal,
  fieldsOf,
  id,
  integer,
  list,
  moment,
  oneOf,
  orNull,
  price,
  record,
  refined,
  size,
  type Type,
  text,
} from "./schema.ts";
import type { OrderType, Side } from "./terms.ts";
import type { Money, Size } from "./units.ts";

/** What is in a command besides its kind. */
type Data<Kind extends Command["kind"]> = Omit<Extract<Command, { kind: Kind }>, "kind">;

/** What the API, the chain and scenarios take at most, so that no command takes for ever. */
const MAX_BLOCKS = 100_000;

const blocks = (low: number): Type<number> => integer(low, MAX_BLOCKS);

/** What a line or a command says of an order besides whose it is and what it is for. */
export const ORDER_TERMS = {
  side: oneOf<Side>("BUY", "SELL"),
  price: price(),
  size: size(1),
  orderType: oneOf<OrderType>("GTC", "GTD", "FOK", "FAK"),
} as const;

/** Only a GTD order has an expiration. */
export function checkExpiration(order: Pick<Data<"placeOrder">, "orderType" | "expiration">): void {
  const { orderType, expiration } = order;
  if ((orderType === "GTD") === (expiration !== null)) return;
  const expected = orderType === "GTD" ? "the moment at which it ends" : "null, for the order is not GTD";
  throw new DocumentError(expected, expiration, "expiration");
}

/** The data of each kind of command; what decides whether it is refused is not looked at. */
export const COMMANDS: { readonly [Kind in Command["kind"]]: Type<Data<Kind>> } = {
  createEvent: record({
    title: text(),
    slug: text(),
    description: text(),
    category: text(),
    tags: list(text()),
    endDate: orNull(moment()),
  }),
  createMarket: record(MARKET_TERMS),
  closeMarket: record({ market: id() }),
  resolveMarket: record({ market: id(), winningOutcome: oneOf("YES", "NO", "SPLIT") }),
  fundAccount: record({
    address: address(),
    collateral: integer<Money>(),
    tokens: list(record({ tokenId: text(), size: integer<Size>() })),
    everyMarket: integer<Size>(),
  }),
  deriveCredentials: record({ address: address() }),
  placeOrder: refined(
    record({ address: address(), tokenId: text(), ...ORDER_TERMS, expiration: orNull(moment()) }),
    checkExpiration,
  ),
  cancelOrder: record({ address: address(), orderId: text() }),
  cancelAllOrders: record({ address: address() }),
  expireOrder: record({ order: id() }),
  sendTransaction: record({ from: address(), to: address(), nonce: orNull(integer()), ...CALL_TERMS }),
  mineBlocks: record({ count: blocks(1) }),
  reorganizeChain: record({ depth: blocks(1) }),
  setSettlementFault: record({ ...FAULT_TERMS, blocks: blocks(0) }),
  endSettlementFault: record({ number: orNull(id()) }),
  bumpFees: record({}),
  setNativeBalance: record({ address: address(), wei: decimal() }),
  produceBlock: record({}),
  executeTransaction: record({ transaction: id() }),
  sealBlock: record({}),
};

export const isCommandKind = (kind: unknown): kind is Command["kind"] =>
  typeof kind === "string" && Object.hasOwn(COMMANDS, kind);

/** A command, its kind among its fields. @throws DocumentError where it is none. */
export function parseCommand(value: unknown): Command {
  const { kind, ...data } = fieldsOf(value);
  if (!isCommandKind(kind)) throw new DocumentError("the kind of a command", kind, "kind");
  return { kind, ...COMMANDS[kind].parse(data) } as Command;
}
