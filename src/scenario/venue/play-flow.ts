import { refusalError } from "../../api/refusals.ts";
import type { View } from "../../api/view.ts";
import type { Command } from "../../core/commands.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { idOf } from "../../core/ids.ts";
import type { Decision } from "../../core/refusals.ts";
import { type Millis, millis, money, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { CancelRow, FlowRow, PlaceRow } from "../../simulation/flow.ts";
import type { OrderWords } from "../language/parts.ts";
import { refusedText, rowText } from "../run/words.ts";
import type { RowCheck } from "../watch/flow-checks.ts";
import type { Venue } from "./venue.ts";
import {
  type Attempt,
  type Canceled,
  type FlowOutcome,
  type Refused,
  RowError,
  refusedBy,
  type Soon,
} from "./views.ts";

/** Plays the rows of one flow, each at its moment counted from the start, and counts what became of them. */
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

/** Plays rows up to the first after which something does not hold where they are judged. */
export async function playFlow(
  player: FlowPlayer,
  rows: AsyncIterable<readonly FlowRow[]>,
  judge: RowCheck | null,
): Promise<FlowOutcome> {
  for await (const batch of rows) {
    for (const row of batch) {
      // Nothing is awaited where the answer is there at once: a flow in this process has a million rows a second.
      const played = player.play(row);
      if (played instanceof Promise) await played;
      if (judge === null) continue;
      const judged = judge(player.rows);
      const violations = judged instanceof Promise ? await judged : judged;
      if (violations.length > 0) {
        return { ...player.outcome, broken: { row: player.rows, text: rowText(row), violations } };
      }
    }
  }
  return player.outcome;
}

/** Plays rows on any venue, as the clients of its accounts would. */
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
      case "cancel":
        return this.#canceled(
          row,
          await this.#venue.cancel(row.account, this.#orders.get(row.ref) ?? row.ref),
        );
      case "cancel-all":
        return this.#canceled(row, await this.#venue.cancelAll(row.account));
      case "fund": {
        const { asset, amount } = row;
        const market = row.market ?? this.#market;
        const funding = asset === "USDC" ? { asset, amount } : { asset: { market, outcome: asset }, amount };
        const attempt = await this.#venue.fund(row.account, funding);
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
    if (!attempt.ok) {
      this.refused(row, () => attempt);
      return;
    }
    this.counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, attempt.value.key);
  }

  #canceled(row: FlowRow, attempt: Attempt<Canceled>): void {
    if (attempt.ok) this.counts.canceled += attempt.value.canceled.length;
    else this.refused(row, () => attempt);
  }
}

const ZERO = 48;
const NINE = 57;
/** So many digits are always an exact integer, and no array is meant to be longer. */
const MAX_DIGITS = 9;
/** A number may run ahead of those seen so far by this much and still be a cell of the array. */
const MAX_AHEAD = 4_096;

/**
 * Order numbers by the names that a flow gives them. A flow of millions mostly counts: o1, o2, o3. Such a name is a cell
 * of an array, any other an entry of a map, which costs ten times as much.
 */
export class OrderRefs {
  readonly #named = new Map<string, number>();
  readonly #counted: number[] = [];
  /** What stands before the digits of counted names; those of the first name with digits. */
  #prefix: string | null = null;

  set(ref: string, order: number): void {
    this.#prefix ??= ref.replace(/\d+$/, "");
    const count = this.#countIn(ref);
    if (count < 0 || count > this.#counted.length + MAX_AHEAD) {
      this.#named.set(ref, order);
      return;
    }
    while (this.#counted.length < count) this.#counted.push(0);
    this.#counted[count] = order;
    // The name may have run ahead of the array when it was used before.
    if (this.#named.size > 0) this.#named.delete(ref);
  }

  /** Undefined when the name was never used. */
  get(ref: string): number | undefined {
    const count = this.#countIn(ref);
    const order = count < 0 ? 0 : (this.#counted[count] ?? 0);
    return order === 0 ? this.#named.get(ref) : order;
  }

  /** The number that a counted name ends in, as it would be written again; -1 for every other name. */
  #countIn(ref: string): number {
    const prefix = this.#prefix;
    if (prefix === null || !ref.startsWith(prefix)) return -1;
    const from = prefix.length;
    const digits = ref.length - from;
    if (digits < 1 || digits > MAX_DIGITS || (digits > 1 && ref.charCodeAt(from) === ZERO)) return -1;
    let count = 0;
    for (let index = from; index < ref.length; index += 1) {
      const code = ref.charCodeAt(index);
      if (code < ZERO || code > NINE) return -1;
      count = count * 10 + (code - ZERO);
    }
    return count;
  }
}

/** An exchange in this process, as a flow needs it. */
interface FlowExchange {
  readonly exchange: Exchange;
  readonly view: View;
  /** The address of an account, made known to the exchange. */
  signIn(account: string): string;
  tokenId(token: { readonly market: string; readonly outcome: string }): string;
}

/**
 * Plays the rows of a flow as commands of the exchange, without the API: flows have millions of rows. `market` is theirs
 * where they name none.
 */
export class LocalPlayer extends FlowPlayer {
  readonly #venue: FlowExchange;
  readonly #market: string;
  readonly #start: Millis;
  readonly #addresses = new Map<string, string>();
  readonly #tokens = new Map<string, Record<"YES" | "NO", string>>();
  readonly #orders = new OrderRefs();

  constructor(venue: FlowExchange, market: string) {
    super();
    this.#venue = venue;
    this.#market = market;
    this.#start = venue.exchange.now;
  }

  /** @throws RowError when the row makes the exchange throw. */
  play(row: FlowRow): void {
    this.rows += 1;
    try {
      this.#take(row);
    } catch (error) {
      throw new RowError(this.rows, rowText(row), error);
    }
  }

  #take(row: FlowRow): void {
    const { exchange } = this.#venue;
    const at = this.#start + row.at;
    if (at > exchange.now) exchange.advanceTo(millis(at));
    switch (row.op) {
      case "place":
        this.#place(row);
        return;
      case "cancel":
        this.#cancel(row);
        return;
      case "cancel-all":
        this.#canceled(row, this.#submit({ kind: "cancelAllOrders", address: this.#address(row.account) }));
        return;
      case "fund": {
        const isMoney = row.asset === "USDC";
        const tokens = isMoney ? [] : [{ tokenId: this.#tokenId(row.market, row.asset), size: row.amount }];
        const collateral = isMoney ? row.amount : money(0);
        const address = this.#address(row.account);
        const everyMarket = size(0);
        const decision = this.#submit({ kind: "fundAccount", address, collateral, tokens, everyMarket });
        if (!decision.ok) this.#refused(row, decision);
      }
    }
  }

  #place(row: PlaceRow): void {
    const { exchange } = this.#venue;
    const number = exchange.state.orders.next;
    const decision = this.#submit({
      kind: "placeOrder",
      address: this.#address(row.account),
      tokenId: this.#tokenId(row.market, row.outcome),
      side: row.side,
      price: row.price,
      size: row.size,
      orderType: row.type,
      expiration: row.expiresIn === null ? null : millis(exchange.now + row.expiresIn),
    });
    if (!decision.ok) {
      this.#refused(row, decision);
      return;
    }
    this.counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, number);
  }

  /** An order that has ended by itself is left alone, as a client that is a moment late would find it. */
  #cancel(row: CancelRow): void {
    const number = this.#orders.get(row.ref);
    const { state } = this.#venue.exchange;
    const orderId = number === undefined ? row.ref : idOf(state.idPrefixes.order, number);
    const decision = this.#submit({ kind: "cancelOrder", address: this.#address(row.account), orderId });
    if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") return;
    if (decision.ok && decision.events.length === 0)
      throw new Error("a cancel is accepted and cancels nothing");
    this.#canceled(row, decision);
  }

  #canceled(row: FlowRow, decision: Decision): void {
    if (decision.ok) this.counts.canceled += decision.events.length;
    else this.#refused(row, decision);
  }

  #refused(row: FlowRow, { refusal }: Extract<Decision, { readonly ok: false }>): void {
    this.refused(row, () => refusedBy(refusalError(refusal, this.#venue.view)));
  }

  #submit(command: Command): Decision {
    return this.#venue.exchange.submit(command);
  }

  #address(account: string): string {
    let address = this.#addresses.get(account);
    if (address === undefined) {
      address = this.#venue.signIn(account);
      this.#addresses.set(account, address);
    }
    return address;
  }

  #tokenId(market: string | null, outcome: "YES" | "NO"): string {
    const name = market ?? this.#market;
    let ids = this.#tokens.get(name);
    if (ids === undefined) {
      const idOfOutcome = (of: string): string => this.#venue.tokenId({ market: name, outcome: of });
      ids = { YES: idOfOutcome("YES"), NO: idOfOutcome("NO") };
      this.#tokens.set(name, ids);
    }
    return ids[outcome];
  }
}
