import type { ExchangeConfig } from "../state.ts";
import type { BalancePolicy, SettlementMode } from "../terms.ts";
import { MAX_ISSUANCE, MAX_SIZE, type Money, type Size } from "../units.ts";
import type { Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

const UNITS = { price: "0.0001 USDC", size: "0.01 share", money: "0.000001 USDC", at: "Unix ms" };
const MODES: readonly SettlementMode[] = ["instant", "auto", "manual"];
const POLICIES: readonly BalancePolicy[] = ["optimistic", "settled"];

/** What the integers of a document count. @throws DocumentError where it is something else. */
export function readUnits(value: unknown, where: Where): typeof UNITS {
  const keys = Object.keys(UNITS) as (keyof typeof UNITS)[];
  const fields = new Fields(value, where, "", keys);
  for (const key of keys) fields.demand(fields.value(key) === UNITS[key], key, JSON.stringify(UNITS[key]));
  return UNITS;
}

/** What the exchange was opened with. @throws DocumentError where it is no such thing. */
export function readConfig(value: unknown, where: Where): ExchangeConfig {
  const fields = new Fields(value, where, "", ["seed", "faucet", "credentials", "settlement", "balances"]);
  const faucet = fields.fields("faucet", ["collateral", "everyMarket"]);
  return {
    seed: fields.text("seed"),
    faucet: {
      collateral: faucet.integer("collateral", 0, MAX_ISSUANCE) as Money,
      everyMarket: faucet.integer("everyMarket", 0, MAX_SIZE) as Size,
    },
    credentials: fields.oneOf("credentials", ["rotate", "once"]),
    settlement: fields.oneOf("settlement", MODES),
    balances: fields.oneOf("balances", POLICIES),
  };
}
