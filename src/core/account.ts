import { NEWER, NO_SLOT, OLDER, type OrderPool } from "./book/order-pool.ts";
import type { Order } from "./order.ts";
import type { PackedTable } from "./packed-table.ts";
import { address, byMarket, type Infer, id, integer, mutableRecord, record, type Type } from "./schema.ts";
import { Table } from "./table.ts";
import type { BalancePolicy } from "./terms.ts";
import type { Money, Size } from "./units.ts";

const BalanceRecord = mutableRecord({
  balance: integer(),
  reserved: integer(),
  /** Amounts that pending settlements will credit and debit. */
  incoming: integer(),
  outgoing: integer(),
});
/**
 * Balance of one asset: total, reserved by open orders, and not yet settled on chain. The wallet's balance on chain is
 * balance - incoming + outgoing.
 */
export type Balance<Unit extends number> = Record<keyof Infer<typeof BalanceRecord>, Unit>;
const balance = <Unit extends number>() => BalanceRecord as Type<unknown> as Type<Balance<Unit>>;

/** Shares of an account in one market. */
export const Holding = record(
  { market: id(), yes: balance<Size>(), no: balance<Size>() },
  {
    changing: {
      /** Part of the account's grant (`everyMarket`) minted in this market. */
      granted: integer<Size>(),
    },
    derived: {
      /** The account's fills in this market's tokens, oldest first, each as `packFill` returns it; null before the first. */
      yesFills: () => null as Table<number> | null,
      noFills: () => null as Table<number> | null,
    },
  },
);
export type Holding = Infer<typeof Holding>;

export const Account = record(
  { number: id(), address: address(), collateral: balance<Money>() },
  {
    changing: {
      /** Grant: shares of both outcomes of every market, minted when the account first touches the market. */
      everyMarket: integer<Size>(),
      /** How many sets of API credentials the wallet has derived. */
      derivations: integer(),
      holdings: byMarket(Holding),
    },
    derived: {
      /** Slots of the oldest and the newest open order, or NO_SLOT; OLDER and NEWER of the pool link those between. */
      oldestOpen: (): number => NO_SLOT,
      newestOpen: (): number => NO_SLOT,
      openCount: (): number => 0,
      /** All fills of the account, oldest first, each as `packFill` returns it. */
      fills: () => new Table<number>(),
    },
  },
);
export type Account = Infer<typeof Account>;

export const ROLES = ["TAKER", "MAKER"] as const;
export type Role = (typeof ROLES)[number];

export const packFill = (trade: number, role: Role): number => trade * 2 + (role === "MAKER" ? 1 : 0);
export const tradeOfFill = (fill: number): number => Math.floor(fill / 2);
export const roleOfFill = (fill: number): Role => ((fill & 1) === 1 ? "MAKER" : "TAKER");

export const emptyBalance = <Unit extends number>() => BalanceRecord.make({}) as Balance<Unit>;

/**
 * Returns the balance that can be spent, sold or reserved. Under `settled`, incoming amounts do not count. The minimum
 * is 0 because a reorganization can make an amount incoming again that has been spent already.
 */
export const spendableOf = <Unit extends number>(
  { balance, incoming }: Balance<Unit>,
  policy: BalancePolicy,
): Unit => (policy === "settled" ? (Math.max(0, balance - incoming) as Unit) : balance);

/** Returns the spendable amount that is not reserved. */
export const availableOf = <Unit extends number>(of: Balance<Unit>, policy: BalancePolicy): Unit =>
  (spendableOf(of, policy) - of.reserved) as Unit;

/** Whether pending settlements will change the balance on chain. */
export const hasPending = ({ incoming, outgoing }: Balance<number>): boolean =>
  incoming !== 0 || outgoing !== 0;

/** Returns the wallet's balance on the settlement chain. */
export const onChainOf = <Unit extends number>({ balance, incoming, outgoing }: Balance<Unit>): Unit =>
  (balance - incoming + outgoing) as Unit;

// An account's open orders: those that rest in a book. Their slots in the pool are linked from the oldest to the newest.

type OpenList = Pick<Account, "oldestOpen" | "newestOpen" | "openCount">;

/** Yields the open orders of an account, oldest first; none if it is undefined. */
export function* openOrdersOf(
  { orders, pool }: { readonly orders: PackedTable<Order>; readonly pool: OrderPool },
  account: Account | undefined,
): Generator<Order> {
  for (let slot = account?.oldestOpen ?? NO_SLOT; slot !== NO_SLOT; ) {
    const order = orders.get(pool.orderIn(slot));
    slot = pool.cells[slot + NEWER] as number;
    yield order;
  }
}

export function linkOpen({ cells }: OrderPool, list: OpenList, slot: number): void {
  const last = list.newestOpen;
  cells[slot + OLDER] = last;
  cells[slot + NEWER] = NO_SLOT;
  if (last === NO_SLOT) list.oldestOpen = slot;
  else cells[last + NEWER] = slot;
  list.newestOpen = slot;
  list.openCount += 1;
}

export function unlinkOpen({ cells }: OrderPool, list: OpenList, slot: number): void {
  const older = cells[slot + OLDER] as number;
  const newer = cells[slot + NEWER] as number;
  if (older === NO_SLOT) list.oldestOpen = newer;
  else cells[older + NEWER] = newer;
  if (newer === NO_SLOT) list.newestOpen = older;
  else cells[newer + OLDER] = older;
  list.openCount -= 1;
}
