import { ORDER_STATUSES } from "../../core/order.ts";
import { CANCEL_REASONS } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import { shown } from "../flow/flow-error.ts";
import { MATCHED, SIZE } from "./amounts.ts";
import type { LineWords } from "./line-words.ts";
import type { OrderLook } from "./looks.ts";
import { meantWord } from "./near-misses.ts";
import { orOf } from "./page.ts";
import { decimalIn } from "./values.ts";

const SPELLED_SHARE = /^([\d.]+) ?(?:\/|of|out of|:|,) ?([\d.]+)(?= |$)/i;
const SHARE_RULE = "how much of how much is matched, such as 40/100";

/** Reads `CANCELED 0/10 FOK_UNFILLED`. */
export function readOrderLook(line: LineWords): OrderLook | null {
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
