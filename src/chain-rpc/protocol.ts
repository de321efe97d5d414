import type { Millis } from "../core/units.ts";

/** What a block may hold as long as nothing asks for more: no block is ever full. */
export const GAS_LIMIT = 30_000_000;
/** What miners are offered above the base fee unless somebody says otherwise: 1 gwei. */
export const TIP = 1_000_000_000;

/** A moment in Unix seconds, as blocks tell it. */
export const secondsOf = (at: Millis): number => Math.floor(at / 1000);
