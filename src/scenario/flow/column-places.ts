import type { Column } from "./flow-row.ts";

/** Where each column stands in a header or a line, from 0; -1 for one that is left out. */
export type ColumnPlaces = Record<Column, number>;

/** The places before any column is found. */
export const noPlaces = (): ColumnPlaces => ({
  at: -1,
  account: -1,
  op: -1,
  ref: -1,
  side: -1,
  outcome: -1,
  price: -1,
  size: -1,
  type: -1,
  market: -1,
});
