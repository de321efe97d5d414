import { idOf } from "../../core/ids.ts";
import type { Market } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import type { Numbers } from "../decimals.ts";

/** What replies are made from: the state as it is, and the way decimals are sent. */
export interface View {
  readonly state: State;
  readonly numbers: Numbers;
}

/** A moment as the API writes it, or null. */
export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : toIso(at));

export const marketIdOf = ({ state }: View, market: Market): string =>
  idOf(state.idPrefixes.market, market.number);

/** A page of a list that is reached by index, so that its cost follows what it returns. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  readonly hasMore: boolean;
}

/** Cuts a page out of `total` items, of which `at(index)` answers one. */
export function pageOf<T>(
  total: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  at: (index: number) => T,
): Page<T> {
  const data: T[] = [];
  const end = Math.min(total, offset + limit);
  for (let index = offset; index < end; index += 1) data.push(at(index));
  return { data, limit, offset, total, hasMore: end < total };
}
