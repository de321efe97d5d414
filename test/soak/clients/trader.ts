import type { ExchangeClient } from "../../../src/client/client.ts";
import type { Market, NewOrder, Order, PlacedOrder } from "../../../src/client/messages.ts";
import type { Result } from "../../../src/client/result.ts";

export type Random = (bound: number) => number;

/** What a client of any kind knows. */
export interface Surroundings {
  readonly random: Random;
  /** Those that are traded. */
  readonly markets: readonly Market[];
  /** Unix seconds. */
  readonly serverTime: () => number;
  readonly record: Acknowledged;
}

/** A client of one kind: each step is a request, or a few that belong together. */
export interface Client {
  /** Forgets what it knows of its orders: a restore may have undone them. */
  begin(): void;
  step(exchange: ExchangeClient): Promise<void>;
}

/** What was acknowledged to the clients while it is recorded: none of it may be lost when the server is killed. */
export class Acknowledged {
  #isRecording = false;
  readonly orders = new Map<string, Order>();
  readonly canceled = new Set<string>();

  /** Forgets all, and records from now on or not. */
  begin(isRecording: boolean): void {
    this.#isRecording = isRecording;
    this.orders.clear();
    this.canceled.clear();
  }

  placed(order: Order): void {
    if (this.#isRecording) this.orders.set(order.id, order);
  }

  cancel(ids: readonly string[]): void {
    if (this.#isRecording) for (const id of ids) this.canceled.add(id);
  }

  /** What contradicts it in the order as it stands; null: nothing. */
  contradiction(told: Order, found: Order | null): string | null {
    if (found === null) return `order ${told.id} is gone`;
    const terms = ({ tokenId, side, price, size, createdAt }: Order): string =>
      JSON.stringify([tokenId, side, price, size, createdAt]);
    if (terms(told) !== terms(found)) return `order ${told.id} was ${terms(told)}, is ${terms(found)}`;
    const isUndone = this.canceled.has(told.id) && found.status !== "CANCELED";
    return isUndone ? `order ${told.id} was canceled, is ${found.status}` : null;
  }
}

/** Places an order and records what was acknowledged. */
export async function place(
  exchange: ExchangeClient,
  record: Acknowledged,
  order: NewOrder,
): Promise<Result<PlacedOrder>> {
  const placed = await exchange.place(order);
  if (placed.ok) record.placed(placed.value);
  return placed;
}

/** Cancels one order, or all that are open, and records what was acknowledged. */
export async function cancel(
  exchange: ExchangeClient,
  record: Acknowledged,
  id: string | "all",
): Promise<void> {
  const canceled = await (id === "all" ? exchange.cancelAll() : exchange.cancel(id));
  if (canceled.ok) record.cancel(canceled.value.canceled);
}

export const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random(items.length)] as Item;
