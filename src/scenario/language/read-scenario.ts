import { basename, dirname, join } from "node:path";
import { isOneLine, listed, MAX_SEED_LENGTH, PRICE_PLACES, unitsOf } from "../../core/format.ts";
import { sha256Hex } from "../../core/hash.ts";
import {
  anyOf,
  BALANCE_POLICIES,
  MATCHINGS,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  TICK_SIZES,
} from "../../core/terms.ts";
import { FROZEN_START, type Price, price, type Size } from "../../core/units.ts";
import { FILE_LIMITS, readText } from "../../regular-file.ts";
import { readWorld } from "../../simulation/world.ts";
import { accountStepOf, isAccountLine } from "./account-step.ts";
import {
  type AccountTerms,
  assetText,
  Declarations,
  defaultMarket,
  type Funding,
  type MarketTerms,
} from "./declarations.ts";
import {
  decimal,
  entriesIn,
  isMarketName,
  isMisplaced,
  isMissing,
  isName,
  itemsOf,
  keyOf,
  MARKET_NAME_RULE,
  matching,
  moment,
  NAME_RULE,
  oneOf,
  positive,
  type Reader,
  readEach,
  ruleText,
  SHARES,
  SIZE,
  USDC,
  units,
  valuesBy,
  valuesOf,
} from "./fields.ts";
import {
  attempt,
  isNothing,
  type MappingEntry,
  meaning,
  type Node,
  type Problem,
  ProblemList,
  UNREADABLE,
} from "./page.ts";
import { type FileText, readTextFile, ScenarioFiles, type Source } from "./scenario-files.ts";
import { readStep, type StepInfo, type StepSource } from "./step-source.ts";
import {
  BESIDE_KEYS,
  isReserved,
  KEYS_OF_OTHER_TOOLS,
  type Scenario,
  STEP_KEYS,
  STEP_OF_KEY,
  STEPS,
  type Step,
} from "./steps.ts";

export interface ReadOptions {
  /** Folder of the file, by default the folder in its name. The scenario's paths are relative to it and stay in it. */
  readonly folder?: string;
  /** Returns the markets of a world; reads the world file by default. */
  readonly worldMarkets?: WorldMarkets;
}

/** The scenario is null if its file has problems. */
interface ReadScenario {
  readonly scenario: Scenario | null;
  /** The tree of its text; null if that is not YAML. */
  readonly root: Node | null;
  /** In the order of the file, at most 20. */
  readonly problems: readonly Problem[];
  /** Absolute paths of the files that it names, as far as it could be read. */
  readonly named: readonly string[];
}

/** Reads a scenario from the text of its file; `file` as the user named it. Never throws because of the text. */
export const readScenario = (file: string, content: string, options: ReadOptions = {}): ReadScenario =>
  readFrom(file, { text: content, problem: null }, options);

/** Reads a scenario file. Never throws because of the file. */
export const loadScenario = (file: string): ReadScenario => readFrom(file, readTextFile(file), {});

function readFrom(file: string, content: FileText, options: ReadOptions): ReadScenario {
  const problems = new ProblemList();
  const files = new ScenarioFiles(file, options.folder ?? dirname(file), problems);
  const read = (root: Node): Scenario => {
    const { declared, steps, ...header } = readHeader(root, files, options.worldMarkets ?? worldMarkets);
    const reader = new StepsReader({ files, declared }, join(root.page.folder, basename(file)), file);
    return { ...header, steps: steps === undefined ? [] : reader.read(steps) };
  };
  const root = attempt(() => files.open(content)) ?? null;
  const scenario = attempt(() => root && read(root)) ?? null;
  const found = { root, problems: problems.inOrder(file), named: [...files.named] };
  return { ...found, scenario: problems.isEmpty ? scenario : null };
}

/** Returns the slugs of the markets in a world file. @throws Error if it is not a world file. */
export type WorldMarkets = (path: string) => readonly string[];

const SEED_DIGITS = 16;
const MAX_TITLE_LENGTH = 200;

export const seedOfName = (name: string): string => sha256Hex(name).slice(0, SEED_DIGITS);

function readHeader(root: Node, files: ScenarioFiles, marketsIn: WorldMarkets) {
  if (root.kind === "list") {
    const hint = "begin the name of a file of steps that others include with _";
    throw root.unexpected("a scenario, a mapping", [], hint);
  }
  const entries = entriesIn(root, "a scenario");
  const readers = {
    scenario: line("a name", MAX_TITLE_LENGTH),
    about: (node: Node) => node.textFor("some text"),
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
  const keyAt = (name: string) => keyOf(entries, name);
  const missing = ["scenario", "steps"].filter((name) => isMissing(entries, readers, name));
  const [first, second] = ["market", "markets", "world"].flatMap((name) => keyAt(name) ?? []);
  const isOnePlace = second === undefined;
  const read = isOnePlace ? entries : entries.filter(({ key }) => !/^(?:markets?|world)$/.test(key.text));
  if (!isOnePlace)
    second.wrong(`expected one of market, markets and world, found ${first?.text} and ${second.text}`);
  const values = valuesBy(read, readers);
  // Reported last, because a wrong first key, which has the same place, may explain it.
  if (missing.length > 0) root.wrong(`expected the key ${missing.join(" and the key ")}, found none`);
  const markets = values.market ?? values.markets ?? (first === undefined ? [defaultMarket()] : []);
  const isKnown = first === undefined || (values.market ?? values.markets ?? values.world) !== undefined;
  const names = isKnown ? new Set(values.world?.markets ?? markets.map(({ name }) => name)) : null;
  const accounts = attempt(() => readAccounts(values.accounts, names)) ?? null;
  const areUnread = values.accounts === undefined && !isMissing(entries, readers, "accounts");
  const areUnknown = accounts === null || areUnread;
  const accountNames = areUnknown ? null : new Set(accounts.map(({ name }) => name));
  const name = values.scenario ?? "";
  return {
    name,
    place: (keyAt("scenario") ?? root).place,
    seed: values.seed ?? seedOfName(name),
    clock: values.clock ?? FROZEN_START,
    settlement: values.settlement ?? "instant",
    balances: values.balances ?? "optimistic",
    world: values.world?.path ?? null,
    markets,
    accounts: accounts ?? [],
    declared: new Declarations(names, accountNames, keyAt("world") !== undefined),
    steps: values.steps,
  };
}

/** Reads a text on one line, of at most `max` characters, without the space around it. */
function line(what: string, max: number): Reader<string> {
  const rule = `${what} of 1 to ${max} characters on one line`;
  const read = matching((text) => isOneLine(text.trim(), max), rule);
  return (word) => read(word).trim();
}

export const worldMarkets: WorldMarkets = (path) => {
  const { events } = readWorld(readText(path, FILE_LIMITS.world));
  return events.flatMap(({ markets }) => markets.map(({ slug }) => slug));
};

const BASIS_POINTS = decimal("a number of basis points", 0, 10_000);

/** Reads basis points; suggests 200 for `2%`. */
function basisPoints(node: Node): number {
  const given = node.textFor(ruleText(BASIS_POINTS));
  const meant = given.endsWith("%") ? unitsOf(given.slice(0, -1), 2) : null;
  if (meant !== null) throw node.unexpected(ruleText(BASIS_POINTS), [], meaning(String(meant)));
  return units(BASIS_POINTS)(node);
}

const MARKET_READERS = {
  tickSize: (node: Node): Price => {
    const expected = anyOf(TICK_SIZES.map(String));
    const found = unitsOf(node.textFor(expected), PRICE_PLACES);
    const known = TICK_SIZES.find((each) => unitsOf(each, PRICE_PLACES) === found);
    if (found === null || known === undefined) throw node.unexpected(expected);
    return price(found);
  },
  minOrderSize: units<Size>(positive(SIZE)),
  feeRateBps: basisPoints,
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

const NOT_IN_A_RACE: readonly string[] = ["race", "repeat", "include", "snapshot", "restore"];
const MAX_STEPS = 100_000;
const MAX_RUNS = 5_040;
const MAX_LEVELS = 16;
/** In total, because files that include each other many times would take too long. */
const MAX_INCLUDES = 1_000;

/** Reads the steps of a scenario in order, included files in place. */
class StepsReader {
  readonly #source: Source;
  /** The files being read: the scenario's file, then each file that the previous one includes. */
  readonly #openFiles: { readonly path: string; readonly name: string }[];
  #includes = 0;
  #number = 0;
  /** Number of runs that the races so far need: the product of their numbers of orders. */
  #runs = 1;

  /** `path`: of the scenario's file; `name`: as the user named it. */
  constructor(source: Source, path: string, name: string) {
    this.#source = source;
    this.#openFiles = [{ path, name }];
  }

  read(list: Node, into: Step[] = []): Step[] {
    const nodes = itemsOf(list, "a list of steps", "begin each step with a dash and a space");
    if (nodes.length === 0) throw list.wrong("expected at least one step, found an empty list");
    for (const node of nodes) this.#read(node, into);
    return into;
  }

  #read(node: Node, into: Step[]): void {
    const keys = attempt(() => stepKeysOf(node, this.#source));
    const word = keys?.head.key.text;
    if (keys !== undefined && word === "include") attempt(() => this.#include(keys, into));
    else if (keys !== undefined && word === "repeat") attempt(() => this.#repeat(keys, into));
    else {
      this.#number += 1;
      if (this.#number === MAX_STEPS + 1) node.wrong(`more than ${MAX_STEPS} steps`);
      if (keys === undefined || this.#number > MAX_STEPS) return;
      const step = attempt(() => this.#stepOf(keys));
      if (step !== undefined) into.push(step);
    }
  }

  #stepOf(keys: StepKeys): Step {
    const { key } = keys.head;
    const readRacing = (nodes: readonly Node[]) => this.#racing(nodes);
    const source = { ...this.#source, ...keys, number: this.#number, readRacing };
    const kind = STEP_OF_KEY.get(key.text) ?? accountStepOf(source);
    const step = readStep(kind, STEPS[kind] as StepInfo, source) as Step;
    if (step.kind !== "race") return step;
    for (let count = 2; count <= step.steps.length; count += 1) this.#runs *= count;
    if (this.#runs <= MAX_RUNS) return step;
    throw key.wrong(`expected at most ${MAX_RUNS} runs, found races with ${this.#runs} orders`);
  }

  #racing(nodes: readonly Node[]): Step[] {
    const steps: Step[] = [];
    for (const node of nodes) {
      const key = node.entries.find((entry) => NOT_IN_A_RACE.includes(entry.key.text))?.key;
      if (key === undefined) this.#read(node, steps);
      else key.wrong(`${key.text} cannot be in a race`);
    }
    return steps;
  }

  /** Reads the steps of a repeat once for each round. */
  #repeat({ head, beside }: StepKeys, into: Step[]): void {
    const readers = { steps: (node: Node) => node };
    const { steps } = valuesBy(beside, readers);
    if (isMissing(beside, readers, "steps"))
      head.key.wrong("expected the key steps beside repeat, found none");
    const times = units(decimal("a number of times", 1, MAX_STEPS))(head.value);
    if (steps === undefined) return;
    this.#source.declared.rounds.repeat(times, () => {
      const before = this.#number;
      attempt(() => this.read(steps, into));
      return this.#number > before && this.#number <= MAX_STEPS;
    });
  }

  #include({ head: { value }, beside }: StepKeys, into: Step[]): void {
    const { files } = this.#source;
    valuesBy(beside, {});
    const path = files.pathAt(value);
    const name = files.nameOf(path);
    this.#includes += 1;
    const chain = [...this.#openFiles, { name }].map((file) => file.name).join(" → ");
    if (this.#openFiles.some((file) => file.path === path))
      throw value.wrong(`the file includes itself: ${chain}`);
    if (this.#openFiles.length > MAX_LEVELS)
      throw value.wrong(`more than ${MAX_LEVELS} levels of include: ${chain}`);
    if (this.#includes > MAX_INCLUDES) throw value.wrong(`more than ${MAX_INCLUDES} includes`);
    this.#openFiles.push({ path, name });
    files.problems.including(value.place, () =>
      attempt(() => {
        const part = files.part(path);
        const readers = { steps: (node: Node) => node };
        const isList = part.kind === "list";
        const list = isList ? part : valuesOf(part, "a list of steps, or steps", readers, "steps").steps;
        this.read(list, into);
      }),
    );
    this.#openFiles.pop();
  }
}

type StepKeys = Pick<StepSource, "head" | "beside">;

const STEP_RULE = "a step such as `alice: BUY 10 YES @ 0.5` or `advance: 30s`";

/** Finds the key of a step. No such key, two of them, or an unknown key is a problem. */
function stepKeysOf(node: Node, { declared: { accounts, accountsText } }: Source): StepKeys {
  if (node.kind !== "mapping") throw node.unexpected(STEP_RULE, [...(accounts ?? []), ...STEP_KEYS]);
  const entries = node.ownEntries;
  const isKnown = ({ key: { text } }: MappingEntry): boolean =>
    !BESIDE_KEYS.has(text) && (isReserved(text) || accounts === null || accounts.has(text));
  const head = entries.find(isKnown);
  if (head === undefined) {
    const stranger = entries.find(({ key }) => !BESIDE_KEYS.has(key.text));
    if (stranger === undefined) throw node.wrong(`expected ${STEP_RULE}, found none`);
    if (isAccountLine(stranger.value)) throw stranger.key.unknown("account", accounts ?? [], accountsText);
    const what = "step or account";
    const meant = KEYS_OF_OTHER_TOOLS.get(stranger.key.text);
    if (meant !== undefined) throw stranger.key.unknown(what, [], `did you mean ${meant}?`);
    const known = [...(accounts ?? []), ...STEP_KEYS];
    throw stranger.key.unknown(what, known, `${accountsText}; other steps are ${listed(STEP_KEYS)}`);
  }
  const beside = entries.filter((entry) => entry !== head);
  const second = accounts === null ? undefined : beside.find(isKnown)?.key;
  const stranger = beside.find(({ key }) => !BESIDE_KEYS.has(key.text))?.key;
  if (second === undefined && isMisplaced(head, stranger, BESIDE_KEYS)) throw UNREADABLE;
  if (second === undefined) return { head, beside };
  throw second.wrong(`expected one step, found ${second.text} as well`, "begin each step with a dash");
}
