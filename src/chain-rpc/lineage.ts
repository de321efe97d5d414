import type { Block } from "../core/chain/block.ts";
import { blockAt, type Chain, headOf } from "../core/chain/chain.ts";

/**
 * The blocks of a chain as somebody has last seen it, by height. A reorganization, a restored snapshot or a new start put
 * others in their place; a block itself never changes.
 */
export class Lineage {
  readonly #seen: Block[] = [];

  /** The height up to which it has seen the chain; -1 before the first look. */
  get top(): number {
    return this.#seen.length - 1;
  }

  /** Takes in the chain as it stands, and answers the height up to which it is as it was; -1 when nothing is. */
  follow(chain: Chain): number {
    const stays = this.#fork(chain);
    this.#seen.length = stays + 1;
    for (let height = stays + 1; height <= headOf(chain); height += 1) {
      this.#seen.push(blockAt(chain, height) as Block);
    }
    return stays;
  }

  /** Two chains that have parted never meet again, so that the last block in common is found by halving. */
  #fork(chain: Chain): number {
    const isSame = (height: number): boolean => blockAt(chain, height) === this.#seen[height];
    if (this.top >= 0 && isSame(this.top)) return this.top;
    let [low, high] = [-1, this.top];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (isSame(middle)) low = middle;
      else high = middle;
    }
    return low;
  }
}
