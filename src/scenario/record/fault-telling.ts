import { QUIET_BASE_FEE } from "../../core/chain/chain.ts";
import {
  CERTAIN,
  chanceOf,
  type SettlementFault,
  type SettlementFaultTerms,
} from "../../core/chain/settlement-fault.ts";
import type { EndSettlementFault } from "../../core/commands.ts";
import { toIso } from "../../core/time.ts";
import { faultStep, sayableTerms } from "./fault-step.ts";
import type { ObservedBlock, ObservedBlocks } from "./observed-blocks.ts";
import type { Act, ObservedSession } from "./observed-session.ts";
import { RecordingError } from "./recording-error.ts";
import type { Script } from "./script.ts";

/** Befalls nothing, and takes a number. */
const NOTHING: SettlementFaultTerms = {
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
  { number }: EndSettlementFault,
  faults: readonly SettlementFault[],
): [string, string] | null {
  const ended = faults.find((fault) => fault.number === number);
  if (number === null || faults.length === 1) return ["chain fault", "none"];
  const failing = faults.filter(({ fault }) => fault === "fail");
  return ended?.fault === "fail" && failing.length === 1 ? ["fail settlement", "never"] : null;
}

/** Tells the settlement faults of a session. */
export class FaultTelling {
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

  end(sequence: number, command: EndSettlementFault, faults: readonly SettlementFault[]): void {
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
  tell(act: Act, block: ObservedBlock, coming: ReadonlyMap<number, number> = new Map()): void {
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
    { number }: EndSettlementFault,
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
  #setFor(own: number, spared: readonly number[], terms: SettlementFaultTerms, { at, sequence }: Act): void {
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
      this.#set(NOTHING);
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
