import type { Declarations } from "./declarations.ts";
import type { LineWords } from "./line-words.ts";

/** Reads `in MARKET`, or nothing where there is but one; undefined with a problem: no such market, or none named. */
export function readMarketWord(line: LineWords, declared: Declarations): string | null | undefined {
  const isNamed = line.takeIf("in") !== null;
  const word = isNamed ? line.take("a market after in") : line.peek();
  if (isNamed && word === null) return undefined;
  const name = isNamed ? (word?.text ?? null) : null;
  if (declared.hasMarket(name)) return declared.marketName(name);
  declared.noMarket(line.page, word?.at ?? line.end, name);
  return undefined;
}
