import type { Account } from "./account.ts";
import { NEWER, NO_SLOT, OLDER, type OrderPool } from "./book/order-pool.ts";
import type { Order } from "./order.ts";
import type { State } from "./state.ts";

// An account's open orders: those that rest in a book. Their slots in the pool are linked from the oldest to the newest.

type OpenList = Pick<Account, "oldestOpen" | "newestOpen" | "openCount">;

/** Yields the open orders of an account, oldest first; none if it is undefined. */
export function* openOrdersOf({ orders, pool }: State, account: Account | undefined): Generator<Order> {
  for (let slot = account?.oldestOpen ?? NO_SLOT; slot !== NO_SLOT; ) {
    const order = orders.get(pool.orderIn(slot));
    slot = pool.cells[slot + NEWER] as number;
    yield order;
  }
}

/** Adds an order that has begun to rest as the newest. */
export function linkOpen({ cells }: OrderPool, list: OpenList, slot: number): void {
  const last = list.newestOpen;
  cells[slot + OLDER] = last;
  cells[slot + NEWER] = NO_SLOT;
  if (last === NO_SLOT) list.oldestOpen = slot;
  else cells[last + NEWER] = slot;
  list.newestOpen = slot;
  list.openCount += 1;
}

/** Removes an order that is about to leave its book. */
export function unlinkOpen({ cells }: OrderPool, list: OpenList, slot: number): void {
  const older = cells[slot + OLDER] as number;
  const newer = cells[slot + NEWER] as number;
  if (older === NO_SLOT) list.oldestOpen = newer;
  else cells[older + NEWER] = newer;
  if (newer === NO_SLOT) list.newestOpen = older;
  else cells[newer + OLDER] = older;
  list.openCount -= 1;
}
