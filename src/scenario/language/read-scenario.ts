import { basename, dirname, join } from "node:path";
import { unitsOf } from "../../api/decimals.ts";
import { TICK_SIZES } from "../../api/markets.ts";
import { nearest } from "../../api/nearest.ts";
import { PRICE_PLACES } from "../../core/format.ts";
import { sha256Hex } from "../../core/hash.ts";
import {
  anyOf,
  BALANCE_POLICIES,
  MATCHINGS,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
} from "../../core/terms.ts";
import { millis, type Price, price, type Size, size } from "../../core/units.ts";
import { FILE_LIMITS, readText } from "../../regular-file.ts";
import { readWorld } from "../../simulation/world.ts";
import { Declarations } from "./declarations.ts";
import {
  countOf,
  entriesIn,
  isMarketName,
  isName,
  MARKET_NAME_RULE,
  matching,
  moment,
  NAME_RULE,
  oneOf,
  positive,
  type Reader,
  readEach,
  SHARES,
  SIZE,
  text,
  USDC,
  units,
  valuesBy,
  valuesOf,
} from "./fields.ts";
import { attempt, isNothing, type Node, Page, type TextNode } from "./page.ts";
import { type AccountTerms, assetText, type Funding, type MarketTerms } from "./parts.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { StepsReader } from "./read-steps.ts";
import type { Scenario } from "./scenario.ts";
import { readTextFile, ScenarioFiles } from "./scenario-files.ts";
import { isReserved } from "./steps.ts";

export interface ReadOptions {
  /** Folder of the file, by default the folder in its name. The scenario's paths are relative to it and stay in it. */
  readonly folder?: string;
  /** Returns the markets of a world; reads the world file by default. */
  readonly worldMarkets?: WorldMarkets;
}

/** The scenario is null if its file has problems. */
interface ReadScenario {
  readonly scenario: Scenario | null;
  /** In the order of the file, at most 20. */
  readonly problems: readonly Problem[];
  /** Absolute paths of the files that it names, as far as it could be read. */
  readonly named: readonly string[];
}

/** Reads a scenario from the text of its file; `file` as the user named it. Never throws because of the text. */
export function readScenario(file: string, content: string, options: ReadOptions = {}): ReadScenario {
  const problems = new ProblemList();
  const files = new ScenarioFiles(file, options.folder ?? dirname(file), problems);
  const scenario = attempt((): Scenario => {
    const root = files.open(content);
    const { declared, steps, ...header } = readHeader(root, files, options.worldMarkets ?? worldMarkets);
    const reader = new StepsReader({ files, declared }, join(root.page.folder, basename(file)), file);
    return { ...header, steps: steps === undefined ? [] : reader.read(steps) };
  });
  const named = [...files.named];
  if (scenario !== undefined && problems.isEmpty) return { scenario, problems: [], named };
  return { scenario: null, problems: problems.inOrder(file), named };
}

/** Reads a scenario file. Never throws because of the file. */
export function loadScenario(file: string, options: Omit<ReadOptions, "folder"> = {}): ReadScenario {
  const read = readTextFile(file);
  if (read.ok) return readScenario(file, read.text, options);
  const problems = new ProblemList();
  const page = new Page(file, dirname(file), read.before, problems);
  page.wrong(page.text.length, read.message);
  return { scenario: null, problems: problems.inOrder(file), named: [] };
}

/** Returns the slugs of the markets in a world file. @throws Error if it is not a world file. */
export type WorldMarkets = (path: string) => readonly string[];

/** 2026-01-01T00:00:00Z. */
const DEFAULT_CLOCK = millis(1_767_225_600_000);
const SEED_DIGITS = 16;
const MAX_NAME_LENGTH = 200;
const MAX_SEED_LENGTH = 128;
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

export const seedOfName = (name: string): string => sha256Hex(name).slice(0, SEED_DIGITS);

function readHeader(root: Node, files: ScenarioFiles, marketsIn: WorldMarkets) {
  const entries = entriesIn(root, "a scenario");
  const readers = {
    scenario: line("a name", MAX_NAME_LENGTH),
    about: text("some text"),
    seed: line("a text", MAX_SEED_LENGTH),
    clock: moment(),
    settlement: oneOf(SETTLEMENT_MODES),
    balances: oneOf(BALANCE_POLICIES),
    market: (node: Node) => [readMarketTerms(defaultMarket().name, node)],
    markets: readMarkets,
    world: (node: Node) => {
      const path = files.pathAt(node);
      try {
        return { path, markets: marketsIn(path) };
      } catch (error) {
        const { message } = error as Error;
        throw node.wrong(`no world can be read from ${files.nameOf(path)}: ${message}`);
      }
    },
    accounts: (node: Node) => node,
    steps: (node: Node) => node,
  };
  const keyOf = (name: string): TextNode | undefined => entries.find(({ key }) => key.text === name)?.key;
  const missing = ["scenario", "steps"].filter((name) => keyOf(name) === undefined);
  if (missing.length > 0) root.wrong(`expected the key ${missing.join(" and the key ")}, found none`);
  const [first, second] = ["market", "markets", "world"].flatMap((name) => keyOf(name) ?? []);
  const isOnePlace = second === undefined;
  const read = isOnePlace ? entries : entries.filter(({ key }) => !/^(?:markets?|world)$/.test(key.text));
  if (!isOnePlace)
    second.wrong(`expected one of market, markets and world, found ${first?.text} and ${second.text}`);
  const values = valuesBy(read, readers);
  const markets = values.market ?? values.markets ?? (first === undefined ? [defaultMarket()] : []);
  const isKnown = first === undefined || (values.market ?? values.markets ?? values.world) !== undefined;
  const names = isKnown ? new Set(values.world?.markets ?? markets.map(({ name }) => name)) : null;
  const accounts = attempt(() => readAccounts(values.accounts, names)) ?? null;
  // After a mistyped `accounts` key the accounts are unknown.
  const isMistyped =
    values.accounts === undefined &&
    entries.some(({ key }) => nearest(key.text, Object.keys(readers)) === "accounts");
  const accountNames = accounts === null || isMistyped ? null : new Set(accounts.map(({ name }) => name));
  const name = values.scenario ?? "";
  return {
    name,
    place: (keyOf("scenario") ?? root).place,
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

/** Reads a text on one line, of at most `max` characters. */
function line(what: string, max: number): Reader<string> {
  const rule = `${what} of 1 to ${max} characters on one line`;
  const isLine = (text: string): boolean =>
    text.trim().length > 0 && text.trim().length <= max && !INVISIBLE.test(text.trim());
  return (word) => matching(isLine, rule)(word).trim();
}

export const worldMarkets: WorldMarkets = (path) =>
  readWorld(readText(path, FILE_LIMITS.world)).events.flatMap(({ markets }) =>
    markets.map(({ slug }) => slug),
  );

/** Returns the market of a scenario that declares none, and the default terms of every market. */
export const defaultMarket = (): MarketTerms => ({
  name: "market",
  tickSize: price(100),
  minOrderSize: size(100),
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
});

const MARKET_READERS = {
  tickSize: (node: Node): Price => {
    const expected = anyOf(TICK_SIZES.map(String));
    const found = unitsOf(node.textFor(expected), PRICE_PLACES);
    const isKnown =
      found !== null && TICK_SIZES.some((known) => unitsOf(String(known), PRICE_PLACES) === found);
    if (isKnown) return price(found);
    throw node.unexpected(expected);
  },
  minOrderSize: units<Size>(positive(SIZE)),
  feeRateBps: units(countOf("a number of basis points", 0, 10_000)),
  matching: oneOf(MATCHINGS),
  selfTrade: oneOf(SELF_TRADE_POLICIES),
};

function readMarketTerms(name: string, node: Node): MarketTerms {
  const terms = valuesOf(node, "the terms of a market", MARKET_READERS);
  return { ...defaultMarket(), ...(terms as Partial<MarketTerms>), name };
}

function readMarkets(node: Node): readonly MarketTerms[] {
  const entries = entriesIn(node, "markets by name");
  if (entries.length === 0) throw node.wrong("expected at least one market, found none");
  return entries.map(({ key, value }) => {
    if (!isMarketName(key.text)) key.unexpected(MARKET_NAME_RULE);
    return attempt(() => readMarketTerms(key.text, value)) ?? { ...defaultMarket(), name: key.text };
  });
}

/** Reads `{ alice: { USDC: 1000 }, bob: { rain YES: 500 } }`. */
function readAccounts(node: Node | undefined, markets: ReadonlySet<string> | null): readonly AccountTerms[] {
  if (node === undefined || isNothing(node)) return [];
  const declared = new Declarations(markets, null);
  return entriesIn(node, "accounts by name").map(({ key, value }) => {
    if (isReserved(key.text)) key.wrong(`${key.text} is a word of the language and cannot name an account`);
    else if (!isName(key.text)) key.unexpected(NAME_RULE);
    const funding = attempt(() => readFunding(value, declared)) ?? [];
    return { name: key.text, place: key.place, funding };
  });
}

function readFunding(node: Node, declared: Declarations): Funding[] {
  if (isNothing(node)) return [];
  const taken = new Set<string>();
  return readEach(entriesIn(node, "amounts by USDC, YES or NO"), ({ key, value }) => {
    const asset = declared.asset(key);
    const amount = units(asset === "USDC" ? USDC : SHARES)(value);
    const name = assetText(asset);
    if (taken.has(name)) key.wrong(`${key.text} is given twice`);
    taken.add(name);
    return { asset, amount } as Funding;
  }).filter(({ amount }) => amount !== 0);
}
