/** Parses a table: a row per line, cells separated by ` | ` and trimmed. A cell `.` is empty. */
export const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.split(" | ").map((cell) => (cell.trim() === "." ? "" : cell.trim())));
