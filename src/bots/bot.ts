import { houseAddress } from "../core/ids.ts";
import type { Address } from "../core/terms.ts";
import { KINDS, type Kind, mostOf, type Profile } from "./profiles.ts";

/** Somebody who trades in every market by a strategy. */
export interface Bot {
  /** `bot-maker-1`; its address is made from the name and the exchange's seed, and nobody holds a key of it. */
  readonly name: string;
  readonly kind: Kind;
  readonly address: Address;
  /** Whose draws it has, whatever the profile. */
  readonly number: number;
}

const BOTS_OF_A_KIND = 1_000;

/** The bots of an exchange: of a profile, or all that any profile has. */
export const botsOf = (seed: string, profile: Profile | null): readonly Bot[] =>
  KINDS.flatMap((kind, index) =>
    Array.from({ length: profile?.[kind].count ?? mostOf(kind) }, (_, place) => {
      const name = `bot-${kind}-${place + 1}`;
      return { name, kind, address: houseAddress(seed, name), number: index * BOTS_OF_A_KIND + place };
    }),
  );
