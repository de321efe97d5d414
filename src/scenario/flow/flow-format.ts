/** How the rows of a flow are written: a table with a header, or one JSON object a line. */
export type FlowFormat = "csv" | "ndjson";

/** How the rows of a file are written, by the end of its name; undefined for one that says nothing. */
export function formatOf(path: string): FlowFormat | undefined {
  if (/\.csv$/i.test(path)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(path) ? "ndjson" : undefined;
}
