import { confirmationsOf, headOf, QUIET_BASE_FEE } from "../../core/chain/chain.ts";
import type { SettlementFault, SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { Command, CommandOf } from "../../core/commands.ts";
import { nextDueAt } from "../../core/schedule.ts";
import type { State } from "../../core/state.ts";
import { NEXT_ORDER } from "../../scenario/language/parts.ts";
import type { Step } from "../scenario-text.ts";
import type { TracedCommand } from "../trace.ts";
import type { ObservedBlock, ObservedBlocks, OrderFault } from "./observed-blocks.ts";
import type { Script } from "./script.ts";
import { isWaiting, RecordingError } from "./told-commands.ts";

/**
 * Records what a session did on the settlement chain. Blocks that time mines come by themselves where the steps bring the
 * same time; where the session had one that its own scenario would not have (what was pending before, or what is left
 * out, asked for it), a step mines it.
 */
export class SettlementRecorder {
  readonly faults: FaultRecorder;
  readonly #script: Script;
  readonly #blocks: ObservedBlocks;
  /** How many blocks the session has had, and how many of them would change nothing here and are not written. */
  #had = 0;
  #idle = 0;

  constructor(script: Script, blocks: ObservedBlocks) {
    this.#script = script;
    this.#blocks = blocks;
    this.faults = new FaultRecorder(script);
  }

  /** Whether the moment of a command decides when the next blocks come. */
  isClocked({ at, command, events }: TracedCommand): boolean {
    const { state, isBehind } = this.#script;
    if (isBehind) return true;
    if (state.config.settlement !== "auto") return false;
    const dueAt = nextDueAt(state);
    if (dueAt !== null && dueAt <= at) return true;
    if (command.kind === "mineBlocks") return true;
    return state.chain.nextBlockAt === null && (STARTING.has(command.kind) || isTrading(events));
  }

  /** Sets what goes wrong with the settlement of an order that is placed next. */
  beforeOrder(order: number): void {
    for (const fault of this.#blocks.faultsOf(order)) this.faults.set(fault, true);
  }

  /** After a command, whether it is written or not: takes note of the block that it begins, and sees that the scenario has it. */
  follow(observed: TracedCommand): void {
    const block = this.#blocks.begunBy(observed);
    if (block === undefined) return;
    this.#had += block.count;
    const { state, blocks } = this.#script;
    const missing = this.#had - this.#idle - blocks;
    if (missing > 0) {
      if (state.chain.nextBlockAt === observed.at) {
        this.#script.foresee(observed.at);
      } else if (isSettled(state)) {
        this.#idle += missing;
      } else {
        if (state.config.settlement === "auto") this.#script.passTo(observed.at);
        this.#mine(missing);
      }
    }
    this.#setBehind(block);
  }

  /** @throws RecordingError when the scenario has had other blocks than the session; at once, blocks are no matter of time. */
  compare(sequence: number): void {
    const { blocks, state } = this.#script;
    if (state.config.settlement === "instant") this.#idle = this.#had - blocks;
    if (blocks + this.#idle === this.#had) return;
    throw new RecordingError(
      `before sequence ${sequence} the session had mined ${this.#had} blocks where a scenario of it mines ${blocks + this.#idle}: what was pending when it began, or a mode of mining that was set in it, decides when blocks are mined`,
    );
  }

  mine(observed: TracedCommand): void {
    let together = 0;
    for (const block of this.#blocks.askedBy(observed)) {
      together += block.count;
      if (block.faults.length === 0) continue;
      this.#mine(together);
      together = 0;
      this.#setBehind(block);
    }
    this.#mine(together);
  }

  /** What nothing has come of yet is written only where a wallet would send it: its trial comes to something. */
  send(traced: TracedCommand, step: Step): void {
    const isIdle = traced.events.some(
      (sent) => sent.kind === "transactionSent" && isWaiting(this.#script.told.session, sent.transaction),
    );
    this.#script.call(traced, step, isIdle);
  }

  #mine(count: number): void {
    if (count === 0) return;
    this.#script.submit({ kind: "mineBlocks", count }, 0, [["mine", String(count)]]);
  }

  #setBehind(block: ObservedBlock): void {
    const faults = block.faults.splice(0);
    if (faults.length > 0) this.#script.catchUp();
    for (const fault of faults) this.faults.set(fault, false);
  }
}

/** What may be the first to ask for a block, besides a trade. */
const STARTING: ReadonlySet<Command["kind"]> = new Set<Command["kind"]>([
  "resolveMarket",
  "sendTransaction",
  "reorganizeChain",
  "endSettlementFault",
  "bumpFees",
]);

const isTrading = (events: TracedCommand["events"]): boolean =>
  events.some(({ kind }) => kind === "orderTraded");

/** Whether one more block would change nothing: everything is final. */
function isSettled({ chain, config }: State): boolean {
  const final = headOf(chain) - confirmationsOf(config.settlement);
  return chain.pending === 0 && (chain.lastFilled === null || chain.lastFilled <= final);
}

/** Writes what goes wrong with settlements: each fault names the order that it hits. Spikes of the base fee are for all. */
class FaultRecorder {
  readonly #script: Script;
  /** The orders that faults in force are of, by their numbers in the scenario's own exchange. */
  readonly #orders = new Map<number, number>();

  constructor(script: Script) {
    this.#script = script;
  }

  /** Sets a fault of an order that is placed next, or was placed before. */
  set({ order, terms }: OrderFault, isNext: boolean): void {
    const own = isNext ? this.#script.state.orders.next : this.#script.orderOf(order).number;
    this.#orders.set(own, order);
    this.#script.fault(terms, own, isNext ? NEXT_ORDER : (this.#script.told.names.get(order) ?? ""));
  }

  setSpike(terms: SettlementFaultTerms): void {
    if (terms.fault === "gasSpike") this.#script.fault(terms);
  }

  /** The base fee is that of the highest spike. What ends it ends all faults: those of orders are set again. */
  endSpike(
    { sequence, before: { faults } }: TracedCommand,
    { number }: CommandOf<"endSettlementFault">,
  ): void {
    const left = number === null ? [] : faults.filter((fault) => fault.number !== number);
    const [before, after] = [highest(faults), highest(left)];
    if (before === after) return;
    if (after !== QUIET_BASE_FEE) {
      throw new RecordingError(
        `sequence ${sequence} ends one of several spikes of the base fee, and no step of a scenario ends one alone`,
      );
    }
    const pending = this.#script.state.chain.faults.flatMap(({ number: _, struck: __, order, ...terms }) => {
      const own = order === undefined ? undefined : this.#orders.get(order);
      return own === undefined ? [] : [{ order: own, terms }];
    });
    this.#script.submit({ kind: "endSettlementFault", number: null }, sequence, [["chain fault", "none"]]);
    for (const fault of pending) this.set(fault, false);
  }
}

const highest = (faults: readonly SettlementFault[]): number =>
  Math.max(QUIET_BASE_FEE, ...faults.map(({ baseFee }) => baseFee));
