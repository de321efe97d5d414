/**
 * The rows of a table that is written as a text: a row a line, its cells between ` | `, blanks around them left out; `.`
 * stands for an empty cell.
 */
export const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.split(" | ").map((cell) => (cell.trim() === "." ? "" : cell.trim())));
