import { ApiError } from "../../api/errors.ts";
import { carries, rankedEvents } from "../../api/market-ranking.ts";
import { historyReply } from "../../api/replies/history-reply.ts";
import {
  eventDetail,
  eventReply,
  isActive,
  marketDetail,
  marketReply,
} from "../../api/replies/market-reply.ts";
import { marketTradeReply } from "../../api/replies/order-reply.ts";
import { pageOf } from "../../api/replies/view.ts";
import type { Handlers } from "../handler.ts";
import { viewOf } from "../service.ts";
import { findEvent, findMarket, outcomeIn } from "./lookup.ts";

/** GET /api: public market data. */
export const marketDataHandlers: Handlers<
  "listMarkets" | "getMarket" | "getPricesHistory" | "listMarketTrades" | "listEvents" | "getEvent" | "search"
> = {
  listMarkets: ({ query }, service) => {
    const view = viewOf(service);
    const { active, tag, sort } = query;
    const { state, sequence } = service.exchange;
    const ranked = service.ranking.ranked(state, sequence, sort ?? "createdAt");
    const wanted =
      active === undefined && tag === undefined
        ? ranked
        : ranked.filter(
            (market) =>
              (active === undefined || active === (market.status === "ACTIVE")) &&
              (tag === undefined || carries(market, tag) || carries(state.events.get(market.event), tag)),
          );
    return pageOf(wanted.length, query, (index) =>
      marketReply(view, wanted[index] as (typeof wanted)[number]),
    );
  },
  getMarket: ({ path }, service) => {
    const view = viewOf(service);
    return marketDetail(view, findMarket(view, path.idOrSlug ?? ""));
  },
  getPricesHistory: ({ path, query }, service) => {
    const view = viewOf(service);
    const market = findMarket(view, path.idOrSlug ?? "");
    const { startTs, endTs, tokenId } = query;
    const outcome = tokenId === undefined ? "YES" : outcomeIn(view, market, tokenId);
    if (startTs !== undefined && endTs !== undefined && startTs > endTs) {
      throw new ApiError("INVALID_PARAMETER", `startTs ${startTs} is after endTs ${endTs}`, {
        details: { startTs, endTs },
      });
    }
    return historyReply(view, market, outcome, query);
  },
  listMarketTrades: ({ path, query }, service) => {
    const view = viewOf(service);
    const market = findMarket(view, path.idOrSlug ?? "");
    const numbers = query.all === true ? market.trades : market.yesTrades;
    return pageOf(numbers.size, query, (index) =>
      marketTradeReply(view, view.state.trades.get(numbers.get(numbers.size - index))),
    );
  },
  listEvents: ({ query }, service) => {
    const view = viewOf(service);
    const { active, tag } = query;
    const wanted = rankedEvents(view.state).filter(
      (event) =>
        (active === undefined || active === isActive(view, event)) &&
        (tag === undefined || carries(event, tag)),
    );
    return pageOf(wanted.length, query, (index) =>
      eventReply(view, wanted[index] as (typeof wanted)[number]),
    );
  },
  getEvent: ({ path }, service) => {
    const view = viewOf(service);
    return eventDetail(view, findEvent(view, path.idOrSlug ?? ""));
  },
  search: ({ query }, service) => {
    const view = viewOf(service);
    const found = service.search.search(view.state, query.q);
    return pageOf(found.length, query, (index) => {
      const { type, number } = found[index] as (typeof found)[number];
      return type === "event"
        ? { type, event: eventReply(view, view.state.events.get(number)) }
        : { type, market: marketReply(view, view.state.markets.get(number)) };
    });
  },
};
