import { unitsOf } from "../../api/decimals.ts";
import { nearest } from "../../api/nearest.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import { PRICE_PLACES } from "../../core/format.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { Matching } from "../../core/terms.ts";
import { type Millis, type Money, millis, type Price, price, type Size, size } from "../../core/units.ts";
import { FILE_LIMITS, readText } from "../../regular-file.ts";
import { readWorld } from "../../simulation/world-file.ts";
import { Declarations, readTokenName } from "./declarations.ts";
import {
  type DecimalRule,
  type Fields,
  fieldsOf,
  isMarketName,
  isName,
  MARKET_NAME_RULE,
  mappingOf,
  momentAt,
  NAME_RULE,
  oneOf,
  positive,
  SHARES,
  SIZE,
  textOf,
  USDC,
  unitsAt,
} from "./fields.ts";
import { type Entry, isNothing, type Node, orOf, type Page } from "./page.ts";
import type { AccountTerms, Funding, MarketTerms, Scenario } from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { BALANCE_POLICIES, isReserved, SETTLEMENT_MODES } from "./vocabulary.ts";

const KEYS = [
  "scenario",
  "about",
  "seed",
  "clock",
  "settlement",
  "balances",
  "market",
  "markets",
  "world",
  "accounts",
  "steps",
] as const;
type Key = (typeof KEYS)[number];

/** Names of the markets that a world file holds. @throws Error with a sentence when it is no world. */
export type WorldMarkets = (path: string) => readonly string[];

/** What a scenario says before its steps; parts that are wrong are null. */
interface Header extends Omit<Scenario, "steps" | "accounts" | "markets"> {
  readonly markets: Scenario["markets"] | null;
  readonly accounts: Scenario["accounts"] | null;
  /** Of its own markets or its world's; null when they cannot be known. */
  readonly marketNames: ReadonlySet<string> | null;
  readonly steps: Node | null;
}

/** 2026-01-01T00:00:00Z. */
const DEFAULT_CLOCK = millis(1_767_225_600_000);
const SEED_DIGITS = 16;
const LONGEST_NAME = 200;
const LONGEST_SEED = 128;
const SCENARIO_NAME_RULE = `a name of 1 to ${LONGEST_NAME} characters on one line`;
const SEED_RULE = `a text of 1 to ${LONGEST_SEED} characters on one line`;
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** What seeds a scenario that does not say it. */
export const seedOfName = (name: string): string => sha256Hex(name).slice(0, SEED_DIGITS);

/** Reads the keys of a scenario; null when there are none. */
export function readHeader(file: OpenFile, files: ScenarioFiles, worldMarkets: WorldMarkets): Header | null {
  const { page, root } = file;
  const fields = fieldsOf(page, root, "a scenario", KEYS);
  if (fields === null) return null;
  const missing = (["scenario", "steps"] as const).filter((key) => fields[key] === undefined);
  if (missing.length > 0)
    page.wrong(root.start, `expected the key ${missing.join(" and the key ")}, found none`);
  if (fields.about !== undefined) textOf(page, fields.about.value, "some text");
  const name = lineOf(file, fields.scenario, SCENARIO_NAME_RULE, LONGEST_NAME) ?? "";
  const seed = lineOf(file, fields.seed, SEED_RULE, LONGEST_SEED);
  const { markets, marketNames, world } = readPlaces(file, files, fields, worldMarkets);
  return {
    name,
    place: page.place(fields.scenario?.key.start ?? root.start),
    seed: seed ?? seedOfName(name),
    clock: clockOf(file, fields.clock),
    settlement: wordOf(file, fields.settlement, SETTLEMENT_MODES) ?? "instant",
    balances: wordOf(file, fields.balances, BALANCE_POLICIES) ?? "optimistic",
    world,
    markets,
    marketNames,
    accounts: accountsOf(file, fields.accounts, marketNames),
    steps: fields.steps?.value ?? null,
  };
}

/** None where no key says them; unknown where a key that is none was surely meant to. */
function accountsOf(
  { page, root }: OpenFile,
  entry: Entry | undefined,
  markets: Header["marketNames"],
): Header["accounts"] {
  if (entry !== undefined) return readAccounts(page, entry.value, markets);
  const isMistyped =
    root.kind === "mapping" && root.entries.some(({ key }) => nearest(key.value, KEYS) === "accounts");
  return isMistyped ? null : [];
}

/** A text on one line; null when the key is not given, or with a problem. */
function lineOf({ page }: OpenFile, entry: Entry | undefined, rule: string, longest: number): string | null {
  if (entry === undefined) return null;
  const { value: node } = entry;
  const text = textOf(page, node, rule)?.trim() ?? null;
  if (text === null) return null;
  const isLine = text.length > 0 && text.length <= longest && !INVISIBLE.test(text);
  return isLine ? text : page.unexpected(node.start, rule, text);
}

const clockOf = ({ page }: OpenFile, entry: Entry | undefined): Millis =>
  (entry === undefined ? null : momentAt(page, entry.value)) ?? DEFAULT_CLOCK;

/** One of a few words; null when the key is not given, or with a problem. */
const wordOf = <Word extends string>(
  { page }: OpenFile,
  entry: Entry | undefined,
  words: readonly Word[],
): Word | null => (entry === undefined ? null : oneOf(page, entry.value, words));

type Places = Pick<Header, "markets" | "marketNames" | "world">;

/** The markets: one, several, those of a world, or the default one. */
function readPlaces(
  file: OpenFile,
  files: ScenarioFiles,
  fields: Fields<Key>,
  worldMarkets: WorldMarkets,
): Places {
  const { page } = file;
  const { market, markets, world } = fields;
  const [first, second] = [market, markets, world].filter((entry) => entry !== undefined);
  if (first !== undefined && second !== undefined) {
    page.wrong(
      second.key.start,
      `expected one of market, markets and world, found ${first.key.value} and ${second.key.value}`,
    );
    return { markets: null, marketNames: null, world: null };
  }
  if (world !== undefined) return readWorldPlace(file, files, world, worldMarkets);
  if (markets !== undefined) return ownMarkets(readMarkets(page, markets.value));
  const terms =
    market === undefined ? defaultMarket() : readMarketTerms(page, defaultMarket().name, market.value);
  return ownMarkets(terms && [terms]);
}

const ownMarkets = (markets: Scenario["markets"] | null): Places => ({
  markets,
  marketNames: markets && new Set(markets.map(({ name }) => name)),
  world: null,
});

function readWorldPlace(
  file: OpenFile,
  files: ScenarioFiles,
  { value }: Entry,
  worldMarkets: WorldMarkets,
): Places {
  const world = files.pathAt(file, value);
  if (world === null) return { markets: [], marketNames: null, world };
  try {
    return { markets: [], marketNames: new Set(worldMarkets(world)), world };
  } catch (error) {
    const { message } = error as Error;
    file.page.wrong(value.start, `no world can be read from ${files.nameOf(world)}: ${message}`);
    return { markets: [], marketNames: null, world };
  }
}

const TICK_SIZES = ["0.1", "0.01", "0.005", "0.0025", "0.001", "0.0001"] as const;
const MATCHINGS: readonly Matching[] = ["complementary", "independent"];
const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];
const FEE: DecimalRule = { what: "a number of basis points", places: 0, least: 0, most: 10_000 };
const MARKET_KEYS = ["tickSize", "minOrderSize", "feeRateBps", "matching", "selfTrade"] as const;

/** What a market is unless its terms say otherwise. */
const DEFAULT: Omit<MarketTerms, "name"> = {
  tickSize: price(100),
  minOrderSize: size(100),
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
};

/** The only market, where a scenario names none. */
export const defaultMarket = (): MarketTerms => ({ name: "market", ...DEFAULT });

/** Reads `{ tickSize: 0.01, feeRateBps: 100 }`, or null with a problem. */
function readMarketTerms(page: Page, name: string, node: Node): MarketTerms | null {
  const fields = fieldsOf(page, node, "the terms of a market", MARKET_KEYS);
  if (fields === null) return null;
  const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = fields;
  const terms = {
    name,
    tickSize: tickSize === undefined ? DEFAULT.tickSize : tickSizeOf(page, tickSize.value),
    minOrderSize: minOrderSize === undefined ? DEFAULT.minOrderSize : minimumOf(page, minOrderSize.value),
    feeRateBps: feeRateBps === undefined ? DEFAULT.feeRateBps : unitsAt(page, feeRateBps.value, FEE),
    matching: matching === undefined ? DEFAULT.matching : oneOf(page, matching.value, MATCHINGS),
    selfTrade: selfTrade === undefined ? DEFAULT.selfTrade : oneOf(page, selfTrade.value, POLICIES),
  };
  return isWhole(terms) ? terms : null;
}

/** Reads several markets by name, or null with a problem. */
function readMarkets(page: Page, node: Node): readonly MarketTerms[] | null {
  const mapping = mappingOf(page, node, "markets by name, a mapping");
  if (mapping === null) return null;
  if (mapping.entries.length === 0) return page.wrong(node.start, "expected at least one market, found none");
  const markets = mapping.entries.map(({ key, value }) => {
    const isNamed = isMarketName(key.value);
    if (!isNamed) page.unexpected(key.start, MARKET_NAME_RULE, key.value);
    const terms = readMarketTerms(page, key.value, value);
    return isNamed ? terms : null;
  });
  return markets.every((terms) => terms !== null) ? markets : null;
}

function tickSizeOf(page: Page, node: Node): Price | null {
  const text = textOf(page, node, orOf(TICK_SIZES));
  if (text === null) return null;
  const units = unitsOf(text, PRICE_PLACES);
  const isKnown = units !== null && TICK_SIZES.some((known) => unitsOf(known, PRICE_PLACES) === units);
  return isKnown ? price(units) : page.unexpected(node.start, orOf(TICK_SIZES), text);
}

const minimumOf = (page: Page, node: Node): Size | null => unitsAt(page, node, positive(SIZE)) as Size | null;

type Read<T> = { readonly [Key in keyof T]: T[Key] | null };

const isWhole = (terms: Read<MarketTerms>): terms is MarketTerms =>
  Object.values(terms).every((value) => value !== null);

/** Reads `{ alice: { USDC: 1000 }, bob: { rain YES: 500 } }`; null when none of the names can be known. */
function readAccounts(
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

/** The slugs of a world file's markets. @throws Error with a sentence when it is no world. */
export const worldMarkets = (path: string): readonly string[] =>
  readWorld(readText(path, FILE_LIMITS.world)).events.flatMap(({ markets }) =>
    markets.map(({ slug }) => slug),
  );
