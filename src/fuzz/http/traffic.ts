import type { SigningCredentials } from "../../client/messages.ts";
import { FROZEN_START } from "../../config.ts";
import { type Stream, stream } from "../../core/random.ts";
import { requestTo, type SeenAnswer, type SentRequest } from "./observation.ts";

/**
 * Where the exchange of a seed runs: in this process, kept by nothing or by a directory, or as the program in a process
 * of its own that is killed (SIGKILL) on the way and opened again.
 */
export type ServerKind = "unkept" | "kept" | "killed";

const TICKS = [1_000, 100, 50, 25, 10, 1];
const HALF = 5_000;

/** What a seed draws before anything else. */
export type HttpProfile = Readonly<ReturnType<typeof httpProfile>>;

/** The profile of a seed. */
export function httpProfile(seed: number) {
  const random = stream(String(seed), "fuzz/http/profile");
  const accounts = random.between(2, 6);
  const markets = Array.from({ length: random.between(1, 3) }, (_, index) => marketOf(random, index));
  return {
    seed: String(seed),
    server: serverOf(random),
    durability: random.pick(["process", "power"] as const),
    /** When a server of the kind is killed: behind which shares of its commands, in percent, ascending. */
    killedAt: Array.from({ length: random.between(1, 3) }, () => random.between(10, 90)).sort(
      (a, b) => a - b,
    ),
    accounts,
    /** Connections; several may belong to one account. */
    clients: random.between(2, 8),
    markets,
    settlement: random.pick(["auto", "auto", "instant", "manual"] as const),
    balances: random.pick(["optimistic", "optimistic", "settled"] as const),
    numbers: random.oneIn(4) ? ("string" as const) : ("number" as const),
    /** The most requests of one client that are under way at a time. */
    pipelined: random.pick([1, 2, 4]),
    /** One in so many commands injects a fault of requests, advances the clock, sends its bytes in two parts; 0: none. */
    faultOneIn: random.pick([0, 0, 15, 40]),
    clockOneIn: random.pick([0, 10, 30]),
    cutOneIn: random.pick([0, 0, 12]),
    /** USDC and shares of each token that an account begins with. */
    collateral: random.pick([25, 200, 5_000]),
    shares: random.pick([0, 20, 500]),
  };
}

/** A kill takes as long as several other seeds: it is left to one seed in 20. */
function serverOf(random: Stream): ServerKind {
  const drawn = random.below(20);
  return drawn === 0 ? "killed" : drawn <= 4 ? "kept" : "unkept";
}

/** A market that a seed trades in: its tick in price units of 0.0001 USDC, and the level, in ticks, around which orders are. */
type MarketProfile = Readonly<ReturnType<typeof marketOf>>;

function marketOf(random: Stream, index: number) {
  const tick = random.pick(TICKS);
  return {
    slug: `market-${index + 1}`,
    tick,
    middle: HALF / tick + random.between(-2, 2),
    feeRateBps: random.pick([0, 0, 20, 250]),
    matching: random.pick(["complementary", "complementary", "independent"] as const),
    selfTrade: random.pick(["allow", "cancel-taker", "cancel-maker", "cancel-both"] as const),
  };
}

/** A profile in one line. */
export function profileLine(profile: HttpProfile): string {
  const { server, durability, killedAt, accounts, clients, markets } = profile;
  const kept = server === "unkept" ? "" : ` ${durability}`;
  const parts = [
    server === "killed" ? `killed at ${killedAt.join(", ")}%${kept}` : `${server}${kept}`,
    `${accounts} accounts ${clients} clients`,
    markets
      .map(({ tick, feeRateBps, matching, selfTrade }) =>
        [tick / 10_000, matching, `self-trade ${selfTrade}`, `${feeRateBps} bps`].join(" "),
      )
      .join(" + "),
    `${profile.settlement} ${profile.balances}`,
    `${profile.pipelined} in flight`,
    rate("faults", profile.faultOneIn),
    rate("clock", profile.clockOneIn),
    rate("cut", profile.cutOneIn),
    `${profile.collateral} USDC ${profile.shares} shares`,
    ...(profile.numbers === "string" ? ["numbers as text"] : []),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const rate = (name: string, oneIn: number): string => (oneIn === 0 ? "" : `${name} 1/${oneIn}`);

/** When every exchange opens, in Unix ms. */
export const OPENED_AT = FROZEN_START;

/** An account that trades, over one or several connections. */
export interface Party {
  readonly credentials: SigningCredentials;
  /** The ids of orders that its answers have named, oldest first. */
  readonly orders: string[];
}

/** A market that stands. */
export interface TradedMarket {
  readonly terms: MarketProfile;
  readonly id: string;
  /** Of YES and NO. */
  readonly tokenIds: readonly string[];
}

const PRICE_UNITS = 10_000;
/** How far from the middle orders are placed, in ticks: few enough levels that they meet. */
const SPREAD = 2;
/** A price level of no market. */
const OFF_TICK = 0.12345;
const NO_ORDER = "00000000-0000-4000-8000-000000000000";
/** The longest life of a GTD order, in seconds. */
const LIFE = 40;

/** Draws what the clients of a seed ask for. Each client has a stream of its own. */
export class Traffic {
  readonly #profile: HttpProfile;
  readonly #parties: readonly Party[];
  readonly #markets: readonly TradedMarket[];
  readonly #streams: readonly Stream[];

  constructor(profile: HttpProfile, parties: readonly Party[], markets: readonly TradedMarket[]) {
    this.#profile = profile;
    this.#parties = parties;
    this.#markets = markets;
    this.#streams = Array.from({ length: profile.clients }, (_, client) =>
      stream(profile.seed, `fuzz/http/client ${client}`),
    );
  }

  /** The next request of a client at a virtual time. */
  next(client: number, time: number): SentRequest {
    const { faultOneIn, clockOneIn } = this.#profile;
    const random = this.#streams[client] as Stream;
    const party = this.#partyOf(client);
    if (faultOneIn > 0 && random.oneIn(faultOneIn)) return fault(random);
    if (clockOneIn > 0 && random.oneIn(clockOneIn)) {
      return requestTo("setClock", {
        body: { advance: `${random.oneIn(12) ? 90 : random.between(1, 12)}s` },
      });
    }
    if (random.oneIn(60)) return this.#control(random, party);
    if (random.below(100) < 55) return this.#trade(random, party, time);
    return this.#read(random, party, time);
  }

  /** Learns from an answer which orders a client may cancel. */
  learn(client: number, { operation }: SentRequest, answer: SeenAnswer | null): void {
    if (operation !== "placeOrder" || answer?.status !== 200) return;
    const id = /^\{"id":"([^"]+)"/.exec(answer.body)?.[1];
    if (id !== undefined) this.#partyOf(client).orders.push(id);
  }

  #partyOf(client: number): Party {
    return this.#parties[client % this.#parties.length] as Party;
  }

  #trade(random: Stream, party: Party, time: number): SentRequest {
    const drawn = random.below(100);
    if (drawn < 72) return this.#order(random, party, time);
    if (drawn < 92) {
      const orderId = random.oneIn(25) ? NO_ORDER : this.#anOrder(random, party);
      const where = random.oneIn(3) ? { query: { orderId } } : { body: { orderId } };
      return requestTo("cancelOrder", where, signed(party, time));
    }
    return requestTo("cancelAllOrders", {}, signed(party, time));
  }

  #order(random: Stream, party: Party, time: number): SentRequest {
    const { terms, tokenIds } = random.pick(this.#markets);
    const outcome = random.below(2);
    const middle = outcome === 0 ? terms.middle : PRICE_UNITS / terms.tick - terms.middle;
    const level = Math.max(
      1,
      Math.min(PRICE_UNITS / terms.tick - 1, middle + random.between(-SPREAD, SPREAD)),
    );
    const orderType = random.pick(["GTC", "GTC", "GTC", "GTC", "GTD", "GTD", "FOK", "FAK"] as const);
    const body = {
      tokenId: random.oneIn(60) ? "1" : tokenIds[outcome],
      side: random.pick(["BUY", "SELL"] as const),
      price: random.oneIn(60) ? OFF_TICK : (level * terms.tick) / PRICE_UNITS,
      size: random.oneIn(40) ? 0.5 : random.pick([1, 2, 5, 10, 12.5]),
      orderType,
      ...(orderType === "GTD" && {
        expiration: String(Math.floor(time / 1000) + (random.oneIn(20) ? -5 : random.between(1, LIFE))),
      }),
    };
    return requestTo("placeOrder", { body }, signed(party, time));
  }

  #read(random: Stream, party: Party, time: number): SentRequest {
    const market = random.pick(this.#markets);
    const query = { token_id: market.tokenIds[random.below(2)] ?? "" };
    switch (random.below(13)) {
      case 0:
      case 1:
      case 2:
        return requestTo("getBook", { query });
      case 3:
        return requestTo("getPrice", { query });
      case 4:
        return requestTo("getLastTradePrice", { query });
      case 5:
      case 6:
        return requestTo("listOrders", random.oneIn(2) ? {} : { query }, signed(party, time));
      case 7:
        return requestTo("listTrades", random.oneIn(2) ? {} : { query }, signed(party, time));
      case 8:
        return requestTo("getAccount", { path: { address: party.credentials.address } });
      case 9:
        return requestTo("explainOrder", { path: { id: this.#anOrder(random, party) } });
      case 10:
        return requestTo("listMarketTrades", { path: { idOrSlug: market.terms.slug } });
      case 11:
        return requestTo("listMarkets");
      default:
        return requestTo(random.pick(["getStateHash", "getTime", "listAccounts"] as const));
    }
  }

  /** What a test does to the exchange besides: more funds; seldom, a market ends. */
  #control(random: Stream, party: Party): SentRequest {
    const { id, tokenIds } = random.pick(this.#markets);
    const drawn = random.below(20);
    if (drawn === 0) return requestTo("closeMarket", { path: { idOrSlug: id } });
    if (drawn === 1) {
      const body = { winningOutcome: random.pick(["YES", "NO", "SPLIT"] as const) };
      return requestTo("resolveMarket", { path: { idOrSlug: id }, body });
    }
    const body = random.oneIn(2)
      ? { collateral: random.between(1, 50) }
      : { tokens: { [random.pick(tokenIds)]: random.between(1, 20) } };
    return requestTo("fundAccount", { path: { address: party.credentials.address }, body });
  }

  /** An order of the party's, rather a late one; one that there is not, where it knows none. */
  #anOrder(random: Stream, { orders }: Party): string {
    const back = random.below(Math.min(orders.length, random.oneIn(4) ? orders.length : 4) || 1);
    return orders[orders.length - 1 - back] ?? NO_ORDER;
  }
}

const signed = ({ credentials }: Party, time: number) => ({ credentials, unixTime: Math.floor(time / 1000) });

const ROUTES = ["POST /clob/order", "DELETE /clob/order", "DELETE /clob/orders/all", "GET /clob/book", "*"];

/** A fault of requests that goes by, or the end of all that are in force. */
function fault(random: Stream): SentRequest {
  if (random.oneIn(6)) return requestTo("removeFaults");
  const kinds = [
    { status: random.pick([429, 500, 503] as const) },
    { drop: random.pick(["connection", "reply"] as const) },
    { drop: "reply" as const },
    { latency: `${random.between(1, 3)}ms` },
  ];
  const body = {
    route: random.pick(ROUTES),
    times: random.between(1, 3),
    after: random.below(4),
    ...random.pick(kinds),
  };
  return requestTo("addFault", { body });
}
