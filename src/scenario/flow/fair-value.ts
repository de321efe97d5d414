import { type Stream, stream } from "../../core/random.ts";
import { FULL_PRICE } from "../../core/units.ts";
import type { Profile } from "./profiles.ts";

/** The fair value stays so far from 0 and from 1, in 0.0001 USDC. */
const EDGE = 200;
/** Of what the value is away from its way, one part in so many is undone with each order. */
const PULL = 400;

/** What YES is worth as a flow goes on: a way from start to end, and a random walk that is pulled back to it. */
export class FairValue {
  readonly #random: Stream;
  readonly #profile: Profile;
  readonly #orders: number;
  #order = 0;
  #away = 0;

  constructor(seed: string, profile: Profile, orders: number) {
    this.#random = stream(seed, "flow/fair");
    this.#profile = profile;
    this.#orders = orders;
  }

  /** The worth for the next order, in 0.0001 USDC. */
  next(): number {
    const { fair, step } = this.#profile;
    const [start, end] = fair;
    const way = start + Math.floor(((end - start) * this.#order) / this.#orders);
    this.#order += 1;
    this.#away += this.#random.between(-step, step) - Math.trunc(this.#away / PULL);
    return Math.min(FULL_PRICE - EDGE, Math.max(EDGE, way + this.#away));
  }
}
