import { address, type Infer, id, integer, keyed, record, type Type } from "./schema.ts";
import { Table } from "./table.ts";
import type { BalancePolicy } from "./terms.ts";
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

const balance = <Unit extends number>(): Type<Balance<Unit>> =>
  record(
    {},
    {
      changing: {
        balance: integer<Unit>(),
        reserved: integer<Unit>(),
        incoming: integer<Unit>(),
        outgoing: integer<Unit>(),
      },
    },
  );

/** What an account has in one market. */
export const Holding = record(
  { market: id(), yes: balance<Size>(), no: balance<Size>() },
  {
    changing: {
      /** How much of the account's grant in every market has been minted here. */
      granted: integer<Size>(),
    },
    derived: {
      /** The account's fills in this market's tokens, oldest first, as `fillOf` packs them; null before the first. */
      yesFills: () => null as Table<number> | null,
      noFills: () => null as Table<number> | null,
    },
  },
);
export type Holding = Infer<typeof Holding>;

export const Account = record(
  { number: id(), address: address(), collateral: balance<Money>() },
  {
    changing: {
      /** Shares of both outcomes that the account is granted in every market, minted on first touch. */
      everyMarket: integer<Size>(),
      /** How many sets of API credentials the wallet has derived. */
      derivations: integer(),
      /** By market number. */
      holdings: keyed("market", Holding),
    },
    derived: {
      /** The account's open orders, a list through the orders themselves, oldest first. */
      firstOpen: (): number => 0,
      lastOpen: (): number => 0,
      openCount: (): number => 0,
      /** All fills of the account, oldest first, as `fillOf` packs them. */
      fills: () => new Table<number>(),
    },
  },
);
export type Account = Infer<typeof Account>;

export type Role = "TAKER" | "MAKER";

/** A trade seen from one side, in one integer. */
export const fillOf = (trade: number, role: Role): number => trade * 2 + (role === "MAKER" ? 1 : 0);
/** The trade of a packed fill. */
export const tradeOfFill = (fill: number): number => Math.floor(fill / 2);
/** The side from which a packed fill sees its trade. */
export const roleOfFill = (fill: number): Role => ((fill & 1) === 1 ? "MAKER" : "TAKER");

/** Nothing of an asset. */
export const copyBalance = <Unit extends number>({
  balance,
  reserved,
  incoming,
  outgoing,
}: Balance<Unit>): Balance<Unit> => ({ balance, reserved, incoming, outgoing });

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
