import { lastTradeOf, midOf, priceOrNull, quotesOf } from "../../api/order-book.ts";
import { marketOfTokenId } from "../../api/view.ts";
import { PRICE_PLACES } from "../../core/format.ts";
import { outcomeOf } from "../../core/market.ts";
import { toIso } from "../../core/time.ts";
import { type Handlers, JsonText, type Service, viewOf } from "../service.ts";

/** The market and outcome of a token id that the query named. */
function named(service: Service, tokenId: string) {
  const { token, market } = marketOfTokenId(viewOf(service), tokenId);
  return { market, outcome: outcomeOf(token), tokenId };
}

/** GET /clob: public reads of one token's book. */
export const orderBookHandlers: Handlers<
  | "getBook"
  | "getPrice"
  | "getMidpoint"
  | "getSpread"
  | "getLastTradePrice"
  | "getTickSize"
  | "getFeeRate"
  | "getTime"
> = {
  getBook: ({ query }, service) => {
    const { market, outcome } = named(service, query.token_id);
    return new JsonText(service.books.json(viewOf(service), market, outcome));
  },
  getPrice: ({ query }, service) => {
    const { market, outcome, tokenId } = named(service, query.token_id);
    const { bid, ask } = quotesOf(market, outcome);
    return {
      tokenId,
      bestBid: priceOrNull(service.numbers, bid),
      bestAsk: priceOrNull(service.numbers, ask),
    };
  },
  getMidpoint: ({ query }, service) => {
    const { market, outcome, tokenId } = named(service, query.token_id);
    return { tokenId, mid: midOf(service.numbers, quotesOf(market, outcome)) };
  },
  getSpread: ({ query }, service) => {
    const { market, outcome, tokenId } = named(service, query.token_id);
    const { bid, ask } = quotesOf(market, outcome);
    const spread = bid === null || ask === null ? null : service.numbers.decimal(ask - bid, PRICE_PLACES);
    return { tokenId, spread };
  },
  getLastTradePrice: ({ query }, service) => {
    const { market, outcome, tokenId } = named(service, query.token_id);
    const last = lastTradeOf(market, outcome);
    return {
      tokenId,
      lastTradePrice: priceOrNull(service.numbers, last?.price ?? null),
      side: last?.side ?? null,
      tradedAt: last === null ? null : toIso(last.at),
    };
  },
  getTickSize: ({ query }, service) => {
    const { market, tokenId } = named(service, query.token_id);
    return { tokenId, tickSize: service.numbers.price(market.tickSize) };
  },
  getFeeRate: ({ query }, service) => {
    const { market, tokenId } = named(service, query.token_id);
    return { tokenId, feeRateBps: market.feeRateBps };
  },
  getTime: (_call, { exchange }) => ({ time: Math.floor(exchange.now / 1000) }),
};
