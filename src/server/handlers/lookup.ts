import { ApiError } from "../../api/errors.ts";
import { marketOfTokenId, orderNotFound } from "../../api/refusals.ts";
import type { View } from "../../api/replies/view.ts";
import type { Account } from "../../core/account.ts";
import { numberOf } from "../../core/ids.ts";
import { type EventRecord, type Market, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";

const quoted = (text: string): string => JSON.stringify(text.slice(0, 128));

/** The market of an id or slug. @throws ApiError `MARKET_NOT_FOUND`, with a hint when the text names something else. */
export function findMarket({ state }: View, idOrSlug: string): Market {
  const number = state.marketBySlug.get(idOrSlug) ?? numberOf(state.idPrefixes.market, idOrSlug);
  const market = state.markets.find(number);
  if (market !== undefined) return market;
  const isEvent = state.eventBySlug.has(idOrSlug) || numberOf(state.idPrefixes.event, idOrSlug) > 0;
  throw new ApiError("MARKET_NOT_FOUND", `no market ${quoted(idOrSlug)}`, {
    hint: isEvent
      ? "that is an event: GET /api/events/{idOrSlug} lists its markets"
      : state.marketByConditionId.has(idOrSlug)
        ? "that is a condition id: markets are addressed by id or slug"
        : state.tokenById.has(idOrSlug)
          ? "that is a token id: markets are addressed by id or slug"
          : undefined,
  });
}

/** The event of an id or slug. @throws ApiError `EVENT_NOT_FOUND`. */
export function findEvent({ state }: View, idOrSlug: string): EventRecord {
  const number = state.eventBySlug.get(idOrSlug) ?? numberOf(state.idPrefixes.event, idOrSlug);
  const event = state.events.find(number);
  if (event !== undefined) return event;
  const isMarket = state.marketBySlug.has(idOrSlug) || numberOf(state.idPrefixes.market, idOrSlug) > 0;
  throw new ApiError("EVENT_NOT_FOUND", `no event ${quoted(idOrSlug)}`, {
    hint: isMarket ? "that is a market: GET /api/markets/{idOrSlug}" : undefined,
  });
}

/** The outcome of a token that must belong to the market. @throws ApiError `TOKEN_NOT_FOUND`, `TOKEN_NOT_IN_MARKET`. */
export function outcomeIn(view: View, market: Market, tokenId: string) {
  const { token, market: owner } = marketOfTokenId(view, tokenId);
  if (owner !== market) {
    throw new ApiError(
      "TOKEN_NOT_IN_MARKET",
      `token ${tokenId} belongs to market ${owner.slug}, not ${market.slug}`,
      {
        hint: `the tokens of ${market.slug} are ${market.tokenIds[0]} (YES) and ${market.tokenIds[1]} (NO)`,
      },
    );
  }
  return outcomeOf(token);
}

/** An order of the account. @throws ApiError `ORDER_NOT_FOUND`, the same for one of somebody else. */
export function ownOrder({ state }: View, account: Account, orderId: string): Order {
  const order = state.orders.find(numberOf(state.idPrefixes.order, orderId));
  if (order === undefined || order.account !== account.number) throw orderNotFound(orderId);
  return order;
}
