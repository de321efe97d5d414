import type { SettlementStatus } from "../../core/chain/settlement.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { toIso } from "../../core/time.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import type { LevelLine } from "../language/expectations.ts";
import type { FillLine, OrderState, TradeLine } from "../language/order-line.ts";
import type { Fill, Level, Refused } from "../venue/views.ts";

/** Returns `0.55 x 60`, or `0.55 x 60 (2)` with a number of orders. */
export const levelText = ({ price, size, orders }: LevelLine): string =>
  `${priceText(price)} x ${sizeText(size)}${orders === null ? "" : ` (${orders})`}`;

export const levelsText = (levels: readonly Level[]): string =>
  levels.length === 0 ? "none" : levels.map(levelText).join(", ");

/** `CANCELED 0/10 FOK_UNFILLED`. */
export const orderStateText = ({ status, matched, size, reason }: OrderState): string =>
  `${status} ${sizeText(matched)}/${sizeText(size)}${reason === null ? "" : ` ${reason}`}`;

type FillWords = Omit<FillLine, "isMakerOrder">;

/** Writes a fill in the scenario language; without its market if that is null. */
export function fillText(fill: FillWords): string {
  const { side, size, outcome, price, market, maker, matchType, status } = fill;
  const place = market === null ? "" : ` in ${market}`;
  const how = matchType === "COMPLEMENTARY" ? "" : ` ${matchType}`;
  const settled = status === null ? "" : ` ${status}`;
  return `${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}${place} from ${maker}${how}${settled}`;
}

export const tradeText = (trade: FillWords & { readonly taker: string }): string =>
  `${trade.taker} ${fillText(trade)}`;

/** Reduces a fill to the parts that its expectation names. */
export const fillLike = (
  fill: Fill,
  line: FillLine | TradeLine | undefined,
  isOnlyMarket: boolean,
  status: SettlementStatus | null = null,
) => ({
  ...fill,
  market: isOnlyMarket && line?.market == null ? null : fill.market,
  status: line?.status == null ? null : status,
});

/** `INVALID_TICK_SIZE: price 0.555 is not ... (nearest valid prices: 0.55, 0.56)`. */
export const refusedText = ({ code, message, hint }: Refused): string =>
  `${code}: ${message}${hint === null ? "" : ` (${hint})`}`;

export const secondText = (t: number): string => toIso(millis(t * 1000));
export const momentText = (at: Millis): string => toIso(at);

/** Writes a row of a flow as a step. */
export function rowText(row: FlowRow): string {
  const place = row.market === null ? "" : ` in ${row.market}`;
  switch (row.op) {
    case "place":
      return `${row.account}: ${row.side} ${sizeText(row.size)} ${row.outcome} @ ${priceText(row.price)} ${row.type}${place}`;
    case "cancel":
      return `${row.account}: cancel ${row.ref}`;
    case "cancel-all":
      return `${row.account}: cancel all`;
    case "fund": {
      const amount = row.asset === "USDC" ? moneyText(row.amount) : sizeText(row.amount);
      return `${row.account}: fund ${amount} ${row.asset}${place}`;
    }
  }
}
