import type { FundAccount } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import { unreachable } from "../../core/unreachable.ts";
import { lookText, moneyText } from "../run/words.ts";
import type { Act, ObservedSession } from "./observed-session.ts";
import { addressIn } from "./parties.ts";
import { moment, type Vocabulary } from "./vocabulary.ts";
import { type Entry, list, map } from "./yaml-text.ts";

/** A step as the entries of its map. */
export type Step = readonly Entry[];

/** After so many trades they are compared. */
const TRADES_COMPARED = 50;

/** Writes what a session did, command by command, as steps with what was observed of each. */
export class ActSteps {
  readonly steps: Step[] = [];
  /** Trades that no step has compared yet. */
  trades: string[] = [];
  readonly #words: Vocabulary;
  readonly #names: ReadonlyMap<number, string>;
  readonly #end: State;
  #now: Millis;

  constructor({ start, end }: ObservedSession, words: Vocabulary, names: ReadonlyMap<number, string>) {
    this.#words = words;
    this.#names = names;
    this.#end = end;
    this.#now = start;
  }

  add(act: Act): void {
    this.#passTime(act);
    const address = addressIn(act.command);
    const account = address === null ? undefined : this.#end.accountByAddress.get(address);
    this.#act(act, account === undefined ? "" : this.#words.account(account));
    for (const event of act.events) {
      if (event.kind === "orderTraded") this.trades.push(this.#words.fill(event).trade);
    }
    if (this.trades.length < TRADES_COMPARED) return;
    this.#say(["expect", map([["trades", list(this.trades)]])]);
    this.trades = [];
  }

  /** Moves the clock where that decides something: while an order waits for its expiration. */
  #passTime({ at, command, isTimed }: Act): void {
    const matters = isTimed || (command.kind === "placeOrder" && command.expiration !== null);
    if (!matters || at === this.#now) return;
    const expiring = command.kind === "expireOrder" ? this.#names.get(command.order) : undefined;
    this.#say(["at", expiring === undefined ? moment(at) : `expiry of ${expiring}`]);
    this.#now = at;
  }

  #act({ command, events, placed }: Act, account: string): void {
    switch (command.kind) {
      case "placeOrder":
        if (placed !== null) this.#place(account, placed, events);
        break;
      case "cancelOrder":
        for (const event of events) {
          if (event.kind === "orderCanceled") this.#say([account, `cancel ${this.#nameOf(event.order)}`]);
        }
        break;
      case "cancelAllOrders":
        this.#say([account, "cancel all"]);
        break;
      case "fundAccount":
        this.#fund(account, command);
        break;
      case "closeMarket":
        this.#say(["close", this.#words.market(command.market)]);
        break;
      case "resolveMarket":
        this.#say(["resolve", command.winningOutcome + this.#words.inMarket(command.market)]);
        break;
      case "createEvent":
      case "createMarket":
      case "deriveCredentials":
      case "expireOrder":
      case "produceBlock":
      case "executeTransaction":
      case "sealBlock":
      case "sendTransaction":
      case "mineBlocks":
      case "reorganizeChain":
      case "setSettlementFault":
      case "endSettlementFault":
      case "bumpFees":
      case "setNativeBalance":
        break;
      default:
        throw unreachable(command);
    }
  }

  #place(account: string, { order, look }: NonNullable<Act["placed"]>, events: readonly DomainEvent[]): void {
    const record = this.#end.orders.get(order);
    const fills = events.flatMap((event) =>
      event.kind === "orderTraded" ? [this.#words.fill(event).fill] : [],
    );
    this.#say(
      [account, this.#words.order(record, record.size, this.#names.get(order))],
      ["status", lookText(look)],
      ...(fills.length === 0 ? [] : [["fills", list(fills)] as const]),
    );
  }

  #fund(account: string, { collateral, tokens }: FundAccount): void {
    if (collateral > 0) this.#say([account, `fund ${moneyText(collateral)} USDC`]);
    for (const { tokenId, size } of tokens) {
      const token = this.#end.tokenById.get(tokenId);
      if (token === undefined) throw new Error(`funded with an unknown token ${tokenId}`);
      if (size > 0) this.#say([account, `fund ${this.#words.shares(token, size)}`]);
    }
  }

  #say(...step: Step): void {
    this.steps.push(step);
  }

  #nameOf(order: number): string {
    const name = this.#names.get(order);
    if (name === undefined) throw new Error(`order ${order} has no name`);
    return name;
  }
}
