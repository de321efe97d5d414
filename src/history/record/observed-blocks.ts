import { CERTAIN, type SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import { isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import type { TracedCommand } from "../trace.ts";
import { RecordingError } from "./told-commands.ts";

/** A fault that hits the settlement of one order, by its number in the session. */
export interface OrderFault {
  readonly order: number;
  readonly terms: SettlementFaultTerms;
}

/** One block of a session that was put together transaction by transaction, or a run of others. */
export interface ObservedBlock {
  readonly count: number;
  /** The faults to set behind it, for what it has had without a fault and a later block has with one. */
  readonly faults: OrderFault[];
}

/** The blocks of a session, and what went wrong with settlements in them, written as one fault for each time. */
export class ObservedBlocks {
  readonly #begun = new Map<TracedCommand, ObservedBlock>();
  readonly #asked = new Map<TracedCommand, ObservedBlock[]>();
  readonly #first = new Map<number, OrderFault[]>();
  /** The block that has last had a settlement without a fault. */
  readonly #spared = new Map<number, ObservedBlock>();
  readonly #end: State;
  /** The orders that faults hit. */
  readonly hit = new Set<number>();

  /** @throws RecordingError when a settlement of before the session fails in it. */
  constructor(commands: readonly TracedCommand[], opening: State, end: State) {
    this.#end = end;
    const { size: before } = opening.chain.transactions;
    let deed: TracedCommand | null = null;
    let block: ObservedBlock | null = null;
    let height = 0;
    let mined = before;
    for (const observed of commands) {
      const { command, events } = observed;
      if (!isCausedByTime(command)) deed = observed;
      const count = blocksIn(events);
      if (count > 0) {
        block = { count, faults: [] };
        this.#begun.set(observed, block);
        if (deed?.command.kind === "mineBlocks" && deed !== observed && deed.at === observed.at) {
          this.#asked.set(deed, [...this.askedBy(deed), block]);
        }
        for (const event of events) {
          if (event.kind === "blockOpened") height = event.height;
          if (event.kind !== "blocksMined") continue;
          for (; mined < event.lastTransaction; mined += 1) this.#spared.set(mined + 1, block);
        }
      } else if (command.kind === "executeTransaction" && block !== null) {
        const { transaction } = command;
        const own = events.find((event) => "transaction" in event && event.transaction === transaction);
        if (own !== undefined)
          this.#look(observed, transaction, own, { block, height, isForeign: transaction <= before });
      }
    }
  }

  /** The block that a command begins, if it does. */
  begunBy(observed: TracedCommand): ObservedBlock | undefined {
    return this.#begun.get(observed);
  }

  /** The blocks that somebody mined by a command. */
  askedBy(observed: TracedCommand): readonly ObservedBlock[] {
    return this.#asked.get(observed) ?? [];
  }

  /** What to set before an order is placed. */
  faultsOf(order: number): readonly OrderFault[] {
    return this.#first.get(order) ?? [];
  }

  #look(
    { sequence }: TracedCommand,
    transaction: number,
    event: DomainEvent,
    { block, height, isForeign }: { block: ObservedBlock; height: number; isForeign: boolean },
  ): void {
    const { content, firstTrade } = this.#end.chain.transactions.get(transaction);
    if (content !== null || (event.kind === "transactionHeld" && event.hold === "UNDERPRICED")) return;
    const terms = faultIn(event, height);
    if (terms === null) this.#spared.set(transaction, block);
    else if (!isForeign) {
      const order = this.#end.trades.get(firstTrade).taker;
      const first = this.#first.get(order) ?? [];
      this.#first.set(order, first);
      (this.#spared.get(transaction)?.faults ?? first).push({ order, terms });
      this.hit.add(order);
    } else if (terms.fault === "fail") {
      throw new RecordingError(
        `a settlement of before the session failed in it (sequence ${sequence}), and a scenario begins with everything settled`,
      );
    }
  }
}

const ONCE = { probability: CERTAIN, times: 1, blocks: 0, baseFee: 0, reason: null } as const;
const ON_REQUEST = "made to fail on request";
/** A failure that no scenario's own accounts lead to: all of them allow the exchange to move what they have. */
const WITHOUT_LEAVE = /allowance|approval/;

/** What hit a settlement, as a fault of its own; null when nothing did that would not come by itself. */
function faultIn(event: DomainEvent, height: number): SettlementFaultTerms | null {
  switch (event.kind) {
    case "transactionHeld":
      if (event.hold === "DELAYED") return { ...ONCE, fault: "delay", blocks: event.notBefore - height };
      return event.hold === "RETRIED" ? { ...ONCE, fault: "retry" } : null;
    case "settlementLost":
      return { ...ONCE, fault: "ghost" };
    case "settlementFailed": {
      if (event.fault === 0 && !WITHOUT_LEAVE.test(event.reason)) return null;
      return { ...ONCE, fault: "fail", reason: event.reason === ON_REQUEST ? null : event.reason };
    }
    default:
      return null;
  }
}

/** How many blocks events begin. */
function blocksIn(events: readonly DomainEvent[]): number {
  let count = 0;
  for (const event of events) {
    if (event.kind === "blockOpened") count += 1;
    else if (event.kind === "blocksMined") count += 1 + event.empty;
  }
  return count;
}
