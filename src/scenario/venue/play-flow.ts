import type { Operation } from "../../api/endpoints.ts";
import { refusalError } from "../../api/refusals.ts";
import type { View } from "../../api/view.ts";
import type { Command, CommandOf } from "../../core/commands.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { idOf } from "../../core/ids.ts";
import { invariants } from "../../core/invariants/invariants.ts";
import type { Refusal } from "../../core/refusals.ts";
import type { State } from "../../core/state.ts";
import type { Outcome } from "../../core/terms.ts";
import { type Millis, millis, money, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { CancelRow, FlowRow, PlaceRow } from "../../simulation/flow.ts";
import type { OrderWords } from "../language/order-line.ts";
import { refusedText, rowText } from "../run/format.ts";
import type { Venue } from "./venue.ts";
import {
  type Attempt,
  type Canceled,
  type CheckOptions,
  type FlowOutcome,
  type Refused,
  RowError,
  refusedBy,
  type Soon,
  type TokenRef,
} from "./views.ts";

/** Plays the rows of one flow at their times, and counts the results. */
abstract class FlowPlayer {
  rows = 0;
  protected readonly counts = { placed: 0, canceled: 0, rejected: 0 };
  #firstRejection: string | null = null;

  abstract play(row: FlowRow): Soon<void>;

  get outcome(): FlowOutcome {
    return { rows: this.rows, ...this.counts, firstRejection: this.#firstRejection, broken: null };
  }

  protected refused(row: FlowRow, refusal: () => Refused): void {
    this.counts.rejected += 1;
    this.#firstRejection ??= `row ${this.rows}, ${rowText(row)}: ${refusedText(refusal())}`;
  }
}

/** Plays rows up to the first after which a check fails. */
export async function playFlow(
  player: FlowPlayer,
  rows: AsyncIterable<readonly FlowRow[]>,
  check: RowCheck | null,
): Promise<FlowOutcome> {
  for await (const batch of rows) {
    for (const row of batch) {
      // Awaiting only promises keeps flows in this process fast.
      const played = player.play(row);
      if (played instanceof Promise) await played;
      if (check === null) continue;
      const checked = check(player.rows);
      const violations = checked instanceof Promise ? await checked : checked;
      if (violations.length > 0) {
        return { ...player.outcome, broken: { row: player.rows, text: rowText(row), violations } };
      }
    }
  }
  return player.outcome;
}

/** Plays rows by the operations of a venue. */
export class VenuePlayer extends FlowPlayer {
  readonly #venue: Venue;
  readonly #market: string;
  readonly #start: Millis;
  readonly #orders = new Map<string, string>();

  constructor(venue: Venue, market: string, start: Millis) {
    super();
    this.#venue = venue;
    this.#market = market;
    this.#start = start;
  }

  async play(row: FlowRow): Promise<void> {
    const at = millis(this.#start + row.at);
    if (at > (await this.#venue.now())) await this.#venue.advanceTo(at);
    this.rows += 1;
    switch (row.op) {
      case "place":
        return this.#place(row);
      case "cancel": {
        const order = this.#orders.get(row.ref) ?? row.ref;
        return this.#canceled(row, await this.#venue.cancel(row.account, order));
      }
      case "cancel-all":
        return this.#canceled(row, await this.#venue.cancelAll(row.account));
      case "fund": {
        const { asset, amount } = row;
        const market = row.market ?? this.#market;
        const funding = asset === "USDC" ? { asset, amount } : { asset: { market, outcome: asset }, amount };
        const attempt = await this.#venue.open(row.account, [funding]);
        if (!attempt.ok) this.refused(row, () => attempt);
      }
    }
  }

  async #place(row: PlaceRow): Promise<void> {
    const words: OrderWords = {
      side: row.side,
      size: sizeText(row.size),
      outcome: row.outcome,
      price: priceText(row.price),
      type: row.type,
      expiry: row.expiresIn === null ? null : { after: row.expiresIn },
      market: row.market ?? this.#market,
    };
    const attempt = await this.#venue.place(row.account, words);
    if (attempt.ok) {
      this.counts.placed += 1;
      if (row.ref !== "") this.#orders.set(row.ref, attempt.value.key);
    } else this.refused(row, () => attempt);
  }

  #canceled(row: FlowRow, attempt: Attempt<Canceled>): void {
    if (attempt.ok) this.counts.canceled += attempt.value.canceled.length;
    else this.refused(row, () => attempt);
  }
}

const ZERO = 48;
const NINE = 57;
/** Maximum number of empty elements that one numbered name may add to the array. */
const MAX_GAP = 4_096;

/**
 * Order numbers by name. Most flows number their names: o1, o2, o3. These are elements of an array, other names entries of a
 * map, which is slower and needs more memory.
 */
export class OrderRefs {
  readonly #named = new Map<string, number>();
  readonly #numbered: number[] = [];
  /** The first name without the digits at its end. */
  #prefix: string | null = null;

  set(ref: string, order: number): void {
    this.#prefix ??= ref.replace(/\d+$/, "");
    const index = this.#indexOf(ref);
    if (index < 0 || index > this.#numbered.length + MAX_GAP) {
      this.#named.set(ref, order);
      return;
    }
    while (this.#numbered.length < index) this.#numbered.push(0);
    this.#numbered[index] = order;
    // The name may be in the map since its gap was too large.
    if (this.#named.size > 0) this.#named.delete(ref);
  }

  /** Returns undefined for an unknown name. */
  get(ref: string): number | undefined {
    const index = this.#indexOf(ref);
    const order = index < 0 ? 0 : (this.#numbered[index] ?? 0);
    return order === 0 ? this.#named.get(ref) : order;
  }

  /** Returns the number after the prefix; -1 if the rest is not a number without leading zeros. */
  #indexOf(ref: string): number {
    const prefix = this.#prefix;
    if (prefix === null || !ref.startsWith(prefix)) return -1;
    const from = prefix.length;
    const digits = ref.length - from;
    if (digits < 1 || (digits > 1 && ref.charCodeAt(from) === ZERO)) return -1;
    let index = 0;
    for (let at = from; at < ref.length; at += 1) {
      const code = ref.charCodeAt(at);
      if (code < ZERO || code > NINE) return -1;
      index = index * 10 + (code - ZERO);
    }
    return index;
  }
}

/** The part of a venue in this process that a flow uses. */
interface FlowExchange {
  readonly exchange: Exchange;
  readonly view: View;
  signIn(account: string): string;
  tokenId(token: TokenRef): string;
  noteRefusal(operation: Operation, command: OwnCommand, refusal: Refusal): void;
}

/** A command of an account. */
type OwnCommand = Command & { readonly address: string };

/** The operation that each row stands for. */
const OPERATION = {
  place: "placeOrder",
  cancel: "cancelOrder",
  "cancel-all": "cancelAllOrders",
  fund: "fundAccount",
} as const satisfies Record<FlowRow["op"], Operation>;

/** Plays rows as commands, without the API, because flows have millions of rows. `market` is the default of rows. */
export class LocalPlayer extends FlowPlayer {
  readonly #venue: FlowExchange;
  readonly #market: string;
  readonly #start: Millis;
  readonly #addresses = new Map<string, string>();
  readonly #orders = new OrderRefs();

  constructor(venue: FlowExchange, market: string) {
    super();
    this.#venue = venue;
    this.#market = market;
    this.#start = venue.exchange.now;
  }

  /** @throws RowError if the exchange throws. */
  play(row: FlowRow): void {
    this.rows += 1;
    try {
      this.#execute(row);
    } catch (error) {
      throw new RowError(this.rows, rowText(row), error);
    }
  }

  #execute(row: FlowRow): void {
    const { exchange } = this.#venue;
    const at = this.#start + row.at;
    if (at > exchange.now) exchange.advanceTo(millis(at));
    switch (row.op) {
      case "place":
        this.#place(row);
        break;
      case "cancel":
        this.#cancel(row);
        break;
      case "cancel-all":
        this.#canceled(row, { kind: "cancelAllOrders", address: this.#address(row.account) });
        break;
      case "fund": {
        const isMoney = row.asset === "USDC";
        const tokens = isMoney ? [] : [{ tokenId: this.#tokenId(row.market, row.asset), size: row.amount }];
        const collateral = isMoney ? row.amount : money(0);
        const address = this.#address(row.account);
        const everyMarket = size(0);
        const command = { kind: "fundAccount", address, collateral, tokens, everyMarket } as const;
        const decision = exchange.submit(command);
        if (!decision.ok) this.#refused(row, command, decision.refusal);
      }
    }
  }

  #place(row: PlaceRow): void {
    const { exchange } = this.#venue;
    const number = exchange.state.orders.next;
    const command: CommandOf<"placeOrder"> = {
      kind: "placeOrder",
      address: this.#address(row.account),
      tokenId: this.#tokenId(row.market, row.outcome),
      side: row.side,
      price: row.price,
      size: row.size,
      orderType: row.type,
      expiration: row.expiresIn === null ? null : millis(exchange.now + row.expiresIn),
    };
    const decision = exchange.submit(command);
    if (decision.ok) {
      this.counts.placed += 1;
      if (row.ref !== "") this.#orders.set(row.ref, number);
    } else this.#refused(row, command, decision.refusal);
  }

  #cancel(row: CancelRow): void {
    const number = this.#orders.get(row.ref);
    const { state } = this.#venue.exchange;
    const orderId = number === undefined ? row.ref : idOf(state.idPrefixes.order, number);
    const address = this.#address(row.account);
    const canceled = this.#canceled(row, { kind: "cancelOrder", address, orderId });
    if (canceled === 0) throw new Error("a cancel is accepted and cancels nothing");
  }

  /** Ignores an order that is no longer live, as `cancelOrder` of the API does. Returns the number of canceled orders; null if the command is refused. */
  #canceled(row: FlowRow, command: CommandOf<"cancelOrder"> | CommandOf<"cancelAllOrders">): number | null {
    const decision = this.#venue.exchange.submit(command);
    if (decision.ok) {
      this.counts.canceled += decision.events.length;
      return decision.events.length;
    }
    if (decision.refusal.code !== "ORDER_NOT_LIVE") this.#refused(row, command, decision.refusal);
    return null;
  }

  #refused(row: FlowRow, command: OwnCommand, refusal: Refusal): void {
    this.#venue.noteRefusal(OPERATION[row.op], command, refusal);
    this.refused(row, () => refusedBy(refusalError(refusal, this.#venue.view)));
  }

  #address(account: string): string {
    let address = this.#addresses.get(account);
    if (address === undefined) {
      address = this.#venue.signIn(account);
      this.#addresses.set(account, address);
    }
    return address;
  }

  #tokenId(market: string | null, outcome: Outcome): string {
    return this.#venue.tokenId({ market: market ?? this.#market, outcome });
  }
}

/** Called with the number of rows played; returns what does not hold, or nothing if no check is due. */
export type RowCheck = (rows: number) => readonly string[] | Promise<readonly string[]>;

/** An exchange in this process. */
interface CheckedExchange {
  readonly state: State;
  readonly hasBrokenFill: boolean;
  violations(): readonly string[];
}

/** Minimum number of rows between two checks. */
const MIN_ROWS = 100;
/** A check of all invariants visits every record, so its interval grows with the number of records. */
const ROWS_PER_RECORD = 8;

const NOTHING: readonly string[] = [];

/**
 * Returns the check of a flow in this process. Totals of the ledger are checked after 100 rows, or as many as there are
 * balances; all invariants after 100 rows, or eight for each record. So checks take a fixed share of the flow's time.
 */
export function flowCheck(
  exchange: CheckedExchange,
  { everyRows, fillsOnly = false }: CheckOptions,
): RowCheck {
  let totalsAt = fillsOnly ? Number.POSITIVE_INFINITY : (everyRows ?? MIN_ROWS);
  let allAt = totalsAt;
  const totalsHold = (rows: number): boolean => {
    const totals = invariants(exchange.state, "totals");
    const count = totals.reduce((sum, { checked }) => sum + checked, 0);
    totalsAt = rows + Math.max(MIN_ROWS, count);
    return totals.every(({ holds }) => holds);
  };
  return (rows) => {
    const { hasBrokenFill } = exchange;
    if (rows < totalsAt && !hasBrokenFill) return NOTHING;
    if (rows < allAt && !hasBrokenFill && totalsHold(rows)) return NOTHING;
    const { orders, trades, chain } = exchange.state;
    const records = orders.size + trades.size + chain.transactions.size;
    allAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_PER_RECORD * records));
    totalsAt = Math.min(rows + MIN_ROWS, allAt);
    return exchange.violations();
  };
}

/** The interval of a remote check grows with the number of rows, because the number of records is unknown. */
const ROWS_PER_ROW = 2;

/** Returns the check of a flow on a server, which only reports whether all its invariants hold. */
export function remoteFlowCheck(
  violations: () => Promise<readonly string[]>,
  { everyRows }: CheckOptions,
): RowCheck {
  let nextAt = everyRows ?? MIN_ROWS;
  return (rows) => {
    if (rows < nextAt) return NOTHING;
    nextAt = rows + (everyRows ?? Math.max(MIN_ROWS, ROWS_PER_ROW * rows));
    return violations();
  };
}
