import { PackedTable, type Packing } from "../../src/core/packed-table.ts";
import type { State } from "../../src/core/state.ts";

/** Changes fields of a closed record, which only tests may do: replaces the table by one with the change. */
export function changeClosed<Name extends "orders" | "trades", Value extends { readonly number: number }>(
  state: State & { readonly [Key in Name]: PackedTable<Value> },
  name: Name,
  packing: Packing<Value>,
  change: Partial<Value> & { readonly number: number },
): void {
  const table: PackedTable<Value> = state[name];
  const open = new Set(Array.from(table.open(), ({ number }) => number));
  const changed = new PackedTable(packing);
  for (const record of table) {
    const next = record.number === change.number ? { ...record, ...change } : record;
    if (open.has(record.number)) changed.add(next);
    else changed.addClosed(next);
  }
  Object.assign(state, { [name]: changed });
}

/**
 * Changes a field such as `accounts.2.holdings.0.yes.balance`, which only tests may do. The records of a table, and the values
 * of a map by market, are counted from 0.
 */
export function changeField(state: State, place: string, change: (value: unknown) => unknown): void {
  const names = place.split(".");
  const [name = ""] = names.splice(-1);
  const record = names.reduce<object>((part, step) => {
    const of = part as Readonly<Record<string, object>> & Pick<Map<number, object>, "get">;
    return (typeof of.get === "function" ? of.get(Number(step) + 1) : of[step]) as object;
  }, state) as Record<string, unknown>;
  record[name] = change(record[name]);
}
