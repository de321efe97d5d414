import { violations } from "../../core/invariants/invariants.ts";
import type { Exchange } from "../../runtime/exchange.ts";
import type { Deed } from "./deeds.ts";
import { Retelling, type Told } from "./retelling.ts";
import { brokenInvariant, defectOf, type Signature } from "./signature.ts";

/** How some deeds fail. */
export interface BrokenDeeds {
  readonly signature: Signature;
  /** Those that did something, up to the one at which it fails. */
  readonly deeds: readonly Deed[];
}

/** Up to so many deeds, the invariants are judged after each of them. */
const FEW = 256;
/** So often they are judged in a longer history, for each time costs as much as the state is large. */
const LOOKS = 64;

/**
 * Tells deeds to fresh exchanges until something throws or an invariant does not hold. Of many, the invariants are
 * judged now and then, and then after each deed since the last time that all was well.
 */
export class DeedTrial {
  readonly #open: () => Exchange;
  /** Whether they are judged after each deed, however many: what is broken mends itself. */
  #isThorough = false;

  constructor(open: () => Exchange) {
    this.#open = open;
  }

  /** How deeds fail; null when they do not. The whole history is looked at closely before it is said not to fail. */
  first(deeds: readonly Deed[]): BrokenDeeds | null {
    const broken = this.broken(deeds);
    if (broken !== null || deeds.length <= FEW) return broken;
    this.#isThorough = true;
    return this.broken(deeds);
  }

  broken(deeds: readonly Deed[]): BrokenDeeds | null {
    const stride = this.#isThorough || deeds.length <= FEW ? 1 : Math.ceil(deeds.length / LOOKS);
    const found = this.#told(deeds, 0, stride);
    if (found === null || stride === 1 || !found.isJudged) return found;
    return this.#told(deeds, Math.max(0, found.index - stride), 1) ?? found;
  }

  #told(
    deeds: readonly Deed[],
    judgedFrom: number,
    stride: number,
  ): (BrokenDeeds & { readonly index: number; readonly isJudged: boolean }) | null {
    const retelling = new Retelling(this.#open());
    const done: Deed[] = [];
    for (const [index, deed] of deeds.entries()) {
      let told: Told;
      try {
        told = retelling.tell(deed);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { signature: defectOf(message), deeds: [...done, deed], index, isJudged: false };
      }
      if (told === "done") done.push(deed);
      const isLook = index >= judgedFrom && (index % stride === stride - 1 || index === deeds.length - 1);
      const [broken] = isLook ? violations(retelling.state) : [];
      if (broken !== undefined) {
        return { signature: brokenInvariant(broken.name), deeds: done, index, isJudged: true };
      }
    }
    return null;
  }
}
