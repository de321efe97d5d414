import { type ColumnPlaces, noPlaces } from "./column-places.ts";
import { didYouMean, shown } from "./flow-error.ts";
import { COLUMNS, type Column } from "./flow-row.ts";

/** What the first line of a CSV file says. */
export interface Header {
  readonly places: Readonly<ColumnPlaces>;
  /** How many cells each line has. */
  readonly width: number;
}

/** A line has a cell that cannot stand there; `place` counts the cells from 0. */
export class PlaceError extends Error {
  override readonly name = "PlaceError";
  readonly place: number;

  constructor(place: number, message: string) {
    super(message);
    this.place = place;
  }
}

/** Without these no order can be placed. */
const NEEDED: readonly Column[] = ["at", "account", "side", "outcome", "price", "size"];
const EXPECTED = `${COLUMNS.slice(0, -1).join(", ")} or ${COLUMNS.at(-1)}`;

/** The header in a line's cells. @throws PlaceError at a name that is unknown or given twice, or when one is missing. */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map((cell) => cell.trim());
  const places = noPlaces();
  names.forEach((name, place) => {
    const column = COLUMNS.find((known) => known === name);
    if (column === undefined) throw new PlaceError(place, unknown(name, names));
    if (places[column] >= 0) throw new PlaceError(place, `expected each column once, found ${column} again`);
    places[column] = place;
  });
  const missing = NEEDED.find((column) => places[column] < 0);
  if (missing !== undefined) {
    throw new PlaceError(names.length, `expected a column ${missing}, found ${shown(names.join())}`);
  }
  return { places, width: names.length };
}

function unknown(name: string, names: readonly string[]): string {
  const free = COLUMNS.filter((column) => !names.includes(column));
  const message = `expected columns such as ${EXPECTED} between commas, found ${shown(name)}`;
  return message + didYouMean(name, free);
}
