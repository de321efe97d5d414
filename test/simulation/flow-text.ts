import type { Millis } from "../../src/core/units.ts";
import { FlowError, type FlowFormat, type FlowRow } from "../../src/simulation/flow.ts";
import { parseFlow } from "../../src/simulation/read-flow.ts";

/** The header of a file with one market. */
export const HEADER = "at,account,op,ref,side,outcome,price,size,type";

/** How a text is converted to a file. */
export interface FileTerms {
  readonly format?: FlowFormat;
  readonly start?: Millis;
  /** Boundaries of the pieces, in bytes. */
  readonly cuts?: readonly number[];
}

/** Returns all rows of a file. @throws FlowError */
export async function rowsIn(file: string | Uint8Array, terms: FileTerms = {}): Promise<FlowRow[]> {
  const rows: FlowRow[] = [];
  const pieces = piecesOf(Buffer.from(file), terms.cuts ?? []);
  for await (const batch of parseFlow(pieces, "flow", terms.format ?? "csv", terms.start))
    rows.push(...batch);
  return rows;
}

/** Returns the error of a file as `line:column message`; `nothing` if it is valid. */
export async function flawIn(file: string | Uint8Array, terms?: FileTerms): Promise<string> {
  try {
    await rowsIn(file, terms);
    return "nothing";
  } catch (error) {
    if (!(error instanceof FlowError)) throw error;
    return `${error.line}:${error.column} ${error.message}`;
  }
}

async function* piecesOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}
