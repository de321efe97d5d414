import type { CommandOf } from "../../core/commands.ts";
import { isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { moneyText } from "../../core/format.ts";
import { marketOfToken, outcomeOf, tokenOf } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { orderStateText } from "../../scenario/run/words.ts";
import type { ObservedCommand } from "./observed-session.ts";
import { RecordingError } from "./observed-session.ts";
import { raisedIn } from "./opening-steps.ts";
import type { Script } from "./script.ts";
import type { Vocabulary } from "./session-names.ts";
import { addressIn } from "./session-names.ts";
import type { SettlementRecorder } from "./settlement-recorder.ts";
import { list, map } from "./yaml-text.ts";

/** After so many trades they are compared. */
const TRADES_COMPARED = 50;

/** Writes what a session did, command by command, as steps with what was observed of each. */
export class SessionRecorder {
  /** Trades that no step has compared yet. */
  trades: string[] = [];
  readonly #script: Script;
  readonly #chain: SettlementRecorder;
  readonly #words: Vocabulary;
  readonly #names: ReadonlyMap<number, string>;
  readonly #end: State;

  constructor(
    script: Script,
    chain: SettlementRecorder,
    words: Vocabulary,
    names: ReadonlyMap<number, string>,
    end: State,
  ) {
    this.#script = script;
    this.#chain = chain;
    this.#words = words;
    this.#names = names;
    this.#end = end;
  }

  /** Records a command, or, of one that no step says, what follows from it. */
  add(observed: ObservedCommand, isTold: boolean): void {
    if (isTold) this.#write(observed);
    this.#chain.follow(observed);
    for (const event of observed.events) {
      if (event.kind === "orderTraded") this.trades.push(this.#words.fill(event).trade);
    }
    if (this.trades.length < TRADES_COMPARED) return;
    this.#script.say(["expect", map([["trades", list(this.trades)]])]);
    this.trades = [];
  }

  /** The session is over: all its time is written. */
  finish(sequence: number): void {
    this.#script.catchUp();
    this.#chain.compare(sequence);
  }

  #write(observed: ObservedCommand): void {
    const { command } = observed;
    const isTimed = isCausedByTime(command);
    if (!isTimed || command.kind === "expireOrder") this.#passTime(observed);
    if (isTimed) return;
    this.#chain.compare(observed.sequence);
    const address = addressIn(command);
    const account = address === null ? undefined : this.#end.accountByAddress.get(address);
    const name = account === undefined ? "" : this.#words.account(account);
    if (!this.#writeTrading(observed, name)) this.#writeChain(observed);
  }

  /** Moves the clock where that decides something: while an order waits for its expiration, and when blocks are mined. */
  #passTime(observed: ObservedCommand): void {
    const { at, command, isTimed } = observed;
    const isSilent = command.kind === "deriveCredentials" || command.kind === "createMarket";
    const matters =
      isTimed ||
      (command.kind === "placeOrder" && command.expiration !== null) ||
      (!isSilent && this.#chain.isClocked(observed));
    if (!matters || at === this.#script.now) return;
    const expiring = command.kind === "expireOrder" ? this.#names.get(command.order) : undefined;
    if (expiring === undefined) this.#script.passTo(at);
    else this.#script.passTo(at, `expiry of ${expiring}`);
  }

  /** Whether it was something of the exchange. */
  #writeTrading(observed: ObservedCommand, account: string): boolean {
    const { command, events, sequence } = observed;
    const { shadow } = this.#script;
    switch (command.kind) {
      case "placeOrder":
        this.#place(account, observed);
        return true;
      case "cancelOrder":
        for (const event of events) {
          if (event.kind !== "orderCanceled") continue;
          const attempt = shadow.cancel(account, event.order);
          this.#script.done(sequence, attempt, [account, `cancel ${this.#nameOf(event.order)}`]);
        }
        return true;
      case "cancelAllOrders":
        this.#script.done(sequence, shadow.cancelAll(account), [account, "cancel all"]);
        return true;
      case "fundAccount":
        this.#fund(observed, command, account);
        return true;
      case "closeMarket":
      case "resolveMarket": {
        const name = this.#words.market(command.market);
        const attempt = shadow.submit({ ...command, market: shadow.marketNumber(name) });
        const inMarket = this.#words.inMarket(command.market);
        if (command.kind === "closeMarket") this.#script.done(sequence, attempt, ["close", name]);
        else this.#script.done(sequence, attempt, ["resolve", command.winningOutcome + inMarket]);
        return true;
      }
      default:
        return false;
    }
  }

  #writeChain(observed: ObservedCommand): void {
    const { command, faults, sequence } = observed;
    switch (command.kind) {
      case "sendTransaction":
        this.#chain.send(observed, command);
        break;
      case "mineBlocks":
        this.#chain.mine(observed);
        break;
      case "reorganizeChain":
        this.#chain.reorganize(observed, command);
        break;
      case "setSettlementFault":
        this.#chain.faults.setSpike(command);
        break;
      case "endSettlementFault":
        this.#chain.faults.endSpike(sequence, command, faults);
        break;
      case "bumpFees":
        this.#chain.bump();
        break;
      default:
        // Events, markets and keys are there from the start; gas money changes nothing that a scenario sees.
        break;
    }
  }

  #place(account: string, { sequence, placed, events }: ObservedCommand): void {
    if (placed === null) return;
    const { order, look } = placed;
    const { shadow, state } = this.#script;
    const record = this.#end.orders.get(order);
    const traded = events.filter((event): event is OrderTraded => event.kind === "orderTraded");
    this.#chain.beforeOrder(order);
    const next = state.chain.transactions.next;
    const attempt = shadow.place(
      account,
      record,
      this.#words.market(marketOfToken(record.token)),
      record.size,
    );
    for (const { transaction } of traded) shadow.pair(transaction, next);
    this.#script.done(
      sequence,
      attempt,
      [account, this.#words.order(record, record.size, this.#names.get(order))],
      ["status", orderStateText(look)],
      ...(traded.length === 0
        ? []
        : [["fills", list(traded.map((each) => this.#words.fill(each).fill))] as const]),
    );
    const { status, matched, size, cancelReason: reason } = shadow.orderOf(order);
    const found = orderStateText({ status, matched, size, reason });
    if (found === orderStateText(look)) return;
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `the order of sequence ${sequence} became ${orderStateText(look)}, and in a scenario of the session it becomes ${found}: what was pending when it began decided that`,
    );
  }

  /** What an account is given, and what a raised grant mints for it at once. */
  #fund({ sequence, events }: ObservedCommand, command: CommandOf<"fundAccount">, account: string): void {
    const { shadow } = this.#script;
    const { collateral } = command;
    const shares = command.tokens.map(({ tokenId, size }) => {
      const token = this.#end.tokenById.get(tokenId);
      if (token === undefined) throw new Error(`funded with an unknown token ${tokenId}`);
      return [token, size] as const;
    });
    for (const { market, size } of raisedIn(command, events)) {
      shares.push([tokenOf(market, "YES"), size], [tokenOf(market, "NO"), size]);
    }
    if (collateral > 0) {
      const attempt = shadow.fund(account, { asset: "USDC", amount: collateral });
      this.#script.done(sequence, attempt, [account, `fund ${moneyText(collateral)} USDC`]);
    }
    for (const [token, size] of shares) {
      if (size === 0) continue;
      const asset = { market: this.#words.market(marketOfToken(token)), outcome: outcomeOf(token) };
      const attempt = shadow.fund(account, { asset, amount: size });
      this.#script.done(sequence, attempt, [account, `fund ${this.#words.shares(token, size)}`]);
    }
  }

  #nameOf(order: number): string {
    const name = this.#names.get(order);
    if (name === undefined) throw new Error(`order ${order} has no name`);
    return name;
  }
}

type OrderTraded = Extract<DomainEvent, { readonly kind: "orderTraded" }>;
