import { confirmationsOf, headOf, QUIET_BASE_FEE } from "../../core/chain/chain.ts";
import {
  CERTAIN,
  chanceOf,
  type SettlementFault,
  type SettlementFaultTerms,
} from "../../core/chain/settlement-fault.ts";
import type { Command, CommandOf } from "../../core/commands.ts";
import type { State } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import type { ObservedBlock, ObservedBlocks } from "./observed-blocks.ts";
import {
  isWaiting,
  type ObservedCommand,
  type ObservedSession,
  positionIn,
  positionText,
  RecordingError,
} from "./observed-session.ts";
import type { Script } from "./script.ts";
import type { Vocabulary } from "./session-names.ts";
import { faultStep, sayableTerms } from "./yaml-text.ts";

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
  isClocked({ at, command, events }: ObservedCommand): boolean {
    const { twin, state, isBehind } = this.#script;
    if (isBehind) return true;
    if (state.config.settlement !== "auto") return false;
    const { nextDueAt } = twin;
    if (nextDueAt !== null && nextDueAt <= at) return true;
    if (command.kind === "mineBlocks") return true;
    return state.chain.nextBlockAt === null && (STARTING.has(command.kind) || isTrading(events));
  }

  /** Before an act: the scenario has had as many blocks as the session, and what befalls a block at once is in force. */
  prepare(act: ObservedCommand): void {
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
  prepareTime(act: ObservedCommand): void {
    for (const block of this.#blocks.askedBy(act)) {
      if (this.faults.comeBefore(block)) this.#script.catchUp();
      this.faults.tell(act, block);
    }
  }

  /** After an act, whether it is told or not: takes note of the block that it begins, and sees that the scenario has it. */
  follow(act: ObservedCommand): void {
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

  mine(act: ObservedCommand): void {
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
  send({ sequence, events }: ObservedCommand, command: CommandOf<"sendTransaction">): void {
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

  reorganize({ sequence }: ObservedCommand, command: CommandOf<"reorganizeChain">): void {
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

const isTrading = (events: ObservedCommand["events"]): boolean =>
  events.some(({ kind }) => kind === "orderTraded");

/** Whether one more block would change nothing: everything is final. */
function isSettled({ chain, config }: State): boolean {
  const final = headOf(chain) - confirmationsOf(config.settlement);
  return chain.pending === 0 && (chain.lastFilled === null || chain.lastFilled <= final);
}

/** Befalls nothing, and takes a number. */
const HARMLESS: SettlementFaultTerms = {
  fault: "fail",
  probability: 0,
  times: null,
  blocks: 0,
  baseFee: 0,
  reason: null,
};
/** How many numbers are tried for a fault whose draws spare what it must spare. */
const MOST_NUMBERS = 1_000;

/**
 * Whether a session's faults are told one by one, right before the block in which each befell something. They are when
 * what they befall depends on more than the order of the session's own settlements: on a draw, which is made with
 * numbers that a scenario does not share; on settlements and faults of before the session; on what wallets allow.
 */
export function areToldByBlock(session: ObservedSession, blocks: ObservedBlocks): boolean {
  const { opening, acts } = session;
  const before = opening.chain.transactions.size;
  if (opening.chain.faults.some(({ fault }) => fault !== "gasSpike")) return true;
  for (const { looked, struck, isAnyForbidden } of blocks.all) {
    const isForeign = struck.size > 0 && looked.some((transaction) => transaction <= before);
    if (isForeign || isAnyForbidden) return true;
  }
  return acts.some(({ command, faults }) => {
    if (command.kind === "setSettlementFault") {
      return command.fault !== "gasSpike" && command.probability !== CERTAIN;
    }
    return command.kind === "endSettlementFault" && endWords(command, faults) === null;
  });
}

/** The step that ends what a command ends of some faults; null when none ends just that. */
function endWords(
  { number }: CommandOf<"endSettlementFault">,
  faults: readonly SettlementFault[],
): [string, string] | null {
  const ended = faults.find((fault) => fault.number === number);
  if (number === null || faults.length === 1) return ["chain fault", "none"];
  const failing = faults.filter(({ fault }) => fault === "fail");
  return ended?.fault === "fail" && failing.length === 1 ? ["fail settlement", "never"] : null;
}

/** Tells the settlement faults of a session. */
class FaultTelling {
  readonly #script: Script;
  readonly #byBlock: boolean;
  readonly #told = new Set<ObservedBlock>();
  /** Whether some fault has a probability that was worked out, so that it befalls one settlement and spares others. */
  isDrawn = false;

  constructor(script: Script, byBlock: boolean) {
    this.#script = script;
    this.#byBlock = byBlock;
  }

  set(terms: SettlementFaultTerms): void {
    if (!this.#byBlock || terms.fault === "gasSpike") this.#set(terms);
  }

  end(sequence: number, command: CommandOf<"endSettlementFault">, faults: readonly SettlementFault[]): void {
    const words = this.#byBlock ? this.#endOfSpike(sequence, command, faults) : endWords(command, faults);
    if (words === null) return;
    const { twin, state } = this.#script;
    const failing = state.chain.faults.filter(({ fault }) => fault === "fail");
    const ended = words[0] === "chain fault" ? [null] : failing.map(({ number }) => number);
    for (const number of ended) twin.submit({ kind: "endSettlementFault", number });
    this.#script.say(words);
  }

  /** Whether faults come right before this block. */
  comeBefore(block: ObservedBlock): boolean {
    return this.#byBlock && block.struck.size > 0 && !this.#told.has(block);
  }

  /** Sets what befalls the settlements of a block. `coming` is what the next step sends, by its number in the session. */
  tell(act: ObservedCommand, block: ObservedBlock, coming: ReadonlyMap<number, number> = new Map()): void {
    if (!this.comeBefore(block)) return;
    this.#told.add(block);
    const spared: number[] = [];
    /** What befalls the first settlements, before any is spared. */
    const first: SettlementFaultTerms[] = [];
    const later: (() => void)[] = [];
    for (const transaction of block.looked) {
      const own = coming.get(transaction) ?? this.#script.twin.transactionOf(transaction);
      const terms = block.struck.get(transaction);
      if (own === undefined) refuseForeign(act.sequence, terms);
      else if (terms === undefined) spared.push(own);
      else if (spared.length === 0) first.push(terms);
      else {
        const before = [...spared];
        later.push(() => this.#setFor(own, before, terms, act));
      }
    }
    for (const terms of runsOf(first)) this.#set(terms);
    for (const set of later) set();
  }

  /** Of faults told by block only spikes are in force; the base fee is that of the highest. */
  #endOfSpike(
    sequence: number,
    { number }: CommandOf<"endSettlementFault">,
    faults: readonly SettlementFault[],
  ): [string, string] | null {
    const left = number === null ? [] : faults.filter((fault) => fault.number !== number);
    const [before, after] = [highest(faults), highest(left)];
    if (before === after) return null;
    if (after === QUIET_BASE_FEE) return ["chain fault", "none"];
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `sequence ${sequence} ends one of several spikes of the base fee, and no step of a scenario ends one alone`,
    );
  }

  /**
   * Sets a fault for one settlement of a block in which others before it are spared: it befalls whose draw is less than
   * its probability, and draws are known beforehand. A number under which another one would be drawn first goes to a
   * fault that befalls nothing.
   */
  #setFor(
    own: number,
    spared: readonly number[],
    terms: SettlementFaultTerms,
    { at, sequence }: ObservedCommand,
  ): void {
    const { config, chain } = this.#script.state;
    this.isDrawn = true;
    for (let tried = 0; tried < MOST_NUMBERS; tried += 1) {
      const number = this.#script.state.chain.faultsSet + 1;
      const draw = (transaction: number): number => {
        const attempts = chain.transactions.find(transaction)?.oddity?.attempts ?? 0;
        return chanceOf(config.seed, number, transaction, attempts);
      };
      const drawn = draw(own);
      if (spared.every((transaction) => draw(transaction) > drawn)) {
        this.#set({ ...terms, probability: drawn + 1 });
        return;
      }
      this.#set(HARMLESS);
    }
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `a fault befell some of ${spared.length + 1} settlements of the block of ${toIso(at)} (sequence ${sequence}), too many to tell which`,
    );
  }

  #set(terms: SettlementFaultTerms): void {
    const said = sayableTerms(terms);
    this.#script.twin.submit({ kind: "setSettlementFault", ...said });
    this.#script.say(...faultStep(said));
  }
}

/** What befalls several settlements in a row, as one fault. */
function runsOf(all: readonly SettlementFaultTerms[]): SettlementFaultTerms[] {
  const runs: SettlementFaultTerms[] = [];
  for (const terms of all) {
    const last = runs.at(-1);
    if (last === undefined || !isSame(last, terms)) runs.push(terms);
    else runs[runs.length - 1] = { ...last, times: (last.times ?? 0) + 1 };
  }
  return runs;
}

const isSame = (a: SettlementFaultTerms, b: SettlementFaultTerms): boolean =>
  a.fault === b.fault && a.blocks === b.blocks && a.reason === b.reason;

const highest = (faults: readonly SettlementFault[]): number =>
  Math.max(QUIET_BASE_FEE, ...faults.map(({ baseFee }) => baseFee));

/** What befalls a settlement of before the session changes nothing that is told, unless it fails. @throws RecordingError */
function refuseForeign(sequence: number, terms: SettlementFaultTerms | undefined): void {
  if (terms?.fault !== "fail") return;
  throw new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `a settlement of before the session failed in it (sequence ${sequence}), and a scenario begins with everything settled`,
  );
}
