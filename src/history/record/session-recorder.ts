import { type CommandOf, isCausedByTime } from "../../core/commands.ts";
import { tokenOf } from "../../core/market.ts";
import { orderStateText } from "../../scenario/run/words.ts";
import { type Entry, list, map, type Step } from "../scenario-text.ts";
import type { TracedCommand } from "../trace.ts";
import type { Vocabulary } from "../vocabulary.ts";
import { raisedIn } from "./opening-steps.ts";
import type { Script } from "./script.ts";
import type { SettlementRecorder } from "./settlement-recorder.ts";
import { RecordingError } from "./told-commands.ts";

/** After so many trades they are compared. */
const TRADES_COMPARED = 50;

/** Writes what a session did, command by command, as steps with what was observed of each. */
export class SessionRecorder {
  /** Trades that no step has compared yet. */
  trades: string[] = [];
  readonly #script: Script;
  readonly #chain: SettlementRecorder;
  readonly #words: Vocabulary;

  constructor(script: Script, chain: SettlementRecorder) {
    this.#script = script;
    this.#chain = chain;
    this.#words = script.told.words;
  }

  /** Records a command, or, of one that no step says, what follows from it. */
  add(traced: TracedCommand, isTold: boolean): void {
    if (isTold) this.#write(traced);
    this.#chain.follow(traced);
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
    this.#chain.compare(sequence);
  }

  #write(traced: TracedCommand): void {
    const { command } = traced;
    const isTimed = isCausedByTime(command);
    if (!isTimed || command.kind === "expireOrder") this.#passTime(traced);
    if (isTimed) return;
    this.#chain.compare(traced.sequence);
    // Events, markets and keys are there from the start; gas money changes nothing that a scenario sees.
    const step = this.#words.step(traced);
    if (command.kind === "fundAccount") this.#fund(traced, command);
    else if (command.kind === "setSettlementFault") this.#chain.faults.setSpike(command);
    else if (command.kind === "endSettlementFault") this.#chain.faults.endSpike(traced, command);
    else if (command.kind === "mineBlocks") this.#chain.mine(traced);
    else if (step === null || "cannotSay" in step) return;
    else if (command.kind === "placeOrder") this.#place(traced, step);
    else if (command.kind === "sendTransaction") this.#chain.send(traced, step);
    else this.#script.do(traced, ...step);
  }

  /** Moves the clock where that decides something: while an order waits for its expiration, and when blocks are mined. */
  #passTime(traced: TracedCommand): void {
    const { at, command, before } = traced;
    const isSilent = command.kind === "deriveCredentials" || command.kind === "createMarket";
    const matters =
      before.isTimed ||
      (command.kind === "placeOrder" && command.expiration !== null) ||
      (!isSilent && this.#chain.isClocked(traced));
    if (!matters || at === this.#script.now) return;
    const expiring = command.kind === "expireOrder" ? this.#script.told.names.get(command.order) : undefined;
    if (expiring === undefined) this.#script.passTo(at);
    else this.#script.passTo(at, `expiry of ${expiring}`);
  }

  #place(traced: TracedCommand, step: Step): void {
    const { sequence, placed, events } = traced;
    if (placed === null) return;
    const { order, look } = placed;
    this.#chain.beforeOrder(order);
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
}
