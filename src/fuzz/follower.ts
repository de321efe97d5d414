import type { Balance } from "../core/account.ts";
import { ASK, BID } from "../core/book/book.ts";
import type { Command } from "../core/commands.ts";
import type { DomainEvent, EventOf } from "../core/events.ts";
import { numberOf } from "../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import { remainingOf } from "../core/order.ts";
import type { Decision, Refusal } from "../core/refusals.ts";
import { FAUCET, FEES, type State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import { referenceCall } from "./call-command.ts";
import type { RestingOrder } from "./reference/naive-book.ts";
import {
  ReferenceExchange,
  type ReferenceMarket,
  type ReferenceTrade,
  type Reply,
} from "./reference/reference-exchange.ts";
import { type Amount, nothing } from "./reference/wallet.ts";

/** Where the exchange and its reference do not agree: what it is about, and the figures. */
export interface Difference {
  readonly about: string;
  readonly text: string;
}

const differ = (about: string, text: string, found: unknown, expected: unknown): Difference => ({
  about,
  text: `${text}: ${String(found)}, expected ${String(expected)}`,
});

/** How an answer differs from the one expected, or null. */
function replyDifference(
  found: { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal },
  expected: Reply,
): Difference | null {
  const code = found.ok ? "accepted" : found.refusal.code;
  const wanted = expected.ok ? "accepted" : expected.code;
  if (code !== wanted) return differ(`answer ${code} instead of ${wanted}`, "answer", code, wanted);
  if (found.ok || expected.ok || found.refusal.code !== "INSUFFICIENT_BALANCE") return null;
  const { required, available } = found.refusal;
  if (required !== expected.required)
    return differ("funds required", "required", required, expected.required);
  return available === expected.available
    ? null
    : differ("funds available", "available", available, expected.available);
}

const tradeText = ({ taker, maker, price, size, fee }: Omit<ReferenceTrade, "kind">, kind: string): string =>
  `${kind} ${size} at ${price}, order ${taker} from ${maker}, fee ${fee}`;

/** How the fills of one order differ from those expected, or null. */
function tradesDifference(
  found: readonly EventOf<"orderTraded">[],
  expected: readonly ReferenceTrade[],
): Difference | null {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const [trade, wanted] = [found[index], expected[index]];
    const text = trade === undefined ? "no fill" : tradeText(trade, trade.matchType);
    const wantedText = wanted === undefined ? "no fill" : tradeText(wanted, wanted.kind);
    if (text !== wantedText) return differ(fillAspect(trade, wanted), `fill ${index + 1}`, text, wantedText);
  }
  return null;
}

function fillAspect(trade: EventOf<"orderTraded"> | undefined, wanted: ReferenceTrade | undefined): string {
  if (trade === undefined) return "fills missing";
  if (wanted === undefined) return "fills too many";
  for (const aspect of ["maker", "price", "size", "fee"] as const) {
    if (trade[aspect] !== wanted[aspect]) return `${aspect} of a fill`;
  }
  return "kind of a fill";
}

/** The first difference between all that both know, or null. */
function stateDifference(state: State, reference: ReferenceExchange): Difference | null {
  return (
    ordersDifference(state, reference) ??
    marketsDifference(state, reference) ??
    walletsDifference(state, reference)
  );
}

function ordersDifference({ orders }: State, reference: ReferenceExchange): Difference | null {
  if (orders.size !== reference.orders.length)
    return differ("number of orders", "orders", orders.size, reference.orders.length);
  for (let number = 1; number <= orders.size; number += 1) {
    const order = orders.get(number);
    const wanted = reference.order(number);
    if (order.status !== wanted.status)
      return differ(
        `order ${order.status} instead of ${wanted.status}`,
        `order ${number}`,
        order.status,
        wanted.status,
      );
    if (order.matched !== wanted.filled)
      return differ("filled size of an order", `order ${number} filled`, order.matched, wanted.filled);
  }
  return null;
}

function marketsDifference(state: State, reference: ReferenceExchange): Difference | null {
  if (state.markets.size !== reference.markets.length)
    return differ("number of markets", "markets", state.markets.size, reference.markets.length);
  for (const market of state.markets) {
    const wanted = reference.market(market.number);
    if (market.status !== wanted.status)
      return differ("status of a market", `market ${market.number}`, market.status, wanted.status);
    const difference = booksDifference(state, market, wanted);
    if (difference !== null) return difference;
  }
  return null;
}

function booksDifference(state: State, market: Market, wanted: ReferenceMarket): Difference | null {
  const { YES, NO } = wanted.books;
  for (const [index, { book }] of market.books.entries()) {
    const naive = index === 0 ? YES : NO;
    for (const side of [BID, ASK] as const) {
      const queue = side === BID ? naive.bids : naive.asks;
      let place = 0;
      let difference: Difference | null = null;
      book?.queue(side, (slot) => {
        const order = state.orders.get(state.pool.orderIn(slot));
        difference ??= placeDifference(market, place, order.number, remainingOf(order), queue[place]);
        place += 1;
      });
      if (difference !== null) return difference;
      if (place !== queue.length)
        return differ("orders missing in a book", `market ${market.number} resting`, place, queue.length);
    }
  }
  return null;
}

function placeDifference(
  { number }: Market,
  place: number,
  order: number,
  open: number,
  wanted: RestingOrder | undefined,
): Difference | null {
  if (wanted?.id !== order)
    return differ(
      "queue of a book",
      `market ${number}, place ${place + 1}, order`,
      order,
      wanted?.id ?? "none",
    );
  return wanted.open === open
    ? null
    : differ("open size in a book", `market ${number}, order ${order} open`, open, wanted.open);
}

function walletsDifference(state: State, reference: ReferenceExchange): Difference | null {
  for (const account of state.accounts) {
    const wallet = reference.wallets[account.number - 1];
    if (wallet?.address !== account.address)
      return differ("accounts", `account ${account.number}`, account.address, wallet?.address ?? "none");
    const usdc = amountDifference("USDC", account.number, account.collateral, wallet.usdc);
    if (usdc !== null) return usdc;
    for (let market = 1; market <= state.markets.size; market += 1) {
      const holding = account.holdings.get(market);
      const shares = wallet.shares.get(market);
      if (holding === undefined && shares === undefined) continue;
      const { YES: yes, NO: no } = shares ?? { YES: NOTHING, NO: NOTHING };
      const difference =
        amountDifference("YES", account.number, holding?.yes ?? NOTHING, yes) ??
        amountDifference("NO", account.number, holding?.no ?? NOTHING, no);
      if (difference !== null) return difference;
    }
  }
  return state.accounts.size === reference.wallets.length
    ? null
    : differ("accounts", "accounts", state.accounts.size, reference.wallets.length);
}

const NOTHING: Amount = nothing();

function amountDifference(
  asset: string,
  account: number,
  found: Balance<number> | Amount,
  wanted: Amount,
): Difference | null {
  // Read by name: this runs for each holding after each command.
  if (
    found.balance === wanted.balance &&
    found.reserved === wanted.reserved &&
    found.incoming === wanted.incoming &&
    found.outgoing === wanted.outgoing
  )
    return null;
  for (const part of ["balance", "reserved", "incoming", "outgoing"] as const) {
    if (found[part] !== wanted[part])
      return differ(
        `${part} of ${asset === "USDC" ? asset : "shares"}`,
        `account ${account}, ${part} of ${asset}`,
        found[part],
        wanted[part],
      );
  }
  return null;
}

/** Events of one accepted command. */
export interface Batch {
  readonly at: Millis;
  readonly events: readonly DomainEvent[];
}

const DONE: Reply = { ok: true };

/** A reference exchange that is told what an exchange is told, and what the chain has done; it answers where they differ. */
export class Follower {
  readonly #state: () => State;
  /** All that the reference was told, so that it can be brought back to an earlier moment. */
  #told: ((reference: ReferenceExchange) => void)[] = [];
  #reference: ReferenceExchange;

  /** `state` answers that of an exchange that holds nothing yet. */
  constructor(state: () => State) {
    this.#state = state;
    this.#reference = this.#fresh();
  }

  get reference(): ReferenceExchange {
    return this.#reference;
  }

  /** How much it was told, to come back to. */
  get mark(): number {
    return this.#told.length;
  }

  goBackTo(mark: number): void {
    this.#told.length = mark;
    this.#reference = this.#fresh();
    for (const tell of this.#told) tell(this.#reference);
  }

  /** After a command, with what it and time at that moment have caused. */
  afterCommand(
    command: Command,
    at: Millis,
    decision: Decision,
    batches: readonly Batch[],
  ): Difference | null {
    const first = decision.ok ? (batches[0]?.events ?? []) : [];
    let reply: Reply = DONE;
    const { length: trades } = this.#reference.trades;
    this.#tell((reference) => {
      reference.expire(at);
      reply = this.#do(reference, command, at);
    });
    return (
      replyDifference(decision, reply) ??
      tradesDifference(first.filter(isTrade), this.#reference.trades.slice(trades)) ??
      this.#afterBatches(batches) ??
      (batches.length === 0 ? null : stateDifference(this.#state(), this.#reference))
    );
  }

  /** After time has passed up to a moment. */
  afterWait(to: Millis, batches: readonly Batch[]): Difference | null {
    const difference = this.#afterBatches(batches);
    this.#tell((reference) => reference.expire(to));
    return difference ?? this.#overdue() ?? stateDifference(this.#state(), this.#reference);
  }

  /** In the course of time every settlement comes into a block, but where something keeps it out. */
  #overdue(): Difference | null {
    const { settlement } = this.#state().config;
    if (settlement === "manual") return null;
    const late = this.#reference.overdue(settlement === "auto" ? BLOCK_INTERVAL_MS : 0);
    return late === undefined
      ? null
      : { about: "a settlement that no block has", text: `transaction ${late.number} is in no block` };
  }

  /** A block has looked at a match: whether the fault that has struck it is the one that must. */
  #strike(transaction: number, hold: string | null, fault: number): Difference | null {
    const { faults, settlements } = this.#reference;
    const match = settlements.find(({ number, what }) => number === transaction && what === "match");
    const expected = match === undefined || hold === "UNDERPRICED" ? fault : faults.striking(match);
    this.#tell((reference) => reference.faults.note(transaction, hold, fault));
    return expected === fault
      ? null
      : {
          about: "the fault that strikes a settlement",
          text: `transaction ${transaction} is struck by fault ${fault}, expected ${expected}`,
        };
  }

  #fresh(): ReferenceExchange {
    const { config, accounts } = this.#state();
    return new ReferenceExchange({
      seed: config.seed,
      policy: config.balances,
      faucet: { usdc: config.faucet.collateral, everywhere: config.faucet.everyMarket },
      derivesOnce: config.credentials === "once",
      replaceable: config.settlement === "instant" ? 0 : 2,
      faucetAddress: accounts.get(FAUCET).address,
      feesAddress: accounts.get(FEES).address,
    });
  }

  #tell(tell: (reference: ReferenceExchange) => void): void {
    this.#told.push(tell);
    tell(this.#reference);
  }

  #do(reference: ReferenceExchange, command: Command, at: Millis): Reply {
    const state = this.#state();
    switch (command.kind) {
      case "createMarket":
        reference.createMarket({
          tick: command.tickSize,
          minimum: command.minOrderSize,
          basisPoints: command.feeRateBps,
          isOneBook: command.matching === "complementary",
          selfTrade: command.selfTrade,
        });
        return DONE;
      case "closeMarket":
        return reference.endMarket(command.market, null);
      case "resolveMarket":
        return reference.endMarket(command.market, command.winningOutcome);
      case "fundAccount": {
        const shares = command.tokens.map(({ tokenId, size }) => ({ ...placeOf(state, tokenId), size }));
        reference.fund(command.address, command.collateral, shares, command.everyMarket);
        return DONE;
      }
      case "deriveCredentials":
        return reference.derive(command.address);
      case "placeOrder": {
        const { address: owner, side, price, size, orderType: type, expiration } = command;
        const place = placeOf(state, command.tokenId);
        return reference.place({ owner, ...place, side, price, size, type, expiration }, at);
      }
      case "cancelOrder":
        return reference.cancel(command.address, numberOf(state.idPrefixes.order, command.orderId));
      case "cancelAllOrders":
        reference.cancelAll(command.address);
        return DONE;
      case "sendTransaction":
        reference.call(referenceCall(command, state));
        return DONE;
      case "setSettlementFault":
        reference.faults.set(command);
        return DONE;
      case "reorganizeChain":
        return reference.reorganize(command.depth);
      case "endSettlementFault":
        reference.faults.endAll();
        return DONE;
      default:
        return DONE;
    }
  }

  /** What the chain has done; null when nothing differs. */
  #afterBatches(batches: readonly Batch[]): Difference | null {
    for (const { at, events } of batches) {
      this.#tell((reference) => reference.expire(at));
      for (const event of events) {
        const difference = this.#onChain(event, events);
        if (difference !== null) return difference;
      }
    }
    return null;
  }

  #onChain(event: DomainEvent, batch: readonly DomainEvent[]): Difference | null {
    switch (event.kind) {
      case "blocksMined":
        this.#tell((reference) => reference.mineUpTo(event.lastTransaction, event.empty));
        return null;
      case "blockOpened":
        this.#tell((reference) => reference.beginBlock());
        return null;
      case "transactionMined": {
        const difference = this.#strike(event.transaction, null, 0);
        this.#tell((reference) => reference.mine(event.transaction));
        return difference;
      }
      case "transactionHeld":
        return this.#strike(event.transaction, event.hold, event.fault);
      case "settlementLost": {
        const difference = this.#strike(event.transaction, null, event.fault);
        this.#tell((reference) => reference.lose(event.transaction));
        return difference;
      }
      case "callExecuted":
      case "callReverted": {
        let isDone = false;
        this.#tell((reference) => {
          isDone = reference.carryOut(event.transaction);
        });
        const expected = isDone ? "callExecuted" : "callReverted";
        return event.kind === expected
          ? null
          : {
              about: `${event.kind} instead of ${expected}`,
              text: `transaction ${event.transaction}: ${event.kind}, expected ${expected}`,
            };
      }
      case "settlementFailed": {
        // What fails with others is worked out from the one that a block has.
        if (!event.isMined) return null;
        const struck = this.#strike(event.transaction, null, event.fault);
        if (struck !== null) return struck;
        let failed: readonly number[] = [];
        this.#tell((reference) => {
          failed = reference.fail(event.transaction);
        });
        const found = batch.flatMap((each) => (each.kind === "settlementFailed" ? [each.transaction] : []));
        const [text, expected] = [listed(found), listed(failed)];
        return text === expected
          ? null
          : {
              about: "settlements that fail together",
              text: `settlements that fail: ${text}, expected ${expected}`,
            };
      }
      default:
        return null;
    }
  }
}

const BLOCK_INTERVAL_MS = 2_000;

const isTrade = (event: DomainEvent): event is EventOf<"orderTraded"> => event.kind === "orderTraded";

const listed = (numbers: readonly number[]): string => [...numbers].sort((a, b) => a - b).join(" ");

/** The market and outcome of a token; market 0 when there is no such token. */
function placeOf({ tokenById }: State, tokenId: string) {
  const token = tokenById.get(tokenId) ?? 0;
  return { market: marketOfToken(token), outcome: outcomeOf(token) };
}
