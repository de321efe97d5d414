import { confirmationsOf, headOf } from "../../core/chain/chain.ts";
import type { Command, ReorganizeChain, SendTransaction } from "../../core/commands.ts";
import type { State } from "../../core/state.ts";
import { FaultTelling } from "./fault-telling.ts";
import type { ObservedBlocks } from "./observed-blocks.ts";
import type { Act } from "./observed-session.ts";
import { positionIn, positionText } from "./position-change.ts";
import { RecordingError } from "./recording-error.ts";
import type { Script } from "./script.ts";
import { isWaiting } from "./told-calls.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * Tells what a session did on the settlement chain. Blocks that time mines come by themselves where the steps bring the
 * same time; where the session had one that its own scenario would not have (what was pending before, or what is left
 * out, asked for it), a step mines it.
 */
export class ChainTelling {
  readonly faults: FaultTelling;
  readonly #script: Script;
  readonly #words: Vocabulary;
  readonly #blocks: ObservedBlocks;
  readonly #end: State;
  /** How many blocks the session has had, and how many of them would change nothing here and are not told. */
  #had = 0;
  #idle = 0;

  constructor(script: Script, words: Vocabulary, blocks: ObservedBlocks, end: State, byBlock: boolean) {
    this.#script = script;
    this.#words = words;
    this.#blocks = blocks;
    this.#end = end;
    this.faults = new FaultTelling(script, byBlock);
  }

  /** Whether the moment of an act decides when the next blocks come. */
  isClocked({ at, command, events }: Act): boolean {
    const { twin, state, isBehind } = this.#script;
    if (isBehind) return true;
    if (state.config.settlement !== "auto") return false;
    const { nextDueAt } = twin;
    if (nextDueAt !== null && nextDueAt <= at) return true;
    if (command.kind === "mineBlocks") return true;
    return state.chain.nextBlockAt === null && (STARTING.has(command.kind) || isTrading(events));
  }

  /** Before an act: the scenario has had as many blocks as the session, and what befalls a block at once is in force. */
  prepare(act: Act): void {
    this.compare(act.sequence);
    if (act.command.kind === "mineBlocks") return;
    const coming = new Map<number, number>();
    for (const event of act.events) {
      if (event.kind === "orderTraded")
        coming.set(event.transaction, this.#script.state.chain.transactions.next);
    }
    for (const block of this.#blocks.askedBy(act)) this.faults.tell(act, block, coming);
  }

  /** Before time comes to an expiration: what befalls a block of the same moment is in force. */
  prepareTime(act: Act): void {
    for (const block of this.#blocks.askedBy(act)) {
      if (this.faults.comeBefore(block)) this.#script.catchUp();
      this.faults.tell(act, block);
    }
  }

  /** After an act, whether it is told or not: takes note of the block that it begins, and sees that the scenario has it. */
  follow(act: Act): void {
    const block = this.#blocks.begunBy(act);
    if (block === undefined) return;
    this.#had += block.count;
    const { twin, state } = this.#script;
    const missing = this.#had - this.#idle - twin.blocks;
    if (missing <= 0) return;
    if (state.chain.nextBlockAt === act.at) {
      if (this.faults.comeBefore(block)) this.#script.catchUp();
      this.faults.tell(act, block);
      this.#script.foresee(act.at);
    } else if (isSettled(state)) {
      this.#idle += missing;
    } else {
      if (state.config.settlement === "auto") this.#script.passTo(act.at);
      this.faults.tell(act, block);
      this.#mine(missing);
    }
  }

  /** @throws RecordingError when the scenario has had other blocks than the session; at once, blocks are no matter of time. */
  compare(sequence: number): void {
    const { twin, state } = this.#script;
    if (state.config.settlement === "instant") this.#idle = this.#had - twin.blocks;
    if (twin.blocks + this.#idle === this.#had) return;
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `before sequence ${sequence} the session had mined ${this.#had} blocks where a scenario of it mines ${twin.blocks + this.#idle}: what was pending when it began decides when blocks are mined`,
    );
  }

  mine(act: Act): void {
    let together = 0;
    for (const block of this.#blocks.askedBy(act)) {
      if (this.faults.comeBefore(block)) {
        this.#mine(together);
        together = 0;
      }
      this.faults.tell(act, block);
      together += block.count;
    }
    this.#mine(together);
  }

  /** What nothing has come of yet is told only where a wallet would send it: its trial comes to something. */
  send({ sequence, events }: Act, command: SendTransaction): void {
    const end = this.#end;
    const account = end.accountByAddress.get(command.from);
    const position = positionIn(end, command);
    if (account === undefined || position === null) throw new Error(`sequence ${sequence} is no step`);
    const { market, change } = position;
    const name = this.#words.account(account);
    const attempt = this.#script.twin.call(name, this.#words.market(market), change);
    const isIdle = events.some(
      (sent) => sent.kind === "transactionSent" && isWaiting({ end }, sent.transaction),
    );
    if (!attempt.ok && isIdle) return;
    this.#script.done(sequence, attempt, [name, positionText(change) + this.#words.inMarket(market)]);
  }

  reorganize({ sequence }: Act, command: ReorganizeChain): void {
    this.#script.done(sequence, this.#script.twin.submit(command), ["reorg", String(command.depth)]);
  }

  bump(): void {
    this.#script.twin.submit({ kind: "bumpFees" });
    this.#script.say(["bump", "fees"]);
  }

  #mine(count: number): void {
    if (count === 0) return;
    this.#script.twin.submit({ kind: "mineBlocks", count });
    this.#script.say(["mine", String(count)]);
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

const isTrading = (events: Act["events"]): boolean => events.some(({ kind }) => kind === "orderTraded");

/** Whether one more block would change nothing: everything is final. */
function isSettled({ chain, config }: State): boolean {
  const final = headOf(chain) - confirmationsOf(config.settlement);
  return chain.pending === 0 && (chain.lastFilled === null || chain.lastFilled <= final);
}
