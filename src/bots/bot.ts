import { houseAddress } from "../core/ids.ts";
import type { Address } from "../core/terms.ts";
import { KINDS, type Kind, maxCountOf, type Profile } from "./profiles.ts";

/** Account that trades in every market by a strategy. */
export interface Bot {
  /** `bot-maker-1`; its address is a function of the name and the exchange's seed, and has no private key. */
  readonly name: string;
  readonly kind: Kind;
  readonly address: Address;
  /** Key of its random streams, the same in all profiles. */
  readonly number: number;
}

const NUMBERS_PER_KIND = 1_000;

/** Returns the bots of a profile; of all profiles if null. */
export const botsOf = (seed: string, profile: Profile | null): readonly Bot[] =>
  KINDS.flatMap((kind, index) =>
    Array.from({ length: profile?.[kind].count ?? maxCountOf(kind) }, (_, place) => {
      const name = `bot-${kind}-${place + 1}`;
      return { name, kind, address: houseAddress(seed, name), number: index * NUMBERS_PER_KIND + place };
    }),
  );
