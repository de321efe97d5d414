import type { Operation } from "../../api/endpoints.ts";
import { lastTradeOf, midOf, priceOrNull, quotesOf } from "../../api/order-book.ts";
import { isoOrNull, marketOfTokenId } from "../../api/view.ts";
import { PRICE_PLACES } from "../../core/format.ts";
import { type Market, outcomeOf } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { type Handlers, JsonText, type Service, viewOf } from "../service.ts";

const ofToken =
  <Reply>(reply: (market: Market, outcome: Outcome, service: Service) => Reply) =>
  ({ query }: { readonly query: { readonly token_id: string } }, service: Service) => {
    const { token, market } = marketOfTokenId(viewOf(service), query.token_id);
    return { tokenId: query.token_id, ...reply(market, outcomeOf(token), service) };
  };

export const orderBookHandlers = {
  getBook: ({ query }, { books }, view) => {
    const { token, market } = marketOfTokenId(view, query.token_id);
    return new JsonText(books.json(view, market, outcomeOf(token)));
  },
  getPrice: ofToken((market, outcome, { numbers }) => {
    const { bid, ask } = quotesOf(market, outcome);
    return { bestBid: priceOrNull(numbers, bid), bestAsk: priceOrNull(numbers, ask) };
  }),
  getMidpoint: ofToken((market, outcome, { numbers }) => ({
    mid: midOf(numbers, quotesOf(market, outcome)),
  })),
  getSpread: ofToken((market, outcome, { numbers }) => {
    const { bid, ask } = quotesOf(market, outcome);
    return { spread: bid === null || ask === null ? null : numbers.decimal(ask - bid, PRICE_PLACES) };
  }),
  getLastTradePrice: ofToken((market, outcome, { numbers }) => {
    const last = lastTradeOf(market, outcome);
    return {
      lastTradePrice: priceOrNull(numbers, last?.price ?? null),
      side: last?.side ?? null,
      tradedAt: isoOrNull(last?.at ?? null),
    };
  }),
  getTickSize: ofToken(({ tickSize }, _outcome, { numbers }) => ({ tickSize: numbers.price(tickSize) })),
  getFeeRate: ofToken(({ feeRateBps }) => ({ feeRateBps })),
  getTime: (_call, { exchange }) => ({ time: Math.floor(exchange.now / 1000) }),
} satisfies Partial<Handlers<Operation>>;
