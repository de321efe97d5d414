import type { EndpointOf, Operation } from "../../api/endpoints.ts";
import { ApiError } from "../../api/errors.ts";
import { carries, folded, rankedEvents } from "../../api/market-search.ts";
import {
  eventDetail,
  eventReply,
  historyReply,
  isActive,
  marketDetail,
  marketReply,
  marketTradeReply,
} from "../../api/markets.ts";
import { lastTradeOf, midOf, priceOrNull, quotesOf } from "../../api/order-book.ts";
import { refusalError } from "../../api/refusals.ts";
import {
  findEvent,
  findMarket,
  isoOrNull,
  marketOfTokenId,
  outcomeIn,
  pageAt,
  pageOf,
  type View,
} from "../../api/view.ts";
import type { Command } from "../../core/commands.ts";
import { PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../core/format.ts";
import { type Market, outcomeOf } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { type Millis, price, size } from "../../core/units.ts";
import { JsonText } from "../messages.ts";
import type { BodyOf, Handlers, Service } from "../service.ts";
import { exact, timeIn } from "./control.ts";
import { submit } from "./trading.ts";

const ofToken =
  <Reply>(reply: (market: Market, outcome: Outcome, service: Service) => Reply) =>
  ({ query }: { readonly query: { readonly token_id: string } }, service: Service, view: View) => {
    const { token, market } = marketOfTokenId(view, query.token_id);
    return { tokenId: query.token_id, ...reply(market, outcomeOf(token), service) };
  };

/** Submits a command for a market, and returns the market after it. */
function submitFor(service: Service, view: View, idOrSlug: string, command: (market: number) => Command) {
  const market = findMarket(view, idOrSlug);
  submit(service, command(market.number));
  return marketReply(view, market);
}

export const marketHandlers = {
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

  listMarkets: ({ query }, service, view) => {
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
    return pageOf(wanted, query, (market) => marketReply(view, market));
  },
  getMarket: ({ path }, _service, view) => marketDetail(view, findMarket(view, path.idOrSlug)),
  getPricesHistory: ({ path, query }, _service, view) => {
    const market = findMarket(view, path.idOrSlug);
    const { startTs, endTs, tokenId } = query;
    const outcome = tokenId === undefined ? "YES" : outcomeIn(view, market, tokenId);
    if (startTs !== undefined && endTs !== undefined && startTs > endTs) {
      throw new ApiError("INVALID_PARAMETER", `startTs ${startTs} is after endTs ${endTs}`, {
        details: { startTs, endTs },
      });
    }
    return historyReply(view, market, outcome, query);
  },
  listMarketTrades: ({ path, query }, _service, view) => {
    const market = findMarket(view, path.idOrSlug);
    const numbers = query.all === true ? market.trades : market.yesTrades;
    return pageAt(numbers.size, query, (index) =>
      marketTradeReply(view, view.state.trades.get(numbers.get(numbers.size - index))),
    );
  },
  listEvents: ({ query }, _service, view) => {
    const { active, tag } = query;
    const wanted = rankedEvents(view.state).filter(
      (event) =>
        (active === undefined || active === isActive(view, event)) &&
        (tag === undefined || carries(event, tag)),
    );
    return pageOf(wanted, query, (event) => eventReply(view, event));
  },
  getEvent: ({ path }, _service, view) => eventDetail(view, findEvent(view, path.idOrSlug)),
  search: ({ query }, { search }, view) =>
    pageOf(search.search(view.state, query.q), query, ({ type, number }) =>
      type === "event"
        ? { type, event: eventReply(view, view.state.events.get(number)) }
        : { type, market: marketReply(view, view.state.markets.get(number)) },
    ),

  createEvent: ({ body }, service, view) => {
    const event = addEvent(service, { ...body, endDate: timeOrNull(body.endDate) });
    return eventReply(view, view.state.events.get(event));
  },
  createMarket: ({ body }, service, view) => {
    const { state } = view;
    const { question, description = "", tags = [], feeRateBps, matching, selfTrade } = body;
    const endDate = timeOrNull(body.endDate);
    const minOrderSize = size(exact("minOrderSize", body.minOrderSize, SIZE_PLACES));
    const parent = body.eventId === undefined ? undefined : findEvent(view, body.eventId);
    const slug = body.slug ?? freeSlug(question, (candidate) => state.marketBySlug.has(candidate));
    if (state.marketBySlug.has(slug)) throw refusalError({ code: "SLUG_TAKEN", slug }, view);
    const event = parent?.number ?? addEvent(service, { ...body, title: question, slug: undefined, endDate });
    submit(service, {
      kind: "createMarket",
      ...{ event, question, slug, description },
      category: body.category ?? parent?.category ?? DEFAULT_CATEGORY,
      tags,
      tickSize: price(unitsOf(body.tickSize, PRICE_PLACES) as number),
      ...{ minOrderSize, feeRateBps, matching, selfTrade },
      endDate: endDate ?? parent?.endDate ?? null,
    });
    return marketReply(view, state.markets.get(state.markets.size));
  },
  closeMarket: ({ path }, service, view) =>
    submitFor(service, view, path.idOrSlug, (market) => ({ kind: "closeMarket", market })),
  resolveMarket: ({ path, body: { winningOutcome } }, service, view) =>
    submitFor(service, view, path.idOrSlug, (market) => ({ kind: "resolveMarket", market, winningOutcome })),
} satisfies Partial<Handlers<Operation>>;

const DEFAULT_CATEGORY = "general";

type EventFields = Omit<BodyOf<EndpointOf<"createEvent">>, "endDate"> & { readonly endDate: Millis | null };

function addEvent(service: Service, fields: EventFields): number {
  const { exchange } = service;
  const { title, description = "", category = DEFAULT_CATEGORY, tags = [], endDate } = fields;
  const slug = fields.slug ?? freeSlug(title, (candidate) => exchange.state.eventBySlug.has(candidate));
  submit(service, { kind: "createEvent", title, slug, description, category, tags, endDate });
  return exchange.state.events.size;
}

/** Returns a slug of the words of a title, with a number if it is taken. */
function freeSlug(title: string, isTaken: (slug: string) => boolean): string {
  const words = folded(title).match(/[a-z0-9]+/g) ?? [];
  const base = words.join("-").slice(0, 100).replace(/-$/, "") || "untitled";
  let slug = base;
  for (let next = 2; isTaken(slug); next += 1) slug = `${base}-${next}`;
  return slug;
}

const timeOrNull = (text: string | null | undefined): Millis | null =>
  text === null || text === undefined ? null : timeIn("endDate", text);
