import type { Account, Balance } from "../account.ts";
import { emptyAccount } from "../state.ts";
import type { Size } from "../units.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

const ACCOUNT_KEYS = ["number", "address", "collateral", "everyMarket", "derivations", "holdings"] as const;
const HOLDING_KEYS = ["market", "yes", "no", "granted"] as const;
const BALANCE_KEYS = ["balance", "reserved", "incoming", "outgoing"] as const;

/** An account as its record tells it, without fills and open orders. @throws DocumentError where it is none. */
export function readAccount(value: unknown, where: Where, number: number): Account {
  const fields = new Fields(value, where, "", ACCOUNT_KEYS);
  fields.integer("number", number, number);
  const account = emptyAccount(number, fields.address("address"));
  Object.assign(account.collateral, readBalance(fields.fields("collateral", BALANCE_KEYS)));
  account.everyMarket = fields.integer("everyMarket") as Size;
  account.derivations = fields.integer("derivations");
  let previous = 0;
  fields.list("holdings", (item, path) => {
    const holding = new Fields(item, where, path, HOLDING_KEYS);
    const market = holding.integer("market", 1);
    if (market <= previous) {
      throw new DocumentError(where, `${path}.market`, `a market above ${previous}`, market);
    }
    previous = market;
    account.holdings.set(market, {
      yes: readBalance<Size>(holding.fields("yes", BALANCE_KEYS)),
      no: readBalance<Size>(holding.fields("no", BALANCE_KEYS)),
      granted: holding.integer("granted", 0, account.everyMarket) as Size,
      yesFills: null,
      noFills: null,
    });
  });
  return account;
}

const readBalance = <Unit extends number>(fields: Fields<keyof Balance<Unit>>): Balance<Unit> => ({
  balance: fields.integer("balance") as Unit,
  reserved: fields.integer("reserved") as Unit,
  incoming: fields.integer("incoming") as Unit,
  outgoing: fields.integer("outgoing") as Unit,
});
