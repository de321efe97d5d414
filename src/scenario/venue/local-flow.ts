import type { Command } from "../../core/commands.ts";
import { idOf } from "../../core/ids.ts";
import type { Decision } from "../../core/refusals.ts";
import { type Millis, millis, money, size } from "../../core/units.ts";
import type { CancelRow, FlowRow, PlaceRow } from "../../simulation/flow.ts";
import { refusedText, rowText } from "../run/words.ts";
import { FlowJudge, type Judging } from "../watch/flow-judge.ts";
import { demandCancel, refusedBy } from "./local-attempts.ts";
import type { LocalVenue } from "./local-venue.ts";
import { OrderRefs } from "./order-refs.ts";
import type { FlowOutcome } from "./venue.ts";
import { RowError } from "./venue.ts";

/**
 * Plays the rows of a flow, each at its moment counted from now; `market` is theirs where they name none.
 * @throws RowError when a row makes the exchange throw.
 */
export async function playRows(
  venue: LocalVenue,
  rows: AsyncIterable<readonly FlowRow[]>,
  market: string,
  judging: Judging | null,
): Promise<FlowOutcome> {
  const player = new LocalPlayer(venue, market);
  const judge = judging === null ? null : new FlowJudge(venue, judging);
  for await (const batch of rows) {
    for (const row of batch) {
      player.play(row);
      const violations = judge?.after(player.rows) ?? [];
      if (violations.length > 0) {
        return { ...player.outcome, broken: { row: player.rows, text: rowText(row), violations } };
      }
    }
  }
  return player.outcome;
}

/** One flow under way: what its names stand for, and what became of its rows. */
class LocalPlayer {
  readonly #venue: LocalVenue;
  readonly #market: string;
  readonly #start: Millis;
  readonly #addresses = new Map<string, string>();
  readonly #tokens = new Map<string, Record<"YES" | "NO", string>>();
  readonly #orders = new OrderRefs();
  readonly #counts = { rows: 0, placed: 0, canceled: 0, rejected: 0 };
  #firstRejection: string | null = null;

  constructor(venue: LocalVenue, market: string) {
    this.#venue = venue;
    this.#market = market;
    this.#start = venue.exchange.now;
  }

  get outcome(): FlowOutcome {
    return { ...this.#counts, firstRejection: this.#firstRejection, broken: null };
  }

  /** How many rows have been played. */
  get rows(): number {
    return this.#counts.rows;
  }

  play(row: FlowRow): void {
    this.#counts.rows += 1;
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
        const decision = this.#submit({
          kind: "fundAccount",
          address,
          collateral,
          tokens,
          everyMarket: size(0),
        });
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
    this.#counts.placed += 1;
    if (row.ref !== "") this.#orders.set(row.ref, number);
  }

  /** An order that has ended by itself is left alone, as a client that is a moment late would find it. */
  #cancel(row: CancelRow): void {
    const number = this.#orders.get(row.ref);
    const { state } = this.#venue.exchange;
    const orderId = number === undefined ? row.ref : idOf(state.idPrefixes.order, number);
    const decision = this.#submit({ kind: "cancelOrder", address: this.#address(row.account), orderId });
    if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") return;
    demandCancel(decision);
    this.#canceled(row, decision);
  }

  #canceled(row: FlowRow, decision: Decision): void {
    if (decision.ok) this.#counts.canceled += decision.events.length;
    else this.#refused(row, decision);
  }

  #refused(row: FlowRow, decision: Decision): void {
    this.#counts.rejected += 1;
    if (decision.ok || this.#firstRejection !== null) return;
    const text = refusedText(refusedBy(decision.refusal, this.#venue.view));
    this.#firstRejection = `row ${this.#counts.rows}, ${rowText(row)}: ${text}`;
  }

  #submit(command: Command): Decision {
    return this.#venue.exchange.submit(command);
  }

  #address(account: string): string {
    let address = this.#addresses.get(account);
    if (address === undefined) {
      address = this.#venue.addressOf(account);
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
