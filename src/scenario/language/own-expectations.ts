import { STATUS } from "../../api/errors.ts";
import type { ClientCode } from "../../client/result.ts";
import { ORDER_STATUSES } from "../../core/order.ts";
import type { Outcome, Side } from "../../core/terms.ts";
import { CANCEL_REASONS, type MatchType } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import { shown } from "../../simulation/flow-error.ts";
import { type Declarations, readMarketWord } from "./declarations.ts";
import {
  type DecimalRule,
  decimalIn,
  type Fields,
  isPartyName,
  itemsOf,
  MATCHED,
  PRICE,
  priceOf,
  ruleText,
  SIZE,
  sizeOf,
  textOf,
  wrongNumber,
} from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { meantWord } from "./near-misses.ts";
import { isRearranged } from "./order-line.ts";
import { type Entry, type Node, orOf } from "./page.ts";
import type { FillLine, OrderState, OwnExpectations, Placed, TradeLine } from "./scenario.ts";
import type { OpenFile } from "./scenario-files.ts";
import { OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

type OwnKey = "status" | "fills" | "rejects";

const CLIENT_CODES: readonly ClientCode[] = ["CONNECTION_LOST", "INVALID_REPLY", "NOT_DERIVED", "NO_WALLET"];
/** Every code that a refusal may have. */
const CODES: readonly string[] = [...Object.keys(STATUS), ...CLIENT_CODES];
/** Why an own order could not be canceled. */
const REASONS: readonly string[] = ["already matched", "already canceled", "already expired"];
/** What a refusal without a code is called. */
const BARE_STATUS = /^HTTP \d{3}$/;

/** What a step says about its own outcome. */
export const readOwnExpectations = (
  file: OpenFile,
  { status, fills, rejects }: Fields<OwnKey>,
  declared: Declarations,
): OwnExpectations => ({
  status: status === undefined ? null : orderStateAt(file, status.value),
  fills: fills === undefined ? null : readLines(file, fills.value, (line) => readFillLine(line, declared)),
  rejects: readRejects(file, rejects),
});

/** An error code, or why an order could not be canceled. */
export function readRejects({ page }: OpenFile, entry: Entry | undefined): Placed<string> | null {
  if (entry === undefined) return null;
  const { value: node } = entry;
  const expected = "an error code such as INVALID_TICK_SIZE";
  const code = textOf(page, node, expected);
  if (code === null) return null;
  const isKnown = CODES.includes(code) || REASONS.includes(code) || BARE_STATUS.test(code);
  if (isKnown) return { value: code, place: page.placeOf(node) };
  return page.unexpected(node.start, expected, code, [...CODES, ...REASONS]);
}

/** An order's state such as `LIVE 40/100`. */
export function orderStateAt({ page }: OpenFile, node: Node): Placed<OrderState> | null {
  if (textOf(page, node, "an order's state such as LIVE 40/100") === null || node.kind !== "text")
    return null;
  const value = readOrderState(new LineWords(page, node));
  return value && { value, place: page.placeOf(node) };
}

/** A list of lines, each read by `read`. */
export function readLines<Value>(
  { page }: OpenFile,
  node: Node,
  read: (line: LineWords) => Value | null,
): Placed<readonly Placed<Value>[]> | null {
  const items = itemsOf(page, node, "a list");
  if (items === null) return null;
  const lines: Placed<Value>[] = [];
  for (const item of items) {
    if (textOf(page, item, "a line such as SELL 40 YES @ 0.55 from alice") === null || item.kind !== "text")
      continue;
    const value = read(new LineWords(page, item));
    if (value !== null) lines.push({ value, place: page.placeOf(item) });
  }
  return { value: lines, place: page.placeOf(node) };
}

const SPELLED_SHARE = /^([\d.]+) ?(?:\/|of|out of|:|,) ?([\d.]+)(?= |$)/i;
const SHARE_RULE = "how much of how much is matched, such as 40/100";

/** Reads `CANCELED 0/10 FOK_UNFILLED`. */
function readOrderState(line: LineWords): OrderState | null {
  if (isRefusal(line) || isShareFirst(line)) return null;
  const status = line.oneOf(ORDER_STATUSES, orOf(ORDER_STATUSES));
  const share = status && line.take(SHARE_RULE);
  if (status === null || share === null) return null;
  const [matchedText = "", sizeText = "", ...more] = share.text.split("/");
  const matched = decimalIn(matchedText, MATCHED) as Size | null;
  const size = decimalIn(sizeText, SIZE) as Size | null;
  if (matched === null || size === null || more.length > 0) {
    const said = [share, ...line.left].map(({ text }) => text).join(" ");
    const meant = SPELLED_SHARE.exec(said);
    return line.page.unexpected(share.at, SHARE_RULE, share.text, [], meant && `${meant[1]}/${meant[2]}`);
  }
  if (matched > size) return line.page.wrong(share.at, `${matchedText} is more than the whole, ${sizeText}`);
  const reason = line.peek() === undefined ? null : line.oneOf(CANCEL_REASONS, `${orOf(CANCEL_REASONS)}`);
  const isRead = line.isOver();
  return isRead ? { status, matched, size, reason } : null;
}

/** Notes that an order which is refused has no state. */
function isRefusal(line: LineWords): boolean {
  const word = line.peek();
  if (word === undefined || !/^(?:REJECTED|REFUSED|DENIED|FAILED|INVALID)$/i.test(word.text)) return false;
  line.page.wrong(
    word.at,
    `expected ${orOf(ORDER_STATUSES)}, found ${shown(word.text)}`,
    "`rejects: CODE` beside an order says that it is refused",
  );
  return true;
}

/** Notes `40/100 LIVE`. */
function isShareFirst(line: LineWords): boolean {
  const [share, status] = line.left;
  if (share === undefined || status === undefined || !/^[\d.]+\/[\d.]+$/.test(share.text)) return false;
  const word =
    ORDER_STATUSES.find((each) => each === status.text.toUpperCase()) ??
    meantWord(status.text, ORDER_STATUSES);
  const meant = word === undefined ? null : `${word} ${share.text}`;
  line.page.unexpected(share.at, orOf(ORDER_STATUSES), share.text, [], meant);
  return true;
}

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
function readFillLine(line: LineWords, declared: Declarations): FillLine | null {
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
