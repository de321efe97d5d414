import { SHARES, USDC } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import { type ExpectationSource, saidEntries } from "./expectation-source.ts";
import { entriesBy } from "./fields.ts";
import type { BalanceLook } from "./looks.ts";
import { isPartyName } from "./names.ts";
import { orOf, type Page } from "./page.ts";
import { readTokenName } from "./token-name.ts";
import { unitsAt } from "./values.ts";
import type { Entry } from "./yaml-tree.ts";

const PARTS = ["balance", "available", "reserved", "onChain"] as const;

/** Reads `balances: { alice: { USDC: 945, YES: { available: 40, reserved: 0 } } }`. */
export function readBalances({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: assets } of saidEntries(page, value, "balances by account")) {
    const isOfFlow = declared.hasFlow && isPartyName(key.value);
    const isKnown = isOfFlow || declared.demandAccount(page, key.start, key.value);
    for (const entry of saidEntries(page, assets, "amounts by USDC, YES or NO")) {
      const look = lookOf(page, entry, declared);
      if (look === null || !isKnown) continue;
      into.push({ kind: "balance", place: page.placeOf(entry.key), account: key.value, look });
    }
  }
}

/** An asset, `USDC` or the name of a token; null with a problem. */
export const readAsset = (page: Page, { key }: Entry, declared: Declarations): BalanceLook["asset"] | null =>
  key.value === "USDC" ? "USDC" : readTokenName(page, key, declared, ["USDC"]);

function lookOf(page: Page, entry: Entry, declared: Declarations): BalanceLook | null {
  const asset = readAsset(page, entry, declared);
  if (asset === null) return null;
  const rule = asset === "USDC" ? USDC : SHARES;
  const look = { asset, amount: null, balance: null, available: null, reserved: null, onChain: null };
  if (entry.value.kind === "text") return { ...look, amount: unitsAt(page, entry.value, rule) };
  const parts = entriesBy(page, saidEntries(page, entry.value, orOf(PARTS)), PARTS);
  const unitsOf = (part: Entry | undefined): number | null =>
    part === undefined ? null : unitsAt(page, part.value, rule);
  return {
    asset,
    amount: null,
    balance: unitsOf(parts.balance),
    available: unitsOf(parts.available),
    reserved: unitsOf(parts.reserved),
    onChain: unitsOf(parts.onChain),
  };
}
