import { unitsOf } from "../../api/decimals.ts";
import { nearest } from "../../api/nearest.ts";
import { PRICE_PLACES } from "../../core/format.ts";
import { sha256Hex } from "../../core/hash.ts";
import { millis, type Price, price, type Size, size } from "../../core/units.ts";
import { FILE_LIMITS, readText } from "../../regular-file.ts";
import { readWorld } from "../../simulation/world.ts";
import { Declarations } from "./declarations.ts";
import {
  countOf,
  eachOf,
  isMarketName,
  isName,
  MARKET_NAME_RULE,
  MOMENT_RULE,
  mappingOf,
  matching,
  momentIn,
  NAME_RULE,
  oneOf,
  positive,
  SHARES,
  SIZE,
  textOf,
  USDC,
  unitsAt,
  valuesBy,
  valuesOf,
} from "./fields.ts";
import { attempt, type Entry, isNothing, type Node, orOf, type Page } from "./page.ts";
import type { AccountTerms, Funding, MarketTerms, Scenario } from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { isReserved } from "./steps.ts";
import {
  BALANCE_POLICIES,
  MATCHINGS,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  TICK_SIZES,
} from "./vocabulary.ts";

/** Names of the markets that a world file holds. @throws Error with a sentence when it is no world. */
export type WorldMarkets = (path: string) => readonly string[];

/** What a scenario says before its steps. */
export interface Header extends Omit<Scenario, "steps"> {
  /** Of what steps may speak. */
  readonly declared: Declarations;
  /** Undefined where there are none. */
  readonly steps: Node | undefined;
}

/** 2026-01-01T00:00:00Z. */
const DEFAULT_CLOCK = millis(1_767_225_600_000);
const SEED_DIGITS = 16;
const MAX_NAME_LENGTH = 200;
const MAX_SEED_LENGTH = 128;
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What seeds a scenario that does not say it. */
export const seedOfName = (name: string): string => sha256Hex(name).slice(0, SEED_DIGITS);

/** Reads the keys of a scenario. */
export function readHeader(file: OpenFile, files: ScenarioFiles, worldMarkets: WorldMarkets): Header {
  const { page, root } = file;
  const { entries } = mappingOf(page, root, "a scenario, a mapping");
  const readers = {
    scenario: (node: Node) => lineAt(page, node, "a name", MAX_NAME_LENGTH),
    about: (node: Node) => textOf(page, node, "some text"),
    seed: (node: Node) => lineAt(page, node, "a text", MAX_SEED_LENGTH),
    clock: (node: Node) => momentIn(page, node.start, textOf(page, node, MOMENT_RULE)),
    settlement: (node: Node) => oneOf(page, node, SETTLEMENT_MODES),
    balances: (node: Node) => oneOf(page, node, BALANCE_POLICIES),
    market: (node: Node) => [readMarketTerms(page, defaultMarket().name, node)],
    markets: (node: Node) => readMarkets(page, node),
    world: (node: Node) => readWorldMarkets(file, files, node, worldMarkets),
    accounts: (node: Node) => node,
    steps: (node: Node) => node,
  };
  const keyOf = (name: string): Entry["key"] | undefined =>
    entries.find(({ key }) => key.value === name)?.key;
  const missing = ["scenario", "steps"].filter((name) => keyOf(name) === undefined);
  if (missing.length > 0)
    page.wrong(root.start, `expected the key ${missing.join(" and the key ")}, found none`);
  const [first, second] = ["market", "markets", "world"].flatMap((name) => keyOf(name) ?? []);
  const isOnePlace = second === undefined;
  const read = isOnePlace ? entries : entries.filter(({ key }) => !/^(?:markets?|world)$/.test(key.value));
  if (!isOnePlace) {
    const found = `${first?.value} and ${second.value}`;
    page.wrong(second.start, `expected one of market, markets and world, found ${found}`);
  }
  const values = valuesBy(page, read, readers);
  const isPlaced = first !== undefined;
  const markets = values.market ?? values.markets ?? (isPlaced ? [] : [defaultMarket()]);
  const isKnown = !isPlaced || (values.market ?? values.markets ?? values.world) !== undefined;
  const names = isKnown ? new Set(values.world?.markets ?? markets.map(({ name }) => name)) : null;
  const accounts = attempt(() => readAccounts(page, values.accounts, names)) ?? null;
  // Where a key was surely meant to say the accounts, nobody knows them.
  const isMistyped =
    values.accounts === undefined &&
    entries.some(({ key }) => nearest(key.value, Object.keys(readers)) === "accounts");
  const accountNames = accounts === null || isMistyped ? null : new Set(accounts.map(({ name }) => name));
  const name = values.scenario ?? "";
  return {
    name,
    place: page.place(keyOf("scenario")?.start ?? root.start),
    seed: values.seed ?? seedOfName(name),
    clock: values.clock ?? DEFAULT_CLOCK,
    settlement: values.settlement ?? "instant",
    balances: values.balances ?? "optimistic",
    world: values.world?.path ?? null,
    markets,
    accounts: accounts ?? [],
    declared: new Declarations(names, accountNames, keyOf("world") !== undefined),
    steps: values.steps,
  };
}

/** A text on one line. */
function lineAt(page: Page, node: Node, what: string, longest: number): string {
  const rule = `${what} of 1 to ${longest} characters on one line`;
  const isLine = (text: string): boolean =>
    text.trim().length > 0 && text.trim().length <= longest && !INVISIBLE.test(text.trim());
  return matching(page, node, isLine, rule).trim();
}

function readWorldMarkets(
  file: OpenFile,
  files: ScenarioFiles,
  node: Node,
  worldMarkets: WorldMarkets,
): { readonly path: string; readonly markets: readonly string[] } {
  const path = files.pathAt(file, node);
  try {
    return { path, markets: worldMarkets(path) };
  } catch (error) {
    const { message } = error as Error;
    throw file.page.wrong(node.start, `no world can be read from ${files.nameOf(path)}: ${message}`);
  }
}

/** The slugs of a world file's markets. @throws Error with a sentence when it is no world. */
export const worldMarkets: WorldMarkets = (path) =>
  readWorld(readText(path, FILE_LIMITS.world)).events.flatMap(({ markets }) =>
    markets.map(({ slug }) => slug),
  );

const FEE = countOf("a number of basis points", 0, 10_000);

/** The only market, where a scenario names none, and what a market is unless its terms say otherwise. */
export const defaultMarket = (): MarketTerms => ({
  name: "market",
  tickSize: price(100),
  minOrderSize: size(100),
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
});

/** Reads `{ tickSize: 0.01, feeRateBps: 100 }`. */
function readMarketTerms(page: Page, name: string, node: Node): MarketTerms {
  const terms = valuesOf(page, node, "the terms of a market", {
    tickSize: (value) => tickSizeAt(page, value),
    minOrderSize: (value) => unitsAt<Size>(page, value, positive(SIZE)),
    feeRateBps: (value) => unitsAt(page, value, FEE),
    matching: (value) => oneOf(page, value, MATCHINGS),
    selfTrade: (value) => oneOf(page, value, SELF_TRADE_POLICIES),
  });
  return { ...defaultMarket(), ...(terms as Partial<MarketTerms>), name };
}

function readMarkets(page: Page, node: Node): readonly MarketTerms[] {
  const { entries } = mappingOf(page, node, "markets by name, a mapping");
  if (entries.length === 0) throw page.wrong(node.start, "expected at least one market, found none");
  return entries.map(({ key, value }) => {
    if (!isMarketName(key.value)) page.unexpected(key.start, MARKET_NAME_RULE, key.value);
    return attempt(() => readMarketTerms(page, key.value, value)) ?? { ...defaultMarket(), name: key.value };
  });
}

function tickSizeAt(page: Page, node: Node): Price {
  const text = textOf(page, node, orOf(TICK_SIZES));
  const units = unitsOf(text, PRICE_PLACES);
  const isKnown = units !== null && TICK_SIZES.some((known) => unitsOf(known, PRICE_PLACES) === units);
  if (isKnown) return price(units);
  throw page.unexpected(node.start, orOf(TICK_SIZES), text);
}

/** Reads `{ alice: { USDC: 1000 }, bob: { rain YES: 500 } }`. */
function readAccounts(
  page: Page,
  node: Node | undefined,
  markets: ReadonlySet<string> | null,
): readonly AccountTerms[] {
  if (node === undefined || isNothing(node)) return [];
  const declared = new Declarations(markets, null);
  return mappingOf(page, node, "accounts by name, a mapping").entries.map(({ key, value }) => {
    if (isReserved(key.value)) {
      page.wrong(key.start, `${key.value} is a word of the language and cannot name an account`);
    } else if (!isName(key.value)) page.unexpected(key.start, NAME_RULE, key.value);
    const funding = attempt(() => readFunding(page, value, declared)) ?? [];
    return { name: key.value, place: page.placeOf(key), funding };
  });
}

function readFunding(page: Page, node: Node, declared: Declarations): Funding[] {
  if (isNothing(node)) return [];
  const { entries } = mappingOf(page, node, "amounts by USDC, YES or NO, a mapping");
  const taken = new Set<string>();
  return eachOf(entries, ({ key, value }) => {
    const asset = declared.asset(page, key);
    const amount = unitsAt(page, value, asset === "USDC" ? USDC : SHARES);
    const name = asset === "USDC" ? asset : `${asset.market} ${asset.outcome}`;
    if (taken.has(name)) page.wrong(key.start, `${key.value} is given twice`);
    taken.add(name);
    return { asset, amount } as Funding;
  }).filter(({ amount }) => amount !== 0);
}
