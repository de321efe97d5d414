import type { MatchType, Outcome, Side } from "../../core/terms.ts";
import { PRICE, priceOf, SIZE, sizeOf } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import type { LineWords } from "./line-words.ts";
import type { FillLine, TradeLine } from "./looks.ts";
import { readMarketWord } from "./market-word.ts";
import { isRearranged } from "./meant-order.ts";
import { isPartyName } from "./names.ts";
import { orOf } from "./page.ts";
import { type DecimalRule, ruleText, wrongNumber } from "./values.ts";
import { OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

const PARTY_RULE = "the name of an account";
const MAKER_RULE = "the name of an account or of an order";

/** Reads `bob SELL 40 YES @ 0.55 in rain from alice MINT CONFIRMED`. */
export function readTradeLine(line: LineWords, declared: Declarations): TradeLine | null {
  const first = line.peek();
  if (first !== undefined && SIDES.some((side) => side === first.text)) {
    return line.page.unexpected(first.at, "the taker before the side", first.text);
  }
  const taker = takerOf(line, declared);
  const fill = taker === null ? null : readFillLine(line, declared);
  return taker === null || fill === null ? null : { taker, ...fill };
}

/** Reads the same without who takes: `SELL 40 YES @ 0.55 from alice`. */
export function readFillLine(line: LineWords, declared: Declarations): FillLine | null {
  if (isRearranged(line)) return null;
  const side: Side | null = line.oneOf(SIDES, orOf(SIDES));
  const size = side && amountOf(line, SIZE, sizeOf);
  const outcome: Outcome | null = size && line.oneOf(OUTCOMES, orOf(OUTCOMES));
  const at = outcome && line.demand("@");
  const price = at && amountOf(line, PRICE, priceOf);
  if (side === null || size === null || outcome === null || price === null) return null;
  const market = readMarketWord(line, declared);
  const maker = line.demand("from") && makerOf(line, declared);
  if (market === undefined || maker === null) return null;
  const matchType: MatchType = takeAny(line, SETS) ?? "COMPLEMENTARY";
  const status = takeAny(line, SETTLEMENT_STATUSES);
  const words = status === null ? [...SETS, ...SETTLEMENT_STATUSES] : [];
  const ending = status === null ? "MINT, MERGE, a status or the end of the line" : "the end of the line";
  if (!line.isOver(ending, words)) return null;
  return { side, size, outcome, price, market, ...maker, matchType, status };
}

function amountOf<Amount extends number>(
  line: LineWords,
  rule: DecimalRule,
  read: (text: string) => Amount | null,
): Amount | null {
  const word = line.take(ruleText(rule));
  return word && (read(word.text) ?? wrongNumber(line.page, word.at, rule, word.text));
}

function takerOf(line: LineWords, declared: Declarations): string | null {
  const word = line.take(PARTY_RULE);
  if (word === null) return null;
  const { text, at } = word;
  if (!isPartyName(text)) return line.page.unexpected(at, PARTY_RULE, text);
  return declared.demandParty(line.page, at, text) ? text : null;
}

/** Who rested: an account, or an order by its name, but not a name that both have. */
function makerOf(line: LineWords, declared: Declarations): Pick<FillLine, "maker" | "isMakerOrder"> | null {
  const word = line.take(MAKER_RULE);
  if (word === null) return null;
  const { at } = word;
  const maker = declared.rounds.named(word.text);
  if (!isPartyName(maker)) return line.page.unexpected(at, MAKER_RULE, maker);
  const isMakerOrder = declared.orders.has(maker);
  if (isMakerOrder && declared.accounts?.has(maker) === true) {
    return line.page.wrong(at, `${maker} is an account and an order`, "give the order another name");
  }
  const { orders } = declared;
  const isKnown =
    isMakerOrder || declared.demandParty(line.page, at, maker, "account or order", orders.keys());
  return isKnown ? { maker, isMakerOrder } : null;
}

/** Takes the next word if it is one of a few. */
function takeAny<Text extends string>(line: LineWords, words: readonly Text[]): Text | null {
  const next = line.peek()?.text;
  const word = words.find((text) => text === next) ?? null;
  if (word !== null) line.takeIf(word);
  return word;
}
