const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Formats a Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

/** Formats a Markdown table with padded columns; the first row is its head. */
export function paddedTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[], padding = " "): string =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width, padding)).join(" | ")} |`;
  const [head = "", ...body] = rows.map((row) => line(row));
  return [head, line([], "-"), ...body];
}

/** Formats a value as Markdown code. */
export const code = (value: unknown): string =>
  `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
