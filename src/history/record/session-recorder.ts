import {
  CERTAIN,
  confirmationsOf,
  DEFAULT_BASE_FEE,
  headOf,
  type SettlementFault,
  type SettlementFaultTerms,
} from "../../core/chain/chain.ts";
import { USDC } from "../../core/chain/settlement.ts";
import { type Command, type CommandOf, isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { tokenOf } from "../../core/market.ts";
import { nextNonce } from "../../core/rules/calls.ts";
import { isNotAllowed } from "../../core/rules/contract-calls.ts";
import { FAILED_ON_REQUEST } from "../../core/rules/settlement.ts";
import { nextDueAt } from "../../core/schedule.ts";
import type { State } from "../../core/state.ts";
import { NEXT_ORDER } from "../../scenario/language/order-line.ts";
import { orderStateText } from "../../scenario/run/format.ts";
import type { NodeMap } from "../scenario-text.ts";
import { orderStateOf, type Trace, type TracedCommand } from "../trace.ts";
import { NO_FAULTS, type Vocabulary } from "../vocabulary.ts";
import { raisedIn } from "./first-and-last-steps.ts";
import { RecordingError, type Script } from "./script.ts";

/** Number of trades after which a step compares them. */
const TRADES_COMPARED = 50;

/**
 * Writes the commands of a session as steps with their results. Time mines the same blocks in the scenario as in the
 * session; a step mines a block that only the session has, because a transaction that was pending before it or is left
 * out caused the block. A fault names the order whose settlement it hits; spikes of the base fee hit all.
 */
export class SessionRecorder {
  /** Trades that no step compares yet. */
  trades: string[] = [];
  readonly #script: Script;
  readonly #blocks: ObservedBlocks;
  readonly #words: Vocabulary;
  /** Number of blocks in the session so far. */
  #sessionBlocks = 0;
  /** Number of those that are left out because they would change nothing. */
  #omittedBlocks = 0;
  /** Orders of the session that faults in force name, by their numbers in the scenario. */
  readonly #faulted = new Map<number, number>();

  constructor(script: Script, blocks: ObservedBlocks) {
    this.#script = script;
    this.#blocks = blocks;
    this.#words = script.described.words;
  }

  /** Adds a command; one that is not written as a step may still begin a block. */
  add(traced: TracedCommand, isWritten: boolean): void {
    if (isWritten) this.#write(traced);
    this.#matchBlock(traced);
    for (const event of traced.events) {
      if (event.kind === "orderTraded") this.trades.push(this.#words.fill(event).trade);
    }
    if (this.trades.length < TRADES_COMPARED) return;
    this.#script.steps.push({ expect: { trades: this.trades } });
    this.trades = [];
  }

  /** Called after the last command. */
  finish(sequence: number): void {
    this.#script.writeTime();
    this.#assertSameBlocks(sequence);
  }

  #write(traced: TracedCommand): void {
    const { command } = traced;
    const isTimed = isCausedByTime(command);
    if (!isTimed || command.kind === "expireOrder") this.#advance(traced);
    if (isTimed) return;
    this.#assertSameBlocks(traced.sequence);
    // Events, markets and keys exist from the start; native balances have no effect in a scenario.
    const step = this.#words.step(traced);
    if (command.kind === "fundAccount") this.#fund(traced, command);
    else if (command.kind === "setSettlementFault") {
      if (command.fault === "gasSpike") this.#script.fault(command);
    } else if (command.kind === "endSettlementFault") this.#endSpike(traced, command);
    else if (command.kind === "mineBlocks") this.#mineRequested(traced);
    else if (step === null || typeof step === "string") return;
    else if (command.kind === "placeOrder") this.#place(traced, step);
    else if (command.kind === "sendTransaction") this.#send(traced, step);
    else this.#script.repeat(traced, step);
  }

  /** Advances time if it has an effect: an open order has an expiration, or it decides when blocks are mined. */
  #advance(traced: TracedCommand): void {
    const { at, command, before } = traced;
    const isInHeader = command.kind === "deriveCredentials" || command.kind === "createMarket";
    const expires = before.hasExpiries || (command.kind === "placeOrder" && command.expiration !== null);
    const isNeeded = expires || (!isInHeader && this.#decidesBlocks(traced));
    if (!isNeeded || at === this.#script.now) return;
    const { names } = this.#script.described;
    const expiring = command.kind === "expireOrder" ? names.get(command.order) : undefined;
    if (expiring === undefined) this.#script.advanceTo(at);
    else this.#script.advanceTo(at, `expiry of ${expiring}`);
  }

  /** Whether the time of a command decides when the next blocks are mined. */
  #decidesBlocks({ at, command, events }: TracedCommand): boolean {
    const { state, hasUnwrittenTime } = this.#script;
    if (hasUnwrittenTime) return true;
    if (state.config.settlement !== "auto") return false;
    const dueAt = nextDueAt(state);
    if (dueAt !== null && dueAt <= at) return true;
    if (command.kind === "mineBlocks") return true;
    const isTrading = events.some(({ kind }) => kind === "orderTraded");
    return state.chain.nextBlockAt === null && (isTrading || STARTS_BLOCK.has(command.kind));
  }

  #place(traced: TracedCommand, step: NodeMap): void {
    const { sequence, placed, events } = traced;
    if (placed === null) return;
    const { order, state } = placed;
    for (const fault of this.#blocks.initial.get(order) ?? []) this.#setFault(fault, true);
    const fills = events.flatMap((event) =>
      event.kind === "orderTraded" ? [this.#words.fill(event).fill] : [],
    );
    const expected = orderStateText(state);
    this.#script.repeat(traced, { ...step, status: expected, ...(fills.length > 0 && { fills }) });
    const found = orderStateText(orderStateOf(this.#script.orderOf(order)));
    if (found === expected) return;
    throw new RecordingError(
      `the order of sequence ${sequence} became ${expected}, but in a scenario of the session it becomes ${found}: it depends on what was pending when the session began`,
    );
  }

  /** Writes what an account is given, and the shares that a raised grant mints for it at once. */
  #fund({ sequence, events }: TracedCommand, command: CommandOf<"fundAccount">): void {
    const account = this.#words.accountAt(command.address);
    const { tokenById } = this.#script.described.session.end;
    const given: (readonly [token: number, amount: number])[] = [[USDC, command.collateral]];
    for (const { tokenId, size } of command.tokens) given.push([tokenById.get(tokenId) ?? 0, size]);
    for (const { market, size } of raisedIn(command, events)) {
      given.push([tokenOf(market, "YES"), size], [tokenOf(market, "NO"), size]);
    }
    for (const [token, amount] of given) if (amount > 0) this.#script.fund(sequence, account, token, amount);
  }

  /** If a command began a block, makes sure that the scenario has that block, too. */
  #matchBlock(traced: TracedCommand): void {
    const block = this.#blocks.begun.get(traced);
    if (block === undefined) return;
    this.#sessionBlocks += block.count;
    const { state, blocks } = this.#script;
    const missing = this.#sessionBlocks - this.#omittedBlocks - blocks;
    if (missing > 0) {
      if (state.chain.nextBlockAt === traced.at) this.#script.advanceSilently(traced.at);
      else if (isSettled(state)) this.#omittedBlocks += missing;
      else {
        if (state.config.settlement === "auto") this.#script.advanceTo(traced.at);
        this.#mine(missing);
      }
    }
    this.#setFaultsAfter(block);
  }

  /** @throws RecordingError if the scenario has other blocks than the session; not with instant settlement. */
  #assertSameBlocks(sequence: number): void {
    const { blocks, state } = this.#script;
    if (state.config.settlement === "instant") this.#omittedBlocks = this.#sessionBlocks - blocks;
    const found = blocks + this.#omittedBlocks;
    if (found === this.#sessionBlocks) return;
    throw new RecordingError(
      `before sequence ${sequence} the session mined ${this.#sessionBlocks} blocks, but a scenario of it mines ${found}: it depends on what was pending when the session began`,
    );
  }

  #mineRequested(traced: TracedCommand): void {
    let count = 0;
    for (const block of this.#blocks.requested.get(traced) ?? []) {
      count += block.count;
      if (block.faults.length === 0) continue;
      this.#mine(count);
      count = 0;
      this.#setFaultsAfter(block);
    }
    this.#mine(count);
  }

  /** A transaction that is still pending at the end is omitted if a wallet would not send it, because its simulation fails. */
  #send(traced: TracedCommand, step: NodeMap): void {
    const { session } = this.#script.described;
    const isPending = traced.events.some(
      (sent) => sent.kind === "transactionSent" && isMineable(session, sent.transaction),
    );
    this.#script.call(traced, step, isPending);
  }

  #mine(count: number): void {
    if (count === 0) return;
    this.#script.submit({ kind: "mineBlocks", count }, 0, { mine: String(count) });
  }

  #setFaultsAfter(block: ObservedBlock): void {
    const faults = block.faults.splice(0);
    if (faults.length > 0) this.#script.writeTime();
    for (const fault of faults) this.#setFault(fault, false);
  }

  /** Sets a fault of the order that is placed next, or of an earlier one. */
  #setFault({ order, terms }: OrderFault, isNext: boolean): void {
    const number = isNext ? this.#script.state.orders.next : this.#script.orderOf(order).number;
    this.#faulted.set(number, order);
    this.#script.fault(terms, number, isNext ? NEXT_ORDER : (this.#script.described.names.get(order) ?? ""));
  }

  /** Ends the highest spike of the base fee. The step for that ends all faults, so those of orders are set again. */
  #endSpike({ sequence, before: { faults } }: TracedCommand, { number }: CommandOf<"endSettlementFault">) {
    const left = number === null ? [] : faults.filter((fault) => fault.number !== number);
    const [before, after] = [highest(faults), highest(left)];
    if (before === after) return;
    if (after !== DEFAULT_BASE_FEE) {
      throw new RecordingError(
        `sequence ${sequence} ends one of several spikes of the base fee, but no step of a scenario can end a single one`,
      );
    }
    const pending = this.#script.state.chain.faults.flatMap(({ number: _, struck: __, order, ...terms }) => {
      const faulted = order === undefined ? undefined : this.#faulted.get(order);
      return faulted === undefined ? [] : [{ order: faulted, terms }];
    });
    this.#script.submit({ kind: "endSettlementFault", number: null }, sequence, NO_FAULTS);
    for (const fault of pending) this.#setFault(fault, false);
  }
}

/** Commands that, like a trade, can make the chain schedule a block. */
const STARTS_BLOCK: ReadonlySet<Command["kind"]> = new Set<Command["kind"]>([
  "resolveMarket",
  "sendTransaction",
  "reorganizeChain",
  "endSettlementFault",
  "bumpFees",
]);

/** Whether one more block would change nothing: everything is final. */
function isSettled({ chain, config }: State): boolean {
  const final = headOf(chain) - confirmationsOf(config.settlement);
  return chain.pending === 0 && (chain.lastFilled === null || chain.lastFilled <= final);
}

const highest = (faults: readonly SettlementFault[]): number =>
  Math.max(DEFAULT_BASE_FEE, ...faults.map(({ baseFee }) => baseFee));

/** A fault that hits the settlement of one order, by its number in the session. */
interface OrderFault {
  readonly order: number;
  readonly terms: SettlementFaultTerms;
}

/** A block whose transactions were executed one by one, or several other blocks in a row. */
interface ObservedBlock {
  readonly count: number;
  /** Faults to set after it: a later block has them, but this one had the same settlements without them. */
  readonly faults: OrderFault[];
}

export type ObservedBlocks = ReturnType<typeof observeBlocks>;

/**
 * Finds the blocks of a session, and the faults of its settlements, each to be written as a fault that happens once.
 * @throws RecordingError if a settlement from before the session fails in it.
 */
export function observeBlocks(commands: readonly TracedCommand[], opening: State, end: State) {
  /** The block that a command begins. */
  const begun = new Map<TracedCommand, ObservedBlock>();
  /** The blocks that each `mineBlocks` command requested. */
  const requested = new Map<TracedCommand, ObservedBlock[]>();
  /** Faults to set before an order is placed, by order. */
  const initial = new Map<number, OrderFault[]>();
  /** Orders hit by faults. */
  const faulted = new Set<number>();
  /** The latest block that had a settlement without a fault, by transaction. */
  const faultless = new Map<number, ObservedBlock>();
  const { size: before } = opening.chain.transactions;
  /** Latest command that time did not cause. */
  let cause: TracedCommand | null = null;
  let block: ObservedBlock | null = null;
  let height = 0;
  let mined = before;
  for (const traced of commands) {
    const { sequence, command, events } = traced;
    if (!isCausedByTime(command)) cause = traced;
    const count = events.reduce((sum, event) => sum + blocksIn(event), 0);
    if (count > 0) {
      block = { count, faults: [] };
      begun.set(traced, block);
      if (cause?.command.kind === "mineBlocks" && cause !== traced && cause.at === traced.at)
        listAt(requested, cause).push(block);
      for (const event of events) {
        if (event.kind === "blockOpened") height = event.height;
        if (event.kind !== "blocksMined") continue;
        for (; mined < event.lastTransaction; mined += 1) faultless.set(mined + 1, block);
      }
    } else if (command.kind === "executeTransaction" && block !== null) {
      const { transaction } = command;
      const { content, firstTrade } = end.chain.transactions.get(transaction);
      const event = events.find((each) => "transaction" in each && each.transaction === transaction);
      if (event === undefined || content !== null) continue;
      if (event.kind === "transactionHeld" && event.hold === "UNDERPRICED") continue;
      const terms = faultIn(event, height);
      if (terms === null) faultless.set(transaction, block);
      else if (transaction > before) {
        const order = end.trades.get(firstTrade).taker;
        (faultless.get(transaction)?.faults ?? listAt(initial, order)).push({ order, terms });
        faulted.add(order);
      } else if (terms.fault === "fail")
        throw new RecordingError(
          `a settlement from before the session failed in it (sequence ${sequence}), but a scenario begins with everything settled`,
        );
    }
  }
  return { begun, requested, initial, faulted };
}

/** Returns the list at a key, adding an empty one if there is none. */
function listAt<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

const ONCE = { probability: CERTAIN, times: 1, blocks: 0, baseFee: 0, reason: null } as const;

/** Returns the fault with the effect of an event; null if there was none, or it happens in a scenario without a fault. */
function faultIn(event: DomainEvent, height: number): SettlementFaultTerms | null {
  switch (event.kind) {
    case "transactionHeld":
      if (event.hold === "DELAYED") return { ...ONCE, fault: "delay", blocks: event.notBefore - height };
      return event.hold === "RETRIED" ? { ...ONCE, fault: "retry" } : null;
    case "settlementLost":
      return { ...ONCE, fault: "ghost" };
    case "settlementFailed": {
      // No permission is missing in a scenario, because its accounts have approved the exchange.
      if (event.fault === 0 && !isNotAllowed(event.reason)) return null;
      return { ...ONCE, fault: "fail", reason: event.reason === FAILED_ON_REQUEST ? null : event.reason };
    }
    default:
      return null;
  }
}

/** Returns the number of blocks that an event begins. */
const blocksIn = (event: DomainEvent): number =>
  event.kind === "blocksMined" ? 1 + event.empty : Number(event.kind === "blockOpened");

/** Whether a transaction is pending at the end and can be in the next block, because no earlier nonce is missing. */
export function isMineable({ end }: Pick<Trace, "end">, number: number): boolean {
  const { status, exception, content } = end.chain.transactions.get(number);
  if (status !== "PENDING" || exception !== null || content?.kind !== "call") return false;
  return content.nonce < nextNonce(end.chain, content.from);
}
