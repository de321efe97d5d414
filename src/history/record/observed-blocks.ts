import { CERTAIN, type SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import { isCausedByTime } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import type { SettlementMode } from "../../core/terms.ts";
import type { ObservedCommand } from "./observed-session.ts";

/** One block of a session that was put together transaction by transaction, or a run of others. */
export interface ObservedBlock {
  readonly count: number;
  /** Settlements that were looked at and could have met a fault, in order. */
  readonly looked: readonly number[];
  /** What befell them, by transaction: as the terms of a fault for that one. */
  readonly struck: ReadonlyMap<number, SettlementFaultTerms>;
  /** Whether one of them failed because a wallet did not let the exchange move what it has. */
  readonly isAnyForbidden: boolean;
}

/** The blocks of a session, by what began them and by what asked for them. */
export class ObservedBlocks {
  readonly #begun = new Map<ObservedCommand, Building>();
  readonly #asked = new Map<ObservedCommand, Building[]>();
  readonly #end: State;

  constructor(acts: readonly ObservedCommand[], end: State, mode: SettlementMode) {
    this.#end = end;
    let deed: ObservedCommand | null = null;
    let expiry: ObservedCommand | null = null;
    let building: Building | null = null;
    for (const act of acts) {
      if (!isCausedByTime(act.command)) deed = act;
      if (act.command.kind === "expireOrder" && expiry?.at !== act.at) expiry = act;
      const count = blocksIn(act.events);
      if (count > 0) {
        const height = heightIn(act.events);
        building = { count, height, looked: [], struck: new Map(), isAnyForbidden: false };
        this.#begun.set(act, building);
        const isAsked = deed !== null && deed !== act && deed.at === act.at;
        if (deed !== null && isAsked && (mode === "instant" || deed.command.kind === "mineBlocks")) {
          this.#follow(deed, building);
        } else if (expiry !== null && expiry.at === act.at) this.#follow(expiry, building);
      } else if (act.command.kind === "executeTransaction" && building !== null) {
        this.#look(building, act.command.transaction, act.events);
      }
    }
  }

  /** The block that an act begins, if it does. */
  begunBy(act: ObservedCommand): ObservedBlock | undefined {
    return this.#begun.get(act);
  }

  /** The blocks that follow at once because of an act, or at the moment of the first expiration of that moment. */
  askedBy(act: ObservedCommand): readonly ObservedBlock[] {
    return this.#asked.get(act) ?? [];
  }

  /** Every one of them. */
  get all(): Iterable<ObservedBlock> {
    return this.#begun.values();
  }

  #follow(act: ObservedCommand, building: Building): void {
    this.#asked.set(act, [...(this.#asked.get(act) ?? []), building]);
  }

  #look(building: Building, transaction: number, events: readonly DomainEvent[]): void {
    const { height, looked, struck } = building;
    if (this.#end.chain.transactions.get(transaction).content !== null) return;
    const own = events.find((event) => "transaction" in event && event.transaction === transaction);
    if (own === undefined || (own.kind === "transactionHeld" && own.hold === "UNDERPRICED")) return;
    looked.push(transaction);
    const terms = faultIn(own, height);
    if (terms !== null) struck.set(transaction, terms);
    if (terms !== null && own.kind === "settlementFailed" && own.fault === 0) building.isAnyForbidden = true;
  }
}

interface Building extends ObservedBlock {
  readonly height: number;
  readonly looked: number[];
  readonly struck: Map<number, SettlementFaultTerms>;
  isAnyForbidden: boolean;
}

const ONCE = { probability: CERTAIN, times: 1, blocks: 0, baseFee: 0, reason: null } as const;
const ON_REQUEST = "made to fail on request";
/** A failure that no scenario's own accounts lead to: all of them allow the exchange to move what they have. */
const WITHOUT_LEAVE = /allowance|approval/;

/** What befell a settlement, as a fault of its own; null when nothing did that would not come by itself. */
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
export function blocksIn(events: readonly DomainEvent[]): number {
  let count = 0;
  for (const event of events) {
    if (event.kind === "blockOpened") count += 1;
    else if (event.kind === "blocksMined") count += 1 + event.empty;
  }
  return count;
}

const heightIn = (events: readonly DomainEvent[]): number =>
  events.find((event) => event.kind === "blockOpened")?.height ?? 0;
