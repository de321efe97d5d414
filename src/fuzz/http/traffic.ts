import type { Operation } from "../../api/endpoints.ts";
import type { SigningCredentials } from "../../client/connection.ts";
import { type Random, seededRandom } from "../../core/random.ts";
import { requestTo, type SeenAnswer, type SentRequest } from "./observation.ts";

/**
 * How the exchange of a seed runs: in this process, in memory or with a data directory, or as the program in another
 * process that is killed (SIGKILL) and started again.
 */
export type ServerKind = "memory" | "persistent" | "killed";

const TICKS = [1_000, 100, 50, 25, 10, 1];
const HALF = 5_000;

/** Settings of a session, drawn from its seed. */
export type HttpProfile = Readonly<ReturnType<typeof profileOf>>;

/** Draws the profile of a seed. */
export function profileOf(seed: number) {
  const random = seededRandom(String(seed), "fuzz/http/profile");
  const accounts = random.between(2, 6);
  const markets = Array.from({ length: random.between(1, 3) }, (_, index) => drawMarket(random, index));
  // One killed server in 20 seeds, because a kill takes as long as several other seeds.
  const drawn = random.below(20);
  const server: ServerKind = drawn === 0 ? "killed" : drawn <= 4 ? "persistent" : "memory";
  return {
    seed: String(seed),
    server,
    durability: random.pick(["process", "power"] as const),
    /** After which percentages of the commands the server is killed, ascending. */
    killedAt: Array.from({ length: random.between(1, 3) }, () => random.between(10, 90)).sort(
      (a, b) => a - b,
    ),
    accounts,
    /** Number of connections. Several may belong to one account. */
    clients: random.between(2, 8),
    markets,
    settlement: random.pick(["auto", "auto", "instant", "manual"] as const),
    balances: random.pick(["optimistic", "optimistic", "settled"] as const),
    numbers: random.oneIn(4) ? ("string" as const) : ("number" as const),
    /** Maximum number of pending requests per client. */
    pipelined: random.pick([1, 2, 4]),
    /** One in this many requests injects a fault; 0 for none. */
    faultOneIn: random.pick([0, 0, 15, 40]),
    /** One in this many requests advances the clock; 0 for none. */
    clockOneIn: random.pick([0, 10, 30]),
    /** One in this many requests is sent in two writes; 0 for none. */
    cutOneIn: random.pick([0, 0, 12]),
    /** Initial USDC of each account. */
    collateral: random.pick([25, 200, 5_000]),
    /** Initial shares of each account, per token. */
    shares: random.pick([0, 20, 500]),
  };
}

/** Terms of a market: the tick in 0.0001 USDC, and the middle of the order prices in ticks. */
type MarketProfile = Readonly<ReturnType<typeof drawMarket>>;

function drawMarket(random: Random, index: number) {
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

export function profileText(profile: HttpProfile): string {
  const { server, durability, killedAt, accounts, clients, markets } = profile;
  const suffix = server === "memory" ? "" : ` ${durability}`;
  const parts = [
    server === "killed" ? `killed at ${killedAt.join(", ")}%${suffix}` : `${server}${suffix}`,
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

/** An account that trades over one or several connections. */
export interface Trader {
  readonly credentials: SigningCredentials;
  /** Ids of its accepted orders, oldest first. */
  readonly orders: string[];
}

export interface TradedMarket {
  readonly terms: MarketProfile;
  readonly id: string;
  /** Token ids of YES and NO. */
  readonly tokenIds: readonly string[];
}

const PRICE_UNITS = 10_000;
/** Maximum distance of order prices from the middle, in ticks, so small that orders often match. */
const MAX_DISTANCE = 2;
/** A price that is on no market's tick. */
const OFF_TICK = 0.12345;
const UNKNOWN_ORDER = "00000000-0000-4000-8000-000000000000";
/** Maximum lifetime of a GTD order, in seconds. */
const MAX_LIFETIME = 40;

/** Draws the requests of the clients of a seed. Each client has a random stream of its own. */
export class Traffic {
  readonly #profile: HttpProfile;
  readonly #traders: readonly Trader[];
  readonly #markets: readonly TradedMarket[];
  readonly #randoms: readonly Random[];

  constructor(profile: HttpProfile, traders: readonly Trader[], markets: readonly TradedMarket[]) {
    this.#profile = profile;
    this.#traders = traders;
    this.#markets = markets;
    this.#randoms = Array.from({ length: profile.clients }, (_, client) =>
      seededRandom(profile.seed, `fuzz/http/client ${client}`),
    );
  }

  /** Draws the next request of a client at a virtual time, in Unix ms. */
  next(client: number, time: number): SentRequest {
    const { faultOneIn, clockOneIn } = this.#profile;
    const random = this.#randoms[client] as Random;
    const trader = this.#traderOf(client);
    if (faultOneIn > 0 && random.oneIn(faultOneIn)) return faultRequest(random);
    if (clockOneIn > 0 && random.oneIn(clockOneIn)) {
      const advance = `${random.oneIn(12) ? 90 : random.between(1, 12)}s`;
      return requestTo("setClock", { body: { advance } });
    }
    if (random.oneIn(60)) return this.#control(random, trader);
    if (random.below(100) < 55) return this.#trade(random, trader, time);
    return this.#read(random, trader, time);
  }

  /** Remembers the id of an accepted order so that later requests can name it. */
  learn(client: number, { operation }: SentRequest, answer: SeenAnswer | null): void {
    if (operation !== "placeOrder" || answer?.status !== 200) return;
    const id = /^\{"id":"([^"]+)"/.exec(answer.body)?.[1];
    if (id !== undefined) this.#traderOf(client).orders.push(id);
  }

  #traderOf(client: number): Trader {
    return this.#traders[client % this.#traders.length] as Trader;
  }

  #trade(random: Random, trader: Trader, time: number): SentRequest {
    const drawn = random.below(100);
    if (drawn < 72) return this.#order(random, trader, time);
    if (drawn < 92) {
      const orderId = random.oneIn(25) ? UNKNOWN_ORDER : this.#anOrder(random, trader);
      const where = random.oneIn(3) ? { query: { orderId } } : { body: { orderId } };
      return requestTo("cancelOrder", where, signed(trader, time));
    }
    return requestTo("cancelAllOrders", {}, signed(trader, time));
  }

  #order(random: Random, trader: Trader, time: number): SentRequest {
    const { terms, tokenIds } = random.pick(this.#markets);
    const outcome = random.below(2);
    const levels = PRICE_UNITS / terms.tick;
    const middle = outcome === 0 ? terms.middle : levels - terms.middle;
    const drawn = middle + random.between(-MAX_DISTANCE, MAX_DISTANCE);
    const level = Math.max(1, Math.min(levels - 1, drawn));
    const orderType = random.pick(["GTC", "GTC", "GTC", "GTC", "GTD", "GTD", "FOK", "FAK"] as const);
    const lifetime = () => (random.oneIn(20) ? -5 : random.between(1, MAX_LIFETIME));
    const body = {
      tokenId: random.oneIn(60) ? "1" : tokenIds[outcome],
      side: random.pick(["BUY", "SELL"] as const),
      price: random.oneIn(60) ? OFF_TICK : (level * terms.tick) / PRICE_UNITS,
      size: random.oneIn(40) ? 0.5 : random.pick([1, 2, 5, 10, 12.5]),
      orderType,
      ...(orderType === "GTD" && { expiration: String(Math.floor(time / 1000) + lifetime()) }),
    };
    return requestTo("placeOrder", { body }, signed(trader, time));
  }

  #read(random: Random, trader: Trader, time: number): SentRequest {
    const market = random.pick(this.#markets);
    const query = { token_id: market.tokenIds[random.below(2)] ?? "" };
    const book = () => requestTo("getBook", { query });
    const own = (operation: Operation) => () =>
      requestTo(operation, random.oneIn(2) ? {} : { query }, signed(trader, time));
    return random.pick([
      ...[book, book, book],
      () => requestTo("getPrice", { query }),
      () => requestTo("getLastTradePrice", { query }),
      ...[own("listOrders"), own("listOrders"), own("listTrades")],
      () => requestTo("getAccount", { path: { address: trader.credentials.address } }),
      () => requestTo("explainOrder", { path: { id: this.#anOrder(random, trader) } }),
      () => requestTo("listMarketTrades", { path: { idOrSlug: market.terms.slug } }),
      () => requestTo("listMarkets"),
      () => requestTo(random.pick(["getStateHash", "getTime", "listAccounts"] as const)),
    ])();
  }

  /** Draws a control request: mostly funding, rarely the end of a market. */
  #control(random: Random, trader: Trader): SentRequest {
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
    return requestTo("fundAccount", { path: { address: trader.credentials.address }, body });
  }

  /** Draws an order of the trader, mostly a recent one; an unknown id if it has no orders. */
  #anOrder(random: Random, { orders }: Trader): string {
    const back = random.below(Math.min(orders.length, random.oneIn(4) ? orders.length : 4) || 1);
    return orders[orders.length - 1 - back] ?? UNKNOWN_ORDER;
  }
}

const signed = ({ credentials }: Trader, time: number) => ({
  credentials,
  unixTime: Math.floor(time / 1000),
});

const ROUTES = ["POST /clob/order", "DELETE /clob/order", "DELETE /clob/orders/all", "GET /clob/book", "*"];

/** Draws a request that injects a fault, or removes all faults. */
function faultRequest(random: Random): SentRequest {
  if (random.oneIn(6)) return requestTo("removeFaults");
  const kinds = [
    { status: random.pick([429, 500, 503] as const) },
    { drop: random.pick(["connection", "reply"] as const) },
    { drop: "reply" as const },
    { latency: `${random.between(1, 3)}ms` },
  ];
  const [route, times, after] = [random.pick(ROUTES), random.between(1, 3), random.below(4)];
  return requestTo("addFault", { body: { route, times, after, ...random.pick(kinds) } });
}
