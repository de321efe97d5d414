import type { Declarations } from "./declarations.ts";
import { orOf, type Page } from "./page.ts";
import type { TokenName } from "./scenario.ts";
import { OUTCOMES } from "./vocabulary.ts";
import type { TextNode } from "./yaml-tree.ts";

/** Reads `YES`, or `rain YES` where there are several markets. */
export function readTokenName(
  page: Page,
  key: TextNode,
  declared: Declarations,
  others: readonly string[] = [],
): TokenName | null {
  const words = key.value.trim().split(/\s+/);
  const [first = "", second] = words;
  const word = second ?? first;
  const outcome = OUTCOMES.find((known) => known === word);
  if (outcome === undefined || words.length > 2) {
    const known = [...others, ...OUTCOMES];
    return page.unexpected(
      key.start,
      `${orOf(known)}, with the market before it where there are several`,
      key.value,
      known,
    );
  }
  const market = second === undefined ? null : first;
  if (!declared.hasMarket(market)) return declared.noMarket(page, key.start, market);
  return { market: declared.marketName(market), outcome };
}
