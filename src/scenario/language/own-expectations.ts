import { ERROR_CODES } from "../../api/errors.ts";
import type { ClientCode } from "../../client/result.ts";
import { ORDER_STATUSES } from "../../core/order.ts";
import { CANCEL_REASONS } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import { shown } from "../../simulation/flow-error.ts";
import type { Declarations } from "./declarations.ts";
import { decimalIn, eachOf, isPartyName, itemsOf, MATCHED, PRICE, SIZE, textOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import { meantWord } from "./near-misses.ts";
import { requireArrangement } from "./order-line.ts";
import { type Node, orOf, type Page } from "./page.ts";
import type { FillLine, OrderState, Placed, TradeLine } from "./scenario.ts";
import { OUTCOMES, SETS, SETTLEMENT_STATUSES, SIDES } from "./vocabulary.ts";

const CLIENT_CODES: readonly ClientCode[] = ["CONNECTION_LOST", "INVALID_REPLY", "NOT_DERIVED", "NO_WALLET"];
/** Every code that a refusal may have, and why an own order could not be canceled. */
const CODES: readonly string[] = [
  ...ERROR_CODES,
  ...CLIENT_CODES,
  "already matched",
  "already canceled",
  "already expired",
];
/** What a refusal without a code is called. */
const BARE_STATUS = /^HTTP \d{3}$/;
const CODE_RULE = "an error code such as INVALID_TICK_SIZE";

/** An error code, or why an order could not be canceled. */
export function rejectsAt(page: Page, node: Node): Placed<string> {
  const value = textOf(page, node, CODE_RULE);
  if (CODES.includes(value) || BARE_STATUS.test(value)) return { value, place: page.placeOf(node) };
  throw page.unexpected(node.start, CODE_RULE, value, CODES);
}

/** An order's state such as `LIVE 40/100`. */
export const orderStateAt = (page: Page, node: Node): Placed<OrderState> => ({
  value: readOrderState(LineWords.at(page, node, "an order's state such as LIVE 40/100")),
  place: page.placeOf(node),
});

/** A list of lines, each read by `read`. */
export const linesAt = <Value>(
  page: Page,
  node: Node,
  read: (line: LineWords) => Value,
): Placed<readonly Placed<Value>[]> => ({
  value: eachOf(itemsOf(page, node, "a list"), (item) => ({
    value: read(LineWords.at(page, item, "a line such as SELL 40 YES @ 0.55 from alice")),
    place: page.placeOf(item),
  })),
  place: page.placeOf(node),
});

const SPELLED_SHARE = /^([\d.]+) ?(?:\/|of|out of|:|,) ?([\d.]+)(?= |$)/i;
const SHARE_RULE = "how much of how much is matched, such as 40/100";

/** Reads `CANCELED 0/10 FOK_UNFILLED`. */
function readOrderState(line: LineWords): OrderState {
  requireStatusFirst(line);
  const status = line.oneOf(ORDER_STATUSES);
  const share = line.take(SHARE_RULE);
  const [matchedText = "", sizeText = "", ...more] = share.text.split("/");
  const matched = decimalIn(matchedText, MATCHED) as Size | null;
  const size = decimalIn(sizeText, SIZE) as Size | null;
  if (matched === null || size === null || more.length > 0) {
    const meant = SPELLED_SHARE.exec([share, ...line.left].map(({ text }) => text).join(" "));
    throw line.page.unexpected(share.at, SHARE_RULE, share.text, [], meant && `${meant[1]}/${meant[2]}`);
  }
  if (matched > size) throw line.page.wrong(share.at, `${matchedText} is more than the whole, ${sizeText}`);
  const reason = line.peek() === undefined ? null : line.oneOf(CANCEL_REASONS);
  line.requireEnd();
  return { status, matched, size, reason };
}

/** Notes `40/100 LIVE`, and that an order which is refused has no state. */
function requireStatusFirst({ page, left: [first, second] }: LineWords): void {
  if (first === undefined) return;
  if (/^(?:REJECTED|REFUSED|DENIED|FAILED|INVALID)$/i.test(first.text)) {
    const message = `expected ${orOf(ORDER_STATUSES)}, found ${shown(first.text)}`;
    throw page.wrong(first.at, message, "`rejects: CODE` beside an order says that it is refused");
  }
  if (second === undefined || !/^[\d.]+\/[\d.]+$/.test(first.text)) return;
  const status =
    ORDER_STATUSES.find((each) => each === second.text.toUpperCase()) ??
    meantWord(second.text, ORDER_STATUSES);
  const meant = status === undefined ? null : `${status} ${first.text}`;
  throw page.unexpected(first.at, orOf(ORDER_STATUSES), first.text, [], meant);
}

const PARTY_RULE = "the name of an account";
const MAKER_RULE = "the name of an account or of an order";

/** Reads `bob SELL 40 YES @ 0.55 in rain from alice MINT CONFIRMED`. */
export function readTradeLine(line: LineWords, declared: Declarations): TradeLine {
  const { page } = line;
  const { text, at } = line.take(PARTY_RULE);
  if (SIDES.some((side) => side === text)) throw page.unexpected(at, "the taker before the side", text);
  if (!isPartyName(text)) throw page.unexpected(at, PARTY_RULE, text);
  return { taker: declared.party(page, at, text), ...readFillLine(line, declared) };
}

/** Reads the same without who takes: `SELL 40 YES @ 0.55 from alice`. */
export function readFillLine(line: LineWords, declared: Declarations): FillLine {
  requireArrangement(line);
  const side = line.oneOf(SIDES);
  const size = line.decimal<FillLine["size"]>(SIZE);
  const outcome = line.oneOf(OUTCOMES);
  line.require("@");
  const price = line.decimal<FillLine["price"]>(PRICE);
  const market = declared.marketOf(line);
  line.require("from");
  const maker = makerOf(line, declared);
  const matchType = line.takeIf(...SETS) ?? "COMPLEMENTARY";
  const status = line.takeIf(...SETTLEMENT_STATUSES);
  if (status === null) {
    line.requireEnd("MINT, MERGE, a status or the end of the line", [...SETS, ...SETTLEMENT_STATUSES]);
  } else line.requireEnd();
  return { side, size, outcome, price, market, ...maker, matchType, status };
}

/** Who rested: an account, or an order by its name, but not a name that both have. */
function makerOf(line: LineWords, declared: Declarations): Pick<FillLine, "maker" | "isMakerOrder"> {
  const { page } = line;
  const { text, at } = line.take(MAKER_RULE);
  const maker = declared.rounds.named(text);
  if (!isPartyName(maker)) throw page.unexpected(at, MAKER_RULE, maker);
  const isMakerOrder = declared.orders.has(maker);
  if (isMakerOrder && declared.accounts?.has(maker) === true) {
    throw page.wrong(at, `${maker} is an account and an order`, "give the order another name");
  }
  if (!isMakerOrder) declared.party(page, at, maker, "account or order", declared.orders.keys());
  return { maker, isMakerOrder };
}
