import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf } from "../core/format.ts";
import { unreachable } from "../core/unreachable.ts";
import type { FlowFormat } from "./flow.ts";
import {
  COLUMNS,
  type FlowRow,
  type FundCollateralRow,
  type FundSharesRow,
  isAccountName,
  isMarketName,
  isOrderName,
  type PlaceRow,
} from "./flow.ts";

/** About so many characters are handed out at a time. */
const BATCH_LENGTH = 65_536;

/**
 * The text of a flow, a batch at a time, with the shortest decimals: CSV with a header and a line a row, or NDJSON with
 * an object a row. Read again, it gives equal rows. `hasMarkets` gives CSV its last column, `market`.
 * @throws RangeError at a row that could not be read again: a name that is none, or a market without a column for it.
 */
export function* writeFlow(
  rows: Iterable<FlowRow>,
  format: FlowFormat,
  hasMarkets = false,
): Generator<string> {
  const isCsv = format === "csv";
  let batch = isCsv ? headerLine(hasMarkets) : "";
  for (const row of rows) {
    refuseUnreadable(row, hasMarkets || !isCsv);
    batch += isCsv ? csvLine(row, hasMarkets) : jsonLine(row);
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = "";
  }
  if (batch !== "") yield batch;
}

function headerLine(hasMarkets: boolean): string {
  return `${COLUMNS.filter((column) => hasMarkets || column !== "market").join()}\n`;
}

function csvLine(row: FlowRow, hasMarkets: boolean): string {
  const start = `${row.at},${row.account},${row.op}`;
  const end = hasMarkets ? `,${row.market ?? ""}\n` : "\n";
  switch (row.op) {
    case "place": {
      const { ref, side, outcome, price, size } = row;
      const terms = `${side},${outcome},${textOf(price, PRICE_PLACES)},${textOf(size, SIZE_PLACES)}`;
      return `${start},${ref},${terms},${typeText(row)}${end}`;
    }
    case "cancel":
      return `${start},${row.ref},,,,,${end}`;
    case "cancel-all":
      return `${start},,,,,,${end}`;
    case "fund":
      return `${start},,,${row.asset},,${amountText(row)},${end}`;
    default:
      throw unreachable(row);
  }
}

function jsonLine(row: FlowRow): string {
  const start = `{"at":${row.at},"account":"${row.account}","op":"${row.op}"`;
  const end = row.market === null ? "}\n" : `,"market":"${row.market}"}\n`;
  switch (row.op) {
    case "place": {
      const { side, outcome, price, size } = row;
      const ref = row.ref === "" ? "" : `,"ref":"${row.ref}"`;
      const terms = `"price":${textOf(price, PRICE_PLACES)},"size":${textOf(size, SIZE_PLACES)}`;
      return `${start}${ref},"side":"${side}","outcome":"${outcome}",${terms},"type":"${typeText(row)}"${end}`;
    }
    case "cancel":
      return `${start},"ref":"${row.ref}"${end}`;
    case "cancel-all":
      return start + end;
    case "fund":
      return `${start},"outcome":"${row.asset}","size":${amountText(row)}${end}`;
    default:
      throw unreachable(row);
  }
}

const amountText = ({ asset, amount }: FundCollateralRow | FundSharesRow): string =>
  textOf(amount, asset === "USDC" ? MONEY_PLACES : SIZE_PLACES);

const typeText = ({ type, expiresIn }: PlaceRow): string =>
  expiresIn === null ? type : `${type} +${durationText(expiresIn)}`;

const durationText = (length: number): string => (length % 1000 === 0 ? `${length / 1000}s` : `${length}ms`);

function refuseUnreadable(row: FlowRow, hasMarkets: boolean): void {
  if (!isAccountName(row.account)) throw new RangeError(`${JSON.stringify(row.account)} names no account`);
  if (row.market !== null) {
    if (!isMarketName(row.market)) throw new RangeError(`${JSON.stringify(row.market)} names no market`);
    if (!hasMarkets)
      throw new RangeError(`a row names the market ${row.market}: the file has no column for it`);
  }
  const isNamed = row.op === "cancel" || (row.op === "place" && row.ref !== "");
  if (isNamed && !isOrderName(row.ref)) throw new RangeError(`${JSON.stringify(row.ref)} names no order`);
}
