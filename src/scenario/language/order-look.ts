import { CANCEL_REASONS } from "../../core/events.ts";
import { ORDER_STATUSES } from "../../core/order.ts";
import type { Size } from "../../core/units.ts";
import { MATCHED, SIZE } from "./amounts.ts";
import type { LineWords } from "./line-words.ts";
import type { OrderLook } from "./looks.ts";
import { orOf } from "./page.ts";
import { decimalIn } from "./values.ts";

const SHARE_RULE = "how much of how much is matched, such as 40/100";

/** Reads `CANCELED 0/10 FOK_UNFILLED`. */
export function readOrderLook(line: LineWords): OrderLook | null {
  const status = line.oneOf(ORDER_STATUSES, orOf(ORDER_STATUSES));
  const share = status && line.take(SHARE_RULE);
  if (status === null || share === null) return null;
  const [matchedText = "", sizeText = "", ...more] = share.text.split("/");
  const matched = decimalIn(matchedText, MATCHED) as Size | null;
  const size = decimalIn(sizeText, SIZE) as Size | null;
  if (matched === null || size === null || more.length > 0) {
    return line.page.unexpected(share.at, SHARE_RULE, share.text);
  }
  if (matched > size) return line.page.wrong(share.at, `${matchedText} is more than the whole, ${sizeText}`);
  const reason = line.peek() === undefined ? null : line.oneOf(CANCEL_REASONS, `${orOf(CANCEL_REASONS)}`);
  const isRead = line.isOver();
  return isRead ? { status, matched, size, reason } : null;
}
