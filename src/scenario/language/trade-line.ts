import type { Outcome, Side } from "../../core/commands.ts";
import type { MatchType } from "../../core/events.ts";
import { PRICE, priceOf, SIZE, sizeOf } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import type { LineWords } from "./line-words.ts";
import type { FillLine, TradeLine } from "./looks.ts";
import { readMarketWord } from "./market-word.ts";
import { isPartyName } from "./names.ts";
import { orOf } from "./page.ts";
import { ruleText } from "./values.ts";
import { OUTCOMES, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

const SETS = ["MINT", "MERGE"] as const;
const PARTY_RULE = "the name of an account";

/** Reads `bob SELL 40 YES @ 0.55 in rain from alice MINT CONFIRMED`. */
export function readTradeLine(line: LineWords, declared: Declarations): TradeLine | null {
  const first = line.peek();
  if (first !== undefined && SIDES.some((side) => side === first.text)) {
    return line.page.unexpected(first.at, "the taker before the side", first.text);
  }
  const taker = partyOf(line);
  const fill = taker === null ? null : readFillLine(line, declared);
  return taker === null || fill === null ? null : { taker, ...fill };
}

/** Reads the same without who takes: `SELL 40 YES @ 0.55 from alice`. */
export function readFillLine(line: LineWords, declared: Declarations): FillLine | null {
  const side: Side | null = line.oneOf(SIDES, orOf(SIDES));
  const size = side && amountOf(line, ruleText(SIZE), sizeOf);
  const outcome: Outcome | null = size && line.oneOf(OUTCOMES, orOf(OUTCOMES));
  const at = outcome && line.demand("@");
  const price = at && amountOf(line, ruleText(PRICE), priceOf);
  if (side === null || size === null || outcome === null || price === null) return null;
  const market = readMarketWord(line, declared);
  const maker = line.demand("from") && partyOf(line);
  if (market === undefined || maker === null) return null;
  const matchType: MatchType = takeAny(line, SETS) ?? "COMPLEMENTARY";
  const status = takeAny(line, SETTLEMENT_STATUSES);
  const words = status === null ? [...SETS, ...SETTLEMENT_STATUSES] : [];
  const ending = status === null ? "MINT, MERGE, a status or the end of the line" : "the end of the line";
  if (!line.isOver(ending, words)) return null;
  return { side, size, outcome, price, market, maker, matchType, status };
}

function amountOf<Amount extends number>(
  line: LineWords,
  rule: string,
  read: (text: string) => Amount | null,
): Amount | null {
  const word = line.take(rule);
  return word && (read(word.text) ?? line.page.unexpected(word.at, rule, word.text));
}

function partyOf(line: LineWords): string | null {
  const word = line.take(PARTY_RULE);
  if (word === null) return null;
  return isPartyName(word.text) ? word.text : line.page.unexpected(word.at, PARTY_RULE, word.text);
}

/** Takes the next word if it is one of a few. */
function takeAny<Text extends string>(line: LineWords, words: readonly Text[]): Text | null {
  const next = line.peek()?.text;
  const word = words.find((text) => text === next) ?? null;
  if (word !== null) line.takeIf(word);
  return word;
}
