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
