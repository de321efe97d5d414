import { PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../api/decimals.ts";
import { ApiError } from "../../api/errors.ts";
import { eventReply, marketReply } from "../../api/replies/market-reply.ts";
import { folded } from "../../api/search-index.ts";
import { parseIso } from "../../core/time.ts";
import { type Millis, price, size } from "../../core/units.ts";
import type { Call, Handlers } from "../handler.ts";
import { type Service, viewOf } from "../service.ts";
import { findEvent, findMarket } from "./lookup.ts";
import { submit } from "./trading.ts";

/** The control plane's events and markets: create, close, resolve. */
export const marketHandlers: Handlers<"createEvent" | "createMarket" | "closeMarket" | "resolveMarket"> = {
  createEvent: ({ body }, service) => {
    const event = addEvent(service, {
      title: body.title,
      slug: body.slug,
      description: body.description,
      category: body.category,
      tags: body.tags,
      endDate: momentOrNull(body.endDate),
    });
    return eventReply(viewOf(service), service.exchange.state.events.get(event));
  },
  createMarket: ({ body }, service) => {
    const { state } = service.exchange;
    const endDate = momentOrNull(body.endDate);
    const minOrderSize = unitsOf(body.minOrderSize, SIZE_PLACES);
    if (minOrderSize === null)
      throw invalid("minOrderSize", `minOrderSize ${body.minOrderSize} is not a multiple of 0.01`);
    const parent = body.eventId === undefined ? undefined : findEvent(viewOf(service), body.eventId);
    const slug = body.slug ?? freeSlug(body.question, (candidate) => state.marketBySlug.has(candidate));
    if (state.marketBySlug.has(slug)) throw invalid("slug", `slug ${JSON.stringify(slug)} is taken`);
    const event =
      parent?.number ?? addEvent(service, { ...body, title: body.question, slug: undefined, endDate });
    submit(service, {
      kind: "createMarket",
      event,
      question: body.question,
      slug,
      description: body.description ?? "",
      category: body.category ?? parent?.category ?? DEFAULT_CATEGORY,
      tags: body.tags ?? [],
      tickSize: price(unitsOf(body.tickSize, PRICE_PLACES) as number),
      minOrderSize: size(minOrderSize),
      feeRateBps: body.feeRateBps,
      matching: body.matching,
      selfTrade: body.selfTrade,
      endDate: endDate ?? parent?.endDate ?? null,
    });
    return marketReply(viewOf(service), state.markets.get(state.markets.size));
  },
  closeMarket: ({ path }, service) => {
    const market = marketIn(service, path);
    submit(service, { kind: "closeMarket", market: market.number });
    return marketReply(viewOf(service), market);
  },
  resolveMarket: ({ path, body }, service) => {
    const market = marketIn(service, path);
    const { winningOutcome } = body;
    submit(service, { kind: "resolveMarket", market: market.number, winningOutcome });
    return marketReply(viewOf(service), market);
  },
};

const DEFAULT_CATEGORY = "general";

const marketIn = (service: Service, path: Call<unknown, unknown>["path"]) =>
  findMarket(viewOf(service), path.idOrSlug ?? "");

interface EventFacts {
  readonly title: string;
  readonly slug: string | undefined;
  readonly description?: string | undefined;
  readonly category?: string | undefined;
  readonly tags?: string[] | undefined;
  readonly endDate: Millis | null;
}

/** Creates an event and answers its number. */
function addEvent(service: Service, facts: EventFacts): number {
  const { exchange } = service;
  const { title, description, category, tags, endDate } = facts;
  const slug = facts.slug ?? freeSlug(title, (candidate) => exchange.state.eventBySlug.has(candidate));
  submit(service, {
    kind: "createEvent",
    title,
    slug,
    description: description ?? "",
    category: category ?? DEFAULT_CATEGORY,
    tags: tags ?? [],
    endDate,
  });
  return exchange.state.events.size;
}

const MAX_SLUG = 100;

/** A slug of the words of a title; a number follows when it is taken. */
function freeSlug(title: string, isTaken: (slug: string) => boolean): string {
  const words = folded(title).match(/[a-z0-9]+/g) ?? [];
  const base = words.join("-").slice(0, MAX_SLUG).replace(/-$/, "") || "untitled";
  let slug = base;
  for (let next = 2; isTaken(slug); next += 1) slug = `${base}-${next}`;
  return slug;
}

function momentOrNull(text: string | null | undefined): Millis | null {
  if (text === null || text === undefined) return null;
  const at = parseIso(text);
  if (at === null)
    throw invalid(
      "endDate",
      `endDate must be ISO-8601 with a zone, found ${JSON.stringify(text.slice(0, 80))}`,
    );
  return at;
}

const invalid = (field: string, message: string): ApiError =>
  new ApiError("INVALID_PARAMETER", message, { details: { fields: [field] } });
