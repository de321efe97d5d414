import { CERTAIN, type SettlementFaultTerms } from "../../core/chain/chain.ts";
import { isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import type { TracedCommand } from "../trace.ts";
import { RecordingError } from "./recordable-commands.ts";

/** A fault that hits the settlement of one order, by its number in the session. */
export interface OrderFault {
  readonly order: number;
  readonly terms: SettlementFaultTerms;
}

/** A block whose transactions were executed one by one, or several other blocks in a row. */
export interface ObservedBlock {
  readonly count: number;
  /** Faults to set after it: a later block has them, but this one had the same settlements without them. */
  readonly faults: OrderFault[];
}

/** The blocks of a session, and the faults of its settlements, each written as a fault that happens once. */
export class ObservedBlocks {
  readonly #begun = new Map<TracedCommand, ObservedBlock>();
  readonly #requested = new Map<TracedCommand, ObservedBlock[]>();
  /** Faults to set before an order is placed, by order. */
  readonly #initial = new Map<number, OrderFault[]>();
  /** The latest block that had a settlement without a fault, by transaction. */
  readonly #faultless = new Map<number, ObservedBlock>();
  readonly #end: State;
  /** Orders hit by faults. */
  readonly faulted = new Set<number>();

  /** @throws RecordingError if a settlement from before the session fails in it. */
  constructor(commands: readonly TracedCommand[], opening: State, end: State) {
    this.#end = end;
    const { size: before } = opening.chain.transactions;
    /** Latest command that time did not cause. */
    let cause: TracedCommand | null = null;
    let block: ObservedBlock | null = null;
    let height = 0;
    let mined = before;
    for (const traced of commands) {
      const { command, events } = traced;
      if (!isCausedByTime(command)) cause = traced;
      const count = blocksIn(events);
      if (count > 0) {
        block = { count, faults: [] };
        this.#begun.set(traced, block);
        if (cause?.command.kind === "mineBlocks" && cause !== traced && cause.at === traced.at) {
          this.#requested.set(cause, [...this.requestedBy(cause), block]);
        }
        for (const event of events) {
          if (event.kind === "blockOpened") height = event.height;
          if (event.kind !== "blocksMined") continue;
          for (; mined < event.lastTransaction; mined += 1) this.#faultless.set(mined + 1, block);
        }
      } else if (command.kind === "executeTransaction" && block !== null) {
        const { transaction } = command;
        const event = events.find((each) => "transaction" in each && each.transaction === transaction);
        if (event !== undefined)
          this.#addExecution(traced, transaction, event, { block, height, isEarlier: transaction <= before });
      }
    }
  }

  /** Returns the block that a command begins. */
  begunBy(traced: TracedCommand): ObservedBlock | undefined {
    return this.#begun.get(traced);
  }

  /** Returns the blocks that a `mineBlocks` command requested. */
  requestedBy(traced: TracedCommand): readonly ObservedBlock[] {
    return this.#requested.get(traced) ?? [];
  }

  /** Returns the faults to set before an order is placed. */
  faultsOf(order: number): readonly OrderFault[] {
    return this.#initial.get(order) ?? [];
  }

  #addExecution(
    { sequence }: TracedCommand,
    transaction: number,
    event: DomainEvent,
    { block, height, isEarlier }: { block: ObservedBlock; height: number; isEarlier: boolean },
  ): void {
    const { content, firstTrade } = this.#end.chain.transactions.get(transaction);
    if (content !== null || (event.kind === "transactionHeld" && event.hold === "UNDERPRICED")) return;
    const terms = faultIn(event, height);
    if (terms === null) this.#faultless.set(transaction, block);
    else if (!isEarlier) {
      const order = this.#end.trades.get(firstTrade).taker;
      const initial = this.#initial.get(order) ?? [];
      this.#initial.set(order, initial);
      (this.#faultless.get(transaction)?.faults ?? initial).push({ order, terms });
      this.faulted.add(order);
    } else if (terms.fault === "fail") {
      throw new RecordingError(
        `a settlement from before the session failed in it (sequence ${sequence}), but a scenario begins with everything settled`,
      );
    }
  }
}

const ONCE = { probability: CERTAIN, times: 1, blocks: 0, baseFee: 0, reason: null } as const;
const ON_REQUEST = "made to fail on request";
/** Reasons of failures that cannot happen in a scenario, because its accounts have approved the exchange. */
const MISSING_APPROVAL = /allowance|approval/;

/** Returns the fault with the effect of an event; null if there was none, or it happens in a scenario without a fault. */
function faultIn(event: DomainEvent, height: number): SettlementFaultTerms | null {
  switch (event.kind) {
    case "transactionHeld":
      if (event.hold === "DELAYED") return { ...ONCE, fault: "delay", blocks: event.notBefore - height };
      return event.hold === "RETRIED" ? { ...ONCE, fault: "retry" } : null;
    case "settlementLost":
      return { ...ONCE, fault: "ghost" };
    case "settlementFailed": {
      if (event.fault === 0 && !MISSING_APPROVAL.test(event.reason)) return null;
      return { ...ONCE, fault: "fail", reason: event.reason === ON_REQUEST ? null : event.reason };
    }
    default:
      return null;
  }
}

/** Counts the blocks that events begin. */
function blocksIn(events: readonly DomainEvent[]): number {
  let count = 0;
  for (const event of events) {
    if (event.kind === "blockOpened") count += 1;
    else if (event.kind === "blocksMined") count += 1 + event.empty;
  }
  return count;
}
