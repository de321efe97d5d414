/** What a golden file holds. */
export interface GoldenText {
  /** Every trade in order, as a `trades` expectation writes it. */
  readonly trades: readonly string[];
  readonly books: readonly GoldenBook[];
}

/** A book as a golden file draws it. */
export interface GoldenBook {
  /** Market and outcome: `rain YES`. */
  readonly token: string;
  /** The lines of its table. */
  readonly lines: readonly string[];
  /** Best first, as a `book` expectation writes levels: `0.55 x 60 (2)`. */
  readonly bids: readonly string[];
  readonly asks: readonly string[];
}

const ROW = /^\s*(?:(?<bid>\S+ \(\d+\)) )?\|\s+(?<price>[\d.]+) \|(?: (?<ask>\S+ \(\d+\)))?$/;

/** Reads a golden file's text. */
export function goldenIn(text: string): GoldenText {
  const [, trades = "", ...books] = text.trimEnd().split("\n\n");
  return {
    trades: linesOf(trades).map((line) => line.trim()),
    books: books.map((book) => {
      const lines = linesOf(book);
      const rows = lines.map((line) => ROW.exec(line)?.groups ?? {});
      const levels = (side: "bid" | "ask"): string[] =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [`${row.price} x ${row[side]}`]));
      return {
        token: book.split("\n", 1)[0] ?? "",
        lines,
        bids: levels("bid"),
        asks: levels("ask").reverse(),
      };
    }),
  };
}

/** The lines behind the first. */
const linesOf = (part: string): string[] => part.split("\n").slice(1);
