import type { Numbered } from "./numbered.ts";
import type { Address, BalancePolicy } from "./terms.ts";
import type { Money, Size } from "./units.ts";

/**
 * What an account has of one asset, how much of it open orders hold, and what of it is not on the settlement chain yet:
 * a wallet holds balance - incoming + outgoing there.
 */
export interface Balance<Unit extends number> {
  balance: Unit;
  reserved: Unit;
  /** What pending settlements will bring. */
  incoming: Unit;
  /** What they will take. */
  outgoing: Unit;
}

/** What an account has in one market. */
export interface Holding {
  readonly yes: Balance<Size>;
  readonly no: Balance<Size>;
  /** How much of the account's grant in every market has been minted here. */
  granted: Size;
  /** The account's fills in this market's tokens, oldest first, as `fillOf` packs them; null before the first. */
  yesFills: Numbered<number> | null;
  noFills: Numbered<number> | null;
}

export interface Account {
  readonly number: number;
  readonly address: Address;
  readonly collateral: Balance<Money>;
  /** By market number. */
  readonly holdings: Map<number, Holding>;
  /** Shares of both outcomes that the account is granted in every market, minted on first touch. */
  everyMarket: Size;
  /** How many sets of API credentials the wallet has derived. */
  derivations: number;
  /** The account's open orders, a list through the orders themselves, oldest first. */
  firstOpen: number;
  lastOpen: number;
  openCount: number;
  /** All fills of the account, oldest first, as `fillOf` packs them. */
  readonly fills: Numbered<number>;
}

export type Role = "TAKER" | "MAKER";

/** A trade seen from one side, in one integer. */
export const fillOf = (trade: number, role: Role): number => trade * 2 + (role === "MAKER" ? 1 : 0);
/** The trade of a packed fill. */
export const tradeOfFill = (fill: number): number => Math.floor(fill / 2);
/** The side from which a packed fill sees its trade. */
export const roleOfFill = (fill: number): Role => ((fill & 1) === 1 ? "MAKER" : "TAKER");

/** Nothing of an asset. */
export const emptyBalance = <Unit extends number>(): Balance<Unit> => ({
  balance: 0 as Unit,
  reserved: 0 as Unit,
  incoming: 0 as Unit,
  outgoing: 0 as Unit,
});

/**
 * What can be spent, sold or reserved. Where that must be settled first, a reorganization may leave nothing of what has
 * been spent already: what is on its way again then covers what is on its way out.
 */
export const spendableOf = <Unit extends number>(
  { balance, incoming }: Balance<Unit>,
  policy: BalancePolicy,
): Unit => (policy === "settled" ? (Math.max(0, balance - incoming) as Unit) : balance);

/** What of it is not reserved. */
export const availableOf = <Unit extends number>(of: Balance<Unit>, policy: BalancePolicy): Unit =>
  (spendableOf(of, policy) - of.reserved) as Unit;

/** What the wallet holds on the settlement chain. */
export const onChainOf = <Unit extends number>({ balance, incoming, outgoing }: Balance<Unit>): Unit =>
  (balance - incoming + outgoing) as Unit;
