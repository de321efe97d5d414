import { violations } from "../../core/invariants/invariants.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { RunStopped } from "../run/session.ts";
import type { Deed } from "./deeds.ts";
import { Retelling, type Told } from "./retelling.ts";
import { brokenInvariant, defectOf, type Signature } from "./signature.ts";

/** How some deeds fail. */
export interface BrokenDeeds {
  readonly signature: Signature;
  /** Those that did something, up to the one at which it fails. */
  readonly deeds: readonly Deed[];
}

/** Tries deeds on fresh exchanges. */
export interface HistoryTrial {
  /** How deeds fail first; null when they do not. @throws RunStopped */
  first(deeds: readonly Deed[]): Promise<BrokenDeeds | null>;
  /** How deeds fail in the same way; null when they do not. @throws RunStopped */
  broken(deeds: readonly Deed[], signature: Signature): Promise<BrokenDeeds | null>;
}

/** So many deeds are told before somebody asks again whether the time is over. */
export const DEEDS_AT_ONCE = 256;
/** Up to so many deeds, the invariants are judged after each of them. */
const FEW = 256;
/** So often they are judged in a longer history, for each time costs as much as the state is large. */
const LOOKS = 8;
/** So often when nothing is found: what is broken may have mended itself. */
const MANY_LOOKS = 1_000;

interface Found extends BrokenDeeds {
  readonly index: number;
  /** Every invariant that does not hold; none where something was thrown. */
  readonly names: readonly string[];
}

/** Tells deeds to fresh exchanges until something throws or an invariant does not hold; of many, judged now and then. */
export class DeedTrial implements HistoryTrial {
  readonly #open: () => Exchange;
  readonly #stop: () => boolean;
  #looks = LOOKS;

  constructor(open: () => Exchange, stop: () => boolean) {
    this.#open = open;
    this.#stop = stop;
  }

  async first(deeds: readonly Deed[]): Promise<BrokenDeeds | null> {
    let found = this.#told(deeds, this.#strideOf(deeds));
    if (found === null && deeds.length > FEW) {
      this.#looks = MANY_LOOKS;
      found = this.#told(deeds, this.#strideOf(deeds));
    }
    return found === null || found.names.length === 0 ? found : this.#earliest(deeds, found);
  }

  async broken(deeds: readonly Deed[], { key }: Signature): Promise<BrokenDeeds | null> {
    const found = this.#told(deeds, this.#strideOf(deeds));
    if (found === null) return null;
    const signatures = [found.signature, ...found.names.map(brokenInvariant)];
    const same = signatures.find((signature) => signature.key === key);
    return same === undefined ? null : { signature: same, deeds: found.deeds };
  }

  #strideOf({ length }: readonly Deed[]): number {
    return length <= FEW ? 1 : Math.ceil(length / this.#looks);
  }

  /** The first deed after which something is wrong, by halving what lies between the last look at which all was well. */
  #earliest(deeds: readonly Deed[], last: Found): BrokenDeeds {
    let found = last;
    let low = Math.max(-1, last.index - this.#strideOf(deeds));
    while (found.index - low > 1) {
      const middle = (low + found.index) >> 1;
      const earlier = this.#told(deeds.slice(0, middle + 1), deeds.length);
      if (earlier === null) low = middle;
      else found = earlier;
    }
    return found;
  }

  #told(deeds: readonly Deed[], stride: number): Found | null {
    const retelling = new Retelling(this.#open());
    const done: Deed[] = [];
    for (const [index, deed] of deeds.entries()) {
      if (index % DEEDS_AT_ONCE === 0 && this.#stop()) throw new RunStopped();
      let told: Told;
      try {
        told = retelling.tell(deed);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { signature: defectOf(message), deeds: [...done, deed], index, names: [] };
      }
      if (told === "done") done.push(deed);
      const isLook = index % stride === stride - 1 || index === deeds.length - 1;
      const names = isLook ? violations(retelling.state).map(({ name }) => name) : [];
      const [first] = names;
      if (first !== undefined) return { signature: brokenInvariant(first), deeds: done, index, names };
    }
    return null;
  }
}
