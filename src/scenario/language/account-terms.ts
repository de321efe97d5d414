import type { Money, Size } from "../../core/units.ts";
import { SHARES, USDC } from "./amounts.ts";
import { Declarations } from "./declarations.ts";
import { mappingOf } from "./fields.ts";
import { isName, NAME_RULE } from "./names.ts";
import type { Page } from "./page.ts";
import type { AccountTerms, Funding } from "./scenario.ts";
import { readTokenName } from "./token-name.ts";
import { unitsAt } from "./values.ts";
import { isReserved } from "./vocabulary.ts";
import { type Entry, isNothing, type Node } from "./yaml-tree.ts";

/** Reads `{ alice: { USDC: 1000 }, bob: { rain YES: 500 } }`; null when none of the names can be known. */
export function readAccounts(
  page: Page,
  node: Node,
  markets: ReadonlySet<string> | null,
): readonly AccountTerms[] | null {
  if (isNothing(node)) return [];
  const mapping = mappingOf(page, node, "accounts by name, a mapping");
  if (mapping === null) return null;
  const declared = new Declarations(markets, null);
  return mapping.entries.map(({ key, value }) => {
    if (isReserved(key.value)) {
      page.wrong(key.start, `${key.value} is a word of the language and cannot name an account`);
    } else if (!isName(key.value)) page.unexpected(key.start, NAME_RULE, key.value);
    return { name: key.value, place: page.placeOf(key), funding: fundingOf(page, value, declared) };
  });
}

function fundingOf(page: Page, node: Node, declared: Declarations): Funding[] {
  if (isNothing(node)) return [];
  const mapping = mappingOf(page, node, "amounts by USDC, YES or NO, a mapping");
  const taken = new Set<string>();
  return (mapping?.entries ?? []).flatMap((entry) => {
    const funding = fundingIn(page, entry, declared);
    if (funding === null) return [];
    const { asset } = funding;
    const name = asset === "USDC" ? asset : `${asset.market} ${asset.outcome}`;
    if (taken.has(name)) page.wrong(entry.key.start, `${entry.key.value} is given twice`);
    taken.add(name);
    return funding.amount === 0 ? [] : [funding];
  });
}

function fundingIn(page: Page, { key, value }: Entry, declared: Declarations): Funding | null {
  const asset = key.value === "USDC" ? "USDC" : readTokenName(page, key, declared, ["USDC"]);
  if (asset === null) return null;
  const amount = unitsAt(page, value, asset === "USDC" ? USDC : SHARES);
  if (amount === null) return null;
  return asset === "USDC" ? { asset, amount: amount as Money } : { asset, amount: amount as Size };
}
