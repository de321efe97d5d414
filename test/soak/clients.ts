import type { Market, Order } from "../../src/client/api-messages.ts";
import type { ExchangeClient } from "../../src/client/client.ts";
import type { NewOrder } from "../../src/client/connection.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Meter } from "./meter.ts";

type Random = (bound: number) => number;

/** What every client needs. */
export interface ClientContext {
  readonly random: Random;
  readonly markets: readonly Market[];
  /** In Unix seconds. */
  readonly serverTime: () => number;
  readonly record: Acknowledged;
}

/** A client. Each step is a request or a few related ones. */
export interface Client {
  /** Forgets its orders, which a restore may have undone. */
  begin?(): void;
  step(exchange: ExchangeClient): Promise<unknown>;
}

/** Records acknowledged orders and cancels, which must survive a crash of the server. */
export class Acknowledged {
  #isRecording = false;
  readonly orders = new Map<string, Order>();
  readonly canceled = new Set<string>();

  /** Clears the record, and starts or stops recording. */
  begin(isRecording: boolean): void {
    this.#isRecording = isRecording;
    this.orders.clear();
    this.canceled.clear();
  }

  /** Places an order, and records it if it is accepted. */
  async place(exchange: ExchangeClient, order: NewOrder) {
    const placed = await exchange.place(order);
    if (placed.ok && this.#isRecording) this.orders.set(placed.value.id, placed.value);
    return placed;
  }

  /** Cancels one order or all open orders, and records the canceled ones. */
  async cancel(exchange: ExchangeClient, id: string | "all"): Promise<void> {
    const canceled = await (id === "all" ? exchange.cancelAll() : exchange.cancel(id));
    if (canceled.ok && this.#isRecording) for (const each of canceled.value.canceled) this.canceled.add(each);
  }

  /** Describes how the order on the server contradicts the acknowledged one; null if it does not. */
  contradiction(acknowledged: Order, found: Order | null): string | null {
    if (found === null) return `order ${acknowledged.id} is missing`;
    const terms = ({ tokenId, side, price, size, createdAt }: Order): string =>
      JSON.stringify([tokenId, side, price, size, createdAt]);
    if (terms(acknowledged) !== terms(found))
      return `order ${acknowledged.id} was ${terms(acknowledged)}, is ${terms(found)}`;
    const isUndone = this.canceled.has(acknowledged.id) && found.status !== "CANCELED";
    return isUndone ? `order ${acknowledged.id} was canceled, is ${found.status}` : null;
  }
}

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[random(items.length)] as Item;

/** Maximum number of open orders of a quoting client, which then cancels the oldest. */
const MAX_OPEN_ORDERS = 8;
/** Number of steps in which the fair price moves a cent. */
const STEPS_PER_CENT = 6;

const SIDES = ["BUY", "SELL"] as const;

/** Quotes both outcomes of one market around a moving price. */
export function quotingClient({ random, markets, record, serverTime }: ClientContext): Client {
  const market = pick(random, markets);
  /** Oldest first. */
  let open: string[] = [];
  let steps = random(120 * STEPS_PER_CENT);

  /** Returns a price that moves up and down between 20 and 80. */
  const fairCents = (): number => {
    const phase = Math.floor(steps / STEPS_PER_CENT) % 120;
    return 20 + (phase < 60 ? phase : 120 - phase);
  };
  const drawOrder = () => {
    const { outcome, tokenId } = pick(random, market.tokens);
    const side = pick(random, SIDES);
    const fair = outcome === "YES" ? fairCents() : 100 - fairCents();
    const distance = 1 + random(5);
    const price = (side === "BUY" ? fair - distance : fair + distance) / 100;
    const order = { tokenId, side, price, size: 5 + random(46) };
    if (random(5) > 0) return { ...order, orderType: "GTC" as const };
    const expiration = Math.floor(serverTime()) + 20 + random(60);
    return { ...order, orderType: "GTD" as const, expiration };
  };
  return {
    begin() {
      open = [];
    },
    async step(exchange) {
      steps += 1;
      const chance = random(200);
      if (chance === 0) return exchange.place({ ...drawOrder(), price: 0.555 });
      if (chance < 3) {
        open = [];
        return record.cancel(exchange, "all");
      }
      if (chance < 8) return exchange.openOrders({ market: market.id });
      if (open.length > MAX_OPEN_ORDERS) return record.cancel(exchange, open.shift() as string);
      const placed = await record.place(exchange, drawOrder());
      if (placed.ok && placed.value.status === "LIVE") open.push(placed.value.id);
      return placed;
    },
  };
}

/** Reads a book and takes its best price with orders of all types. */
export const takingClient = ({ random, markets, record }: ClientContext): Client => ({
  async step(exchange) {
    if (random(50) === 0) return record.cancel(exchange, "all");
    const { tokenId } = pick(random, pick(random, markets).tokens);
    const book = await exchange.book(tokenId);
    const side = pick(random, SIDES);
    const orderType = pick(random, ["FAK", "FAK", "FOK", "GTC"] as const);
    const size = 1 + random(20);
    if (!book.ok) return book;
    const [best] = side === "BUY" ? book.value.asks : book.value.bids;
    if (best === undefined) return null;
    return record.place(exchange, { tokenId, side, price: Number(best.price), size, orderType });
  },
});

const SORTS = ["volume", "liquidity", "createdAt", "endDate"] as const;

/** Reads markets and its own orders, as a page or a bot does. */
export const readingClient = ({ random, markets }: ClientContext): Client => ({
  step(exchange) {
    const market = pick(random, markets);
    const { tokenId } = pick(random, market.tokens);
    return pick<() => Promise<unknown>>(random, [
      () => exchange.book(tokenId),
      () => exchange.book(tokenId),
      () => exchange.quotes(tokenId),
      () => exchange.market(market.slug),
      () => exchange.marketTrades(market.id, { limit: 50, all: true }),
      () => exchange.history(market.id, { tokenId, fidelity: 100 }),
      () => exchange.openOrders({ limit: 100 }),
      () => exchange.trades({ limit: 100 }),
      () => exchange.markets({ sort: pick(random, SORTS), limit: 20, offset: random(3) * 20 }),
      () => exchange.events({ limit: 20 }),
      () => exchange.search(pick(random, ["soak", "will", "market"])),
      () => exchange.serverTime(),
    ])();
  },
});

/** `balanceOf(address)` and `transfer(address,uint256)` of ERC-20. */
const BALANCE_OF = "0x70a08231";
const TRANSFER = "0xa9059cbb";
/** Numbers of latest blocks whose logs and fees are read. A block has the trades of two seconds, half a megabyte of logs. */
const LOG_BLOCKS = 1;
const FEE_BLOCKS = 20;

const word = (hex: string): string => hex.replace(/^0x/, "").toLowerCase().padStart(64, "0");
const hex = (number: number): string => `0x${number.toString(16)}`;

/**
 * Uses the settlement chain as an Ethereum client does: blocks, logs, receipts, filters, contracts, and transfers of
 * `wallets`, without signatures.
 */
export function chainClient(
  { random }: ClientContext,
  meter: Meter,
  wallets: readonly string[],
  transfers = true,
): Client {
  /** Returns the result of a call; undefined if there is none. */
  const call = async (exchange: ExchangeClient, method: string, ...params: unknown[]): Promise<unknown> => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const sent = await exchange.send({ method: "POST", path: "/chain", body });
    if (!sent.ok || sent.value.status !== 200) return undefined;
    const { result, error } = sent.value.body as { result?: unknown; error?: { code: number } };
    if (error !== undefined) meter.tally.refuse(`RPC ${error.code}`, `${method}: ${sent.value.text}`);
    return result;
  };
  const readLogs = async (exchange: ExchangeClient): Promise<void> => {
    const head = Number((await call(exchange, "eth_blockNumber")) as string | undefined);
    if (Number.isNaN(head)) return;
    const range = { fromBlock: hex(Math.max(0, head - LOG_BLOCKS)), toBlock: hex(head) };
    const logs = await call(exchange, "eth_getLogs", { ...range, address: CONTRACTS.exchange });
    const [first] = (logs ?? []) as readonly { readonly transactionHash: string }[];
    if (first !== undefined) await call(exchange, "eth_getTransactionReceipt", first.transactionHash);
  };
  const watchBlocks = async (exchange: ExchangeClient): Promise<void> => {
    const filter = await call(exchange, "eth_newBlockFilter");
    if (filter === undefined) return;
    await call(exchange, "eth_getFilterChanges", filter);
    await call(exchange, "eth_uninstallFilter", filter);
  };
  const transfer = async (exchange: ExchangeClient, from: string): Promise<void> => {
    const data = `${TRANSFER}${word(pick(random, wallets))}${word(hex(1 + random(1_000_000)))}`;
    const hash = await call(exchange, "eth_sendTransaction", { from, to: CONTRACTS.collateral, data });
    if (hash !== undefined) meter.tally.accepted += 1;
  };
  const steps: readonly ((exchange: ExchangeClient, wallet: string) => Promise<unknown>)[] = [
    readLogs,
    watchBlocks,
    (exchange, wallet) => {
      const data = `${BALANCE_OF}${word(wallet)}`;
      return call(exchange, "eth_call", { to: CONTRACTS.collateral, data }, "latest");
    },
    (exchange) => call(exchange, "eth_getBlockByNumber", "latest", true),
    (exchange) => call(exchange, "eth_feeHistory", hex(FEE_BLOCKS), "latest", [25, 75]),
    ...(transfers ? [transfer] : []),
  ];
  return {
    step(exchange) {
      const wallet = pick(random, wallets);
      return pick(random, steps)(exchange, wallet);
    },
  };
}

/** Maximum number of snapshots at a time. */
const MAX_SNAPSHOTS = 3;

/** Disturbs the other clients with control requests: snapshots and restores, faults, clock, blocks. */
export class DisturbingClient implements Client {
  readonly #random: Random;
  #snapshots: string[] = [];
  /** Number of tries of each disturbance. */
  readonly counts = new Map<string, number>();

  constructor({ random }: ClientContext) {
    this.#random = random;
  }

  begin(): void {
    this.#snapshots = [];
  }

  async step(exchange: ExchangeClient): Promise<void> {
    const [name, disturb] = pick(this.#random, DISTURBANCES);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    await disturb(exchange.control, this.#random, this.#snapshots);
  }

  /** Ends all disturbances. Returns how often faults made requests fail, by status (0: no answer). */
  async end({ control }: ExchangeClient): Promise<Map<number, number>> {
    const fired = new Map<number, number>();
    const faults = await control.faults({ limit: 500 });
    for (const { status, drop, fired: times } of faults.ok ? faults.value.data : []) {
      const key = drop === null ? status : 0;
      if (key !== null) fired.set(key, (fired.get(key) ?? 0) + times);
    }
    await control.clearFaults();
    await control.chain.clearFaults();
    await control.chain.bump();
    for (const id of this.#snapshots) await control.deleteSnapshot(id);
    await control.setClock({ mode: "real" });
    return fired;
  }
}

const STATUSES = [429, 500, 502, 503, 504] as const;
const DROPS = ["connection", "reply"] as const;
const SETTLEMENT_FAULTS = ["fail", "retry", "delay", "ghost"] as const;
const ROUTES = ["*", "POST /clob/order", "GET /clob/book", "GET /api/markets", "POST /chain"];

type Control = ExchangeClient["control"];
type Disturb = (control: Control, random: Random, snapshots: string[]) => Promise<unknown>;

const takeSnapshot: Disturb = async (control, _random, snapshots) => {
  const taken = await control.snapshot();
  if (taken.ok) snapshots.push(taken.value.id);
  if (snapshots.length > MAX_SNAPSHOTS) await control.deleteSnapshot(snapshots.shift() as string);
};

const restoreAny: Disturb = async (control, random, snapshots) =>
  snapshots.length > 0 && (await control.restore(pick(random, snapshots)));

/** Adds a fault of requests that are drawn. */
const fault =
  (effectOf: (random: Random) => Partial<Parameters<Control["addFault"]>[0]>): Disturb =>
  (control, random) => {
    const requests = { route: pick(random, ROUTES), times: 1 + random(10), probability: 0.2 };
    return control.addFault({ ...requests, ...effectOf(random) });
  };

const DISTURBANCES: readonly (readonly [string, Disturb])[] = [
  ["snapshot", takeSnapshot],
  ["snapshot", takeSnapshot],
  ["restore", restoreAny],
  ["status", fault((random) => ({ status: pick(random, STATUSES) }))],
  ["drop", fault((random) => ({ drop: pick(random, DROPS) }))],
  ["latency", fault(() => ({ latency: "150ms" }))],
  [
    "settlement fault",
    ({ chain }, random) => chain.addFault({ kind: pick(random, SETTLEMENT_FAULTS), times: 1 + random(5) }),
  ],
  ["gas spike", ({ chain }) => chain.addFault({ kind: "gas-spike" })],
  ["bump", ({ chain }) => chain.bump()],
  ["reorg", ({ chain }) => chain.addFault({ kind: "reorg", depth: 1 })],
  ["advance", (control, random) => control.setClock({ advance: `${1 + random(20)}s` })],
  ["freeze", (control) => control.setClock({ mode: "frozen" })],
  ["run", (control) => control.setClock({ mode: "real" })],
  ["speed", (control) => control.setClock({ mode: "scaled", rate: 5 })],
  ["mine", ({ chain }, random) => chain.mine(1 + random(3))],
  ["invariants", (control) => control.invariants()],
  ["accounts", (control) => control.accounts({ limit: 50 })],
];
