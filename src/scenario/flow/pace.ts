import { type Stream, stream } from "../../core/random.ts";
import type { Profile } from "./profiles.ts";

/** The moments of a generated flow: rows that come together, then a pause. */
export class Pace {
  readonly #random: Stream;
  readonly #profile: Profile;
  #at = 0;
  /** How many more rows come at this moment. */
  #left = 0;

  constructor(seed: string, profile: Profile) {
    this.#random = stream(seed, "flow/pace");
    this.#profile = profile;
  }

  /** The moment of the next row, in milliseconds since the start. */
  next(): number {
    if (this.#left === 0) {
      const { together, pauseMs } = this.#profile;
      this.#left = this.#random.between(...together);
      this.#at += this.#random.between(1, 2 * pauseMs - 1);
    }
    this.#left -= 1;
    return this.#at;
  }
}
