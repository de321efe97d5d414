import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { Outcome } from "../../core/terms.ts";
import type { Size } from "../../core/units.ts";
import { SHARES } from "./amounts.ts";
import type { Declarations } from "./declarations.ts";
import type { ChainExpectation, SettledExpectation } from "./expectation.ts";
import { type ExpectationSource, saidEntries } from "./expectation-source.ts";
import { entriesBy, itemsOf } from "./fields.ts";
import type { Page } from "./page.ts";
import { readTokenName } from "./token-name.ts";
import { type DecimalRule, oneOf, unitsAt } from "./values.ts";
import { OUTCOMES, SETTLEMENT_STATUSES } from "./vocabulary.ts";
import type { Entry, Node, TextNode } from "./yaml-tree.ts";

const COUNTS = ["head", "confirmed", "pending"] as const;
const RULES: Readonly<Record<ChainExpectation["part"], DecimalRule>> = {
  head: { what: "a block's number", places: 0, least: 0, most: 1_000_000_000 },
  confirmed: { what: "a block's number", places: 0, least: 0, most: 1_000_000_000 },
  pending: { what: "a number of transactions", places: 0, least: 0, most: 1_000_000_000 },
};

/** Reads `chain: { head: 3, confirmed: 1, pending: 0, supply: 100, settled: { bid: [MINED] } }`. */
export function readChain(source: ExpectationSource, { value }: Entry): void {
  const { file, into } = source;
  const { page } = file;
  const parts = entriesBy(page, saidEntries(page, value, "what is true of the chain"), [
    ...COUNTS,
    "supply",
    "settled",
  ]);
  for (const part of COUNTS) {
    const entry: Entry | undefined = parts[part];
    const count = entry === undefined ? null : unitsAt(page, entry.value, RULES[part]);
    if (entry !== undefined && count !== null)
      into.push({ kind: "chain", place: page.placeOf(entry.key), part, count });
  }
  if (parts.supply !== undefined) readSupply(source, parts.supply);
  if (parts.settled !== undefined) readSettled(source, parts.settled);
}

/** Reads `100`, `{ rain: 100 }`, `{ YES: 60, NO: 100 }` or `{ rain YES: 60 }`. */
function readSupply({ file, declared, into }: ExpectationSource, { key, value }: Entry): void {
  const { page } = file;
  const push = (at: TextNode, node: Node, of: Issue | null): void => {
    const size = unitsAt(page, node, SHARES) as Size | null;
    if (of !== null && size !== null) into.push({ kind: "supply", place: page.placeOf(at), ...of, size });
  };
  if (value.kind === "text") {
    if (declared.hasMarket(null)) push(key, value, { market: null, outcome: null });
    else declared.noMarket(page, value.start, null);
    return;
  }
  for (const entry of saidEntries(page, value, "shares by market or outcome")) {
    push(entry.key, entry.value, issueOf(page, entry.key, declared));
  }
}

/** What a market has issued: of one outcome, or whole sets of both. */
interface Issue {
  readonly market: string | null;
  readonly outcome: Outcome | null;
}

/** Of `rain`, `YES` or `rain YES`; null with a problem. */
function issueOf(page: Page, key: TextNode, declared: Declarations): Issue | null {
  const name = key.value.trim();
  const isToken = name.includes(" ") || OUTCOMES.some((outcome) => outcome === name);
  if (isToken) return readTokenName(page, key, declared);
  if (declared.hasMarket(name)) return { market: declared.marketName(name), outcome: null };
  return page.unknown(key.start, "market or outcome", name, [...(declared.markets ?? []), ...OUTCOMES]);
}

/** Reads `{ bid: [MINED, CONFIRMED], ask: FAILED }`. */
function readSettled({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: said } of saidEntries(page, value, "statuses by order")) {
    const statuses = statusesAt(page, said);
    const name = declared.orderNamed(page, key.start, key.value);
    if (name === null || statuses === null) continue;
    into.push({ kind: "settled", place: page.placeOf(key), name, statuses });
  }
}

function statusesAt(page: Page, node: Node): SettledExpectation["statuses"] | null {
  if (node.kind === "text") return oneOf(page, node, SETTLEMENT_STATUSES);
  const items = itemsOf(page, node, "a status, or a list of them");
  if (items === null) return null;
  const statuses = items.map((item) => oneOf<SettlementStatus>(page, item, SETTLEMENT_STATUSES));
  return statuses.every((status) => status !== null) ? statuses : null;
}
