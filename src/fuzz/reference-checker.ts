import type { Balance } from "../core/account.ts";
import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import { miningOf } from "../core/chain/chain.ts";
import type { Command, CommandOf } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { numberOf } from "../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import { remainingOf } from "../core/order.ts";
import type { Decision } from "../core/refusals.ts";
import { isNotAllowed } from "../core/rules/contract-calls.ts";
import { FAUCET, FEES, type State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import type { BookOrder } from "../scenario/watch/naive-book.ts";
import { DONE, ReferenceExchange, type ReferenceTrade, type Reply } from "./reference/reference-exchange.ts";
import { type Amount, type Call, nothing } from "./reference/wallet.ts";
import { CheckFailed } from "./seeds.ts";

/** Returns the error for a difference between the exchange and its reference. */
const failure = (about: string, text: string): CheckFailed =>
  new CheckFailed("differs from the reference", about, text);

const differs = (about: string, text: string, found: unknown, expected: unknown): CheckFailed =>
  failure(about, `${text}: ${String(found)}, expected ${String(expected)}`);

// Each of these throws at the first difference. They run after each command, so they build texts only then.

function requireReply(decision: Decision, expected: Reply): void {
  const code = decision.ok ? "accepted" : decision.refusal.code;
  const expectedCode = expected.ok ? "accepted" : expected.code;
  if (code !== expectedCode)
    throw differs(`answer ${code} instead of ${expectedCode}`, "answer", code, expectedCode);
  if (decision.ok || expected.ok || decision.refusal.code !== "INSUFFICIENT_BALANCE") return;
  for (const figure of ["required", "available"] as const) {
    const amount = decision.refusal[figure];
    if (amount !== expected[figure]) throw differs(`funds ${figure}`, figure, amount, expected[figure]);
  }
}

const tradeText = (trade: ReferenceTrade | undefined): string =>
  trade === undefined
    ? "no fill"
    : `${trade.matchType} ${trade.size} at ${trade.price}, order ${trade.taker} from ${trade.maker}, fee ${trade.fee}`;

type Traded = DomainEvent<"orderTraded">;

function requireTrades(found: readonly Traded[], expected: readonly ReferenceTrade[]): void {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    const [trade, expectedTrade] = [found[index], expected[index]];
    const difference = tradeDifference(trade, expectedTrade);
    if (difference !== null)
      throw differs(difference, `fill ${index + 1}`, tradeText(trade), tradeText(expectedTrade));
  }
}

function tradeDifference(trade: Traded | undefined, expected: ReferenceTrade | undefined) {
  if (trade === undefined) return "fills missing";
  if (expected === undefined) return "fills too many";
  const field = (["maker", "price", "size", "fee"] as const).find((each) => trade[each] !== expected[each]);
  if (field !== undefined) return `${field} of a fill`;
  return trade.matchType === expected.matchType && trade.taker === expected.taker ? null : "kind of a fill";
}

/** Compares orders, markets, books and wallets. */
function requireState(state: State, reference: ReferenceExchange): void {
  requireOrders(state, reference);
  if (state.markets.size !== reference.markets.length)
    throw differs("number of markets", "markets", state.markets.size, reference.markets.length);
  for (const market of state.markets) {
    const { status, books } = reference.market(market.number);
    if (market.status !== status)
      throw differs("status of a market", `market ${market.number}`, market.status, status);
    for (const [index, { book }] of market.books.entries()) {
      const expected = books[index === 0 ? "YES" : "NO"];
      requireQueue(state, market.number, book, BID, expected.queue("BUY"));
      requireQueue(state, market.number, book, ASK, expected.queue("SELL"));
    }
  }
  requireWallets(state, reference);
}

function requireOrders({ orders }: State, reference: ReferenceExchange): void {
  if (orders.size !== reference.orders.length)
    throw differs("number of orders", "orders", orders.size, reference.orders.length);
  for (let number = 1; number <= orders.size; number += 1) {
    const [order, expected] = [orders.get(number), reference.order(number)];
    if (order.status !== expected.status) {
      const about = `order ${order.status} instead of ${expected.status}`;
      throw differs(about, `order ${number}`, order.status, expected.status);
    }
    if (order.matched !== expected.filled)
      throw differs("filled size of an order", `order ${number} filled`, order.matched, expected.filled);
  }
}

function requireQueue(
  state: State,
  market: number,
  book: Market["books"][number]["book"],
  side: BookDirection,
  queue: readonly BookOrder[],
): void {
  let place = 0;
  book?.queue(side, (slot) => {
    const order = state.orders.get(state.pool.orderIn(slot));
    const { number } = order;
    const expected = queue[place];
    place += 1;
    if (expected?.id !== number) {
      const text = `market ${market}, place ${place}, order`;
      throw differs("queue of a book", text, number, expected?.id ?? "none");
    }
    if (expected.open !== remainingOf(order)) {
      const text = `market ${market}, order ${number} open`;
      throw differs("open size in a book", text, remainingOf(order), expected.open);
    }
  });
  if (place !== queue.length)
    throw differs("orders missing in a book", `market ${market} resting`, place, queue.length);
}

function requireWallets(state: State, reference: ReferenceExchange): void {
  for (const account of state.accounts) {
    const { number } = account;
    const wallet = reference.wallets[number - 1];
    if (wallet?.address !== account.address)
      throw differs("accounts", `account ${number}`, account.address, wallet?.address ?? "none");
    requireAmount("USDC", number, account.collateral, wallet.usdc);
    for (let market = 1; market <= state.markets.size; market += 1) {
      const holding = account.holdings.get(market);
      const shares = wallet.shares.get(market);
      if (holding === undefined && shares === undefined) continue;
      requireAmount("YES", number, holding?.yes ?? NOTHING, shares?.YES ?? NOTHING);
      requireAmount("NO", number, holding?.no ?? NOTHING, shares?.NO ?? NOTHING);
    }
  }
  if (state.accounts.size !== reference.wallets.length)
    throw differs("accounts", "accounts", state.accounts.size, reference.wallets.length);
}

const NOTHING: Amount = nothing();

function requireAmount(asset: string, account: number, found: Balance<number> | Amount, expected: Amount) {
  // Without a loop because this runs for each holding after each command.
  if (
    found.balance === expected.balance &&
    found.reserved === expected.reserved &&
    found.incoming === expected.incoming &&
    found.outgoing === expected.outgoing
  )
    return;
  for (const part of ["balance", "reserved", "incoming", "outgoing"] as const) {
    if (found[part] === expected[part]) continue;
    const about = `${part} of ${asset === "USDC" ? asset : "shares"}`;
    throw differs(about, `account ${account}, ${part} of ${asset}`, found[part], expected[part]);
  }
}

/** Events of one accepted command, and its time. */
export interface Batch {
  readonly at: Millis;
  readonly events: readonly DomainEvent[];
}

type Operation<Result = unknown> = (reference: ReferenceExchange) => Result;

type Execute<Kind extends Command["kind"] = Command["kind"]> = (
  reference: ReferenceExchange,
  command: CommandOf<Kind>,
  state: State,
  at: Millis,
) => Reply;

/** Executes each kind of command on the reference. The other kinds are not drawn, or change nothing that it models. */
const EXECUTE: { readonly [Kind in Command["kind"]]?: Execute<Kind> } = {
  createMarket: (reference, command) => reference.createMarket(command),
  closeMarket: (reference, { market }) => reference.endMarket(market, null),
  resolveMarket: (reference, { market, winningOutcome }) => reference.endMarket(market, winningOutcome),
  fundAccount: (reference, { address, collateral, tokens, everyMarket }, state) => {
    const shares = tokens.map(({ tokenId, size }) => ({ ...marketAndOutcome(state, tokenId), size }));
    return reference.fund(address, collateral, shares, everyMarket);
  },
  deriveCredentials: (reference, { address }) => reference.derive(address),
  placeOrder: (reference, command, state, at) =>
    reference.place({ ...command, ...marketAndOutcome(state, command.tokenId) }, at),
  cancelOrder: (reference, { address, orderId }, { idPrefixes }) =>
    reference.cancel(address, numberOf(idPrefixes.order, orderId)),
  cancelAllOrders: (reference, { address }) => reference.cancelAll(address),
  sendTransaction: (reference, command, state) =>
    reference.call(referenceCall(command, state), command.nonce),
  setNonce: (reference, { address, nonce }) => reference.setNonce(address, nonce),
  dropTransaction: (reference, { transaction }) => reference.dropCall(transaction),
  setMining: (reference) => reference.waitFromNow(),
  setSettlementFault: ({ faults }, command) => {
    faults.set(command);
    return DONE;
  },
  reorganizeChain: (reference, { depth }) => reference.reorganize(depth),
  endSettlementFault: ({ faults }) => {
    faults.endAll();
    return DONE;
  },
};

/**
 * Applies each command of an exchange, and each event of its chain, to a reference exchange. Throws `CheckFailed` if the
 * two differ.
 */
export class ReferenceChecker {
  readonly #state: () => State;
  /** All operations since the opening, which are repeated to rewind the reference. */
  readonly #operations: Operation[] = [];
  reference: ReferenceExchange;

  /** `state` returns the state of the exchange, which is empty at first. */
  constructor(state: () => State) {
    this.#state = state;
    this.reference = this.#newReference();
  }

  /** Number of operations applied to the reference, an argument for `rewindTo`. */
  get operations(): number {
    return this.#operations.length;
  }

  rewindTo(operations: number): void {
    this.#operations.length = operations;
    this.reference = this.#newReference();
    for (const operation of this.#operations) operation(this.reference);
  }

  /** Checks a command. `batches` are the events of the command and of what became due at the same time. */
  afterCommand(command: Command, at: Millis, decision: Decision, batches: readonly Batch[]): void {
    const first = decision.ok ? (batches[0]?.events ?? []) : [];
    const { length: trades } = this.reference.trades;
    const execute = EXECUTE[command.kind] as Execute | undefined;
    const reply = this.#apply((reference) => {
      reference.expire(at);
      return execute?.(reference, command, this.#state(), at) ?? DONE;
    });
    requireReply(decision, reply);
    requireTrades(first.filter(isTrade), this.reference.trades.slice(trades));
    this.#afterBatches(batches);
    if (batches.length > 0) requireState(this.#state(), this.reference);
  }

  /** Checks the state after time has passed up to `to`. */
  afterWait(to: Millis, batches: readonly Batch[]): void {
    try {
      this.#afterBatches(batches);
    } finally {
      this.#apply((reference) => reference.expire(to));
    }
    this.#requireNoneOverdue();
    requireState(this.#state(), this.reference);
  }

  /** Requires that every settlement is in a block in time unless it was deferred. */
  #requireNoneOverdue(): void {
    const { chain, config } = this.#state();
    const { mode, intervalMs } = miningOf(chain, config);
    if (mode === "manual") return;
    const late = this.reference.overdue(mode === "auto" ? intervalMs : 0);
    if (late === undefined) return;
    throw failure("a settlement that no block has", `transaction ${late.number} is in no block`);
  }

  /** Requires that the settlement of a match got the fault that the reference computes. */
  #requireFault(transaction: number, hold: string | null, fault: number): void {
    const { faults, settlements } = this.reference;
    const match = settlements.find(({ number, cause }) => number === transaction && cause === "match");
    const expected = match === undefined || hold === "UNDERPRICED" ? fault : faults.faultFor(match);
    this.#apply((reference) => reference.faults.record(transaction, hold, fault));
    if (expected === fault) return;
    const text = `transaction ${transaction} is hit by fault ${fault}, expected ${expected}`;
    throw failure("the fault that hits a settlement", text);
  }

  #newReference(): ReferenceExchange {
    const { config, accounts } = this.#state();
    return new ReferenceExchange(config, accounts.get(FAUCET).address, accounts.get(FEES).address);
  }

  #apply<Result>(operation: Operation<Result>): Result {
    this.#operations.push(operation);
    return operation(this.reference);
  }

  /** Applies the events of the chain to the reference. */
  #afterBatches(batches: readonly Batch[]): void {
    for (const { at, events } of batches) {
      this.#apply((reference) => reference.expire(at));
      for (const event of events) this.#applyChainEvent(event, events);
    }
  }

  #applyChainEvent(event: DomainEvent, batch: readonly DomainEvent[]): void {
    switch (event.kind) {
      case "blocksMined":
        this.#apply((reference) => reference.mineUpTo(event.lastTransaction, event.empty));
        return;
      case "blockOpened":
        this.#apply((reference) => reference.openBlock());
        return;
      case "transactionMined":
        this.#requireFault(event.transaction, null, 0);
        this.#apply((reference) => reference.mine(event.transaction));
        return;
      case "transactionHeld":
        this.#requireFault(event.transaction, event.hold, event.fault);
        return;
      case "settlementLost":
        this.#requireFault(event.transaction, null, event.fault);
        this.#apply((reference) => reference.drop(event.transaction));
        return;
      case "callExecuted":
      case "callReverted": {
        const isExecuted = this.#apply((reference) => reference.execute(event.transaction));
        const expected = isExecuted ? "callExecuted" : "callReverted";
        if (event.kind === expected) return;
        const about = `${event.kind} instead of ${expected}`;
        throw differs(about, `transaction ${event.transaction}`, event.kind, expected);
      }
      case "settlementFailed": {
        // The reference computes which other settlements fail with the one in the block.
        if (!event.isMined) return;
        this.#requireFault(event.transaction, null, event.fault);
        if (isNotAllowed(event.reason) && this.reference.permits(event.transaction)) {
          const text = `transaction ${event.transaction} fails: ${event.reason}`;
          throw failure("a settlement that all wallets permit", text);
        }
        const failed = this.#apply((reference) => reference.fail(event.transaction));
        const found = batch.flatMap((each) =>
          each.kind === "settlementFailed" || each.kind === "callTakenBack" ? [each.transaction] : [],
        );
        const [text, expected] = [sortedText(found), sortedText(failed)];
        if (text !== expected)
          throw differs("settlements that fail together", "settlements that fail", text, expected);
      }
    }
  }
}

const isTrade = (event: DomainEvent): event is Traded => event.kind === "orderTraded";

const sortedText = (numbers: readonly number[]): string => [...numbers].sort((a, b) => a - b).join(" ");

/** Returns the market and outcome of a token; market 0 if the token does not exist. */
function marketAndOutcome({ tokenById }: State, tokenId: string) {
  const token = tokenById.get(tokenId) ?? 0;
  return { market: marketOfToken(token), outcome: outcomeOf(token) };
}

/** Returns a call with the market and outcome that it is about. */
function referenceCall(
  { from, call }: CommandOf<"sendTransaction">,
  { tokenById, marketByConditionId }: State,
): Call {
  const token = call.kind === "safeTransfer" ? (tokenById.get(call.ids[0] ?? "") ?? 0) : 0;
  const market = "condition" in call ? (marketByConditionId.get(call.condition) ?? 0) : marketOfToken(token);
  return { from, call, market, outcome: outcomeOf(token) };
}
