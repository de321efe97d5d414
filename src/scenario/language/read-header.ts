import { nearest } from "../../api/nearest.ts";
import { sha256Hex } from "../../core/hash.ts";
import { type Millis, millis } from "../../core/units.ts";
import { readAccounts } from "./account-terms.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import { defaultMarket, readMarkets, readMarketTerms } from "./market-terms.ts";
import type { Scenario } from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { momentAt, oneOf, textOf } from "./values.ts";
import { BALANCE_POLICIES, SETTLEMENT_MODES } from "./vocabulary.ts";
import type { Entry, Node } from "./yaml-tree.ts";

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
export interface Header extends Omit<Scenario, "steps" | "accounts" | "markets"> {
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
const NAME_RULE = `a name of 1 to ${LONGEST_NAME} characters on one line`;
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
  const name = lineOf(file, fields.scenario, NAME_RULE, LONGEST_NAME) ?? "";
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
