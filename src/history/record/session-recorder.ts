import { confirmationsOf, DEFAULT_BASE_FEE, headOf } from "../../core/chain/chain.ts";
import type { SettlementFault } from "../../core/chain/settlement-fault.ts";
import { type Command, type CommandOf, isCausedByTime } from "../../core/commands.ts";
import { tokenOf } from "../../core/market.ts";
import { nextDueAt } from "../../core/schedule.ts";
import type { State } from "../../core/state.ts";
import { NEXT_ORDER } from "../../scenario/language/parts.ts";
import { orderStateText } from "../../scenario/run/words.ts";
import { type Entry, list, map, type Step } from "../scenario-text.ts";
import type { TracedCommand } from "../trace.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { ObservedBlock, ObservedBlocks, OrderFault } from "./observed-blocks.ts";
import { raisedIn } from "./opening-steps.ts";
import type { Script } from "./script.ts";
import { isWaiting, RecordingError } from "./told-commands.ts";

/** After so many trades they are compared. */
const TRADES_COMPARED = 50;

/**
 * Writes what a session did, command by command, as steps with what was observed of each. Blocks that time mines come by
 * themselves where the steps bring the same time; where the session had one that its own scenario would not have (what was
 * pending before, or what is left out, asked for it), a step mines it. A fault names the order whose settlement it hits;
 * spikes of the base fee are for all.
 */
export class SessionRecorder {
  /** Trades that no step has compared yet. */
  trades: string[] = [];
  readonly #script: Script;
  readonly #blocks: ObservedBlocks;
  readonly #words: Vocabulary;
  /** How many blocks the session has had, and how many of them would change nothing here and are not written. */
  #had = 0;
  #idle = 0;
  /** The orders that faults in force are of, by their numbers in the scenario's own exchange. */
  readonly #faulty = new Map<number, number>();

  constructor(script: Script, blocks: ObservedBlocks) {
    this.#script = script;
    this.#blocks = blocks;
    this.#words = script.told.words;
  }

  /** Records a command, or, of one that no step says, what follows from it. */
  add(traced: TracedCommand, isTold: boolean): void {
    if (isTold) this.#write(traced);
    this.#follow(traced);
    for (const event of traced.events) {
      if (event.kind === "orderTraded") this.trades.push(this.#words.fill(event).trade);
    }
    if (this.trades.length < TRADES_COMPARED) return;
    this.#script.say(["expect", map([["trades", list(this.trades)]])]);
    this.trades = [];
  }

  /** The session is over: all its time is written. */
  finish(sequence: number): void {
    this.#script.catchUp();
    this.#compare(sequence);
  }

  #write(traced: TracedCommand): void {
    const { command } = traced;
    const isTimed = isCausedByTime(command);
    if (!isTimed || command.kind === "expireOrder") this.#passTime(traced);
    if (isTimed) return;
    this.#compare(traced.sequence);
    // Events, markets and keys are there from the start; gas money changes nothing that a scenario sees.
    const step = this.#words.step(traced);
    if (command.kind === "fundAccount") this.#fund(traced, command);
    else if (command.kind === "setSettlementFault") {
      if (command.fault === "gasSpike") this.#script.fault(command);
    } else if (command.kind === "endSettlementFault") this.#endSpike(traced, command);
    else if (command.kind === "mineBlocks") this.#mineAsked(traced);
    else if (step === null || "cannotSay" in step) return;
    else if (command.kind === "placeOrder") this.#place(traced, step);
    else if (command.kind === "sendTransaction") this.#send(traced, step);
    else this.#script.do(traced, ...step);
  }

  /** Moves the clock where that decides something: while an order waits for its expiration, and when blocks are mined. */
  #passTime(traced: TracedCommand): void {
    const { at, command, before } = traced;
    const isSilent = command.kind === "deriveCredentials" || command.kind === "createMarket";
    const matters =
      before.isTimed ||
      (command.kind === "placeOrder" && command.expiration !== null) ||
      (!isSilent && this.#isClocked(traced));
    if (!matters || at === this.#script.now) return;
    const expiring = command.kind === "expireOrder" ? this.#script.told.names.get(command.order) : undefined;
    if (expiring === undefined) this.#script.passTo(at);
    else this.#script.passTo(at, `expiry of ${expiring}`);
  }

  /** Whether the moment of a command decides when the next blocks come. */
  #isClocked({ at, command, events }: TracedCommand): boolean {
    const { state, isBehind } = this.#script;
    if (isBehind) return true;
    if (state.config.settlement !== "auto") return false;
    const dueAt = nextDueAt(state);
    if (dueAt !== null && dueAt <= at) return true;
    if (command.kind === "mineBlocks") return true;
    return state.chain.nextBlockAt === null && (STARTING.has(command.kind) || isTrading(events));
  }

  #place(traced: TracedCommand, step: Step): void {
    const { sequence, placed, events } = traced;
    if (placed === null) return;
    const { order, look } = placed;
    for (const fault of this.#blocks.faultsOf(order)) this.#setFault(fault, true);
    const fills = events.flatMap((event) =>
      event.kind === "orderTraded" ? [this.#words.fill(event).fill] : [],
    );
    const filled: Entry[] = fills.length === 0 ? [] : [["fills", list(fills)]];
    this.#script.do(traced, ...step, ["status", orderStateText(look)], ...filled);
    const { status, matched, size, cancelReason: reason } = this.#script.orderOf(order);
    const found = orderStateText({ status, matched, size, reason });
    if (found === orderStateText(look)) return;
    throw new RecordingError(
      `the order of sequence ${sequence} became ${orderStateText(look)}, and in a scenario of the session it becomes ${found}: what was pending when it began decided that`,
    );
  }

  /** What an account is given, and what a raised grant mints for it at once. */
  #fund({ sequence, events }: TracedCommand, command: CommandOf<"fundAccount">): void {
    const account = this.#words.named(command.address);
    const { tokenById } = this.#script.told.session.end;
    const given: (readonly [token: number, amount: number])[] = [[0, command.collateral]];
    for (const { tokenId, size } of command.tokens) given.push([tokenById.get(tokenId) ?? 0, size]);
    for (const { market, size } of raisedIn(command, events)) {
      given.push([tokenOf(market, "YES"), size], [tokenOf(market, "NO"), size]);
    }
    for (const [token, amount] of given) {
      if (amount > 0) this.#script.fund(sequence, account, token, amount);
    }
  }

  /** After a command, whether it is written or not: takes note of the block that it begins, and sees that the scenario has it. */
  #follow(observed: TracedCommand): void {
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
  #compare(sequence: number): void {
    const { blocks, state } = this.#script;
    if (state.config.settlement === "instant") this.#idle = this.#had - blocks;
    if (blocks + this.#idle === this.#had) return;
    throw new RecordingError(
      `before sequence ${sequence} the session had mined ${this.#had} blocks where a scenario of it mines ${blocks + this.#idle}: what was pending when it began, or a mode of mining that was set in it, decides when blocks are mined`,
    );
  }

  #mineAsked(observed: TracedCommand): void {
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
  #send(traced: TracedCommand, step: Step): void {
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
    for (const fault of faults) this.#setFault(fault, false);
  }

  /** Sets a fault of an order that is placed next, or was placed before. */
  #setFault({ order, terms }: OrderFault, isNext: boolean): void {
    const own = isNext ? this.#script.state.orders.next : this.#script.orderOf(order).number;
    this.#faulty.set(own, order);
    this.#script.fault(terms, own, isNext ? NEXT_ORDER : (this.#script.told.names.get(order) ?? ""));
  }

  /** The base fee is that of the highest spike. What ends it ends all faults: those of orders are set again. */
  #endSpike(
    { sequence, before: { faults } }: TracedCommand,
    { number }: CommandOf<"endSettlementFault">,
  ): void {
    const left = number === null ? [] : faults.filter((fault) => fault.number !== number);
    const [before, after] = [highest(faults), highest(left)];
    if (before === after) return;
    if (after !== DEFAULT_BASE_FEE) {
      throw new RecordingError(
        `sequence ${sequence} ends one of several spikes of the base fee, and no step of a scenario ends one alone`,
      );
    }
    const pending = this.#script.state.chain.faults.flatMap(({ number: _, struck: __, order, ...terms }) => {
      const own = order === undefined ? undefined : this.#faulty.get(order);
      return own === undefined ? [] : [{ order: own, terms }];
    });
    this.#script.submit({ kind: "endSettlementFault", number: null }, sequence, [["chain fault", "none"]]);
    for (const fault of pending) this.#setFault(fault, false);
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

const highest = (faults: readonly SettlementFault[]): number =>
  Math.max(DEFAULT_BASE_FEE, ...faults.map(({ baseFee }) => baseFee));
