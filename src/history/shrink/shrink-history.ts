import { CERTAIN } from "../../core/chain/chain.ts";
import { USDC } from "../../core/chain/settlement.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import { counted, listed } from "../../core/format.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange } from "../../engine/exchange.ts";
import type { Accepted } from "../../engine/journal.ts";
import { VenueOpener } from "../../scenario/run/run-suite.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { moment, type NodeMap, scenarioText } from "../scenario-text.ts";
import { faultedOrder, type TracedCommand, traceCommands } from "../trace.ts";
import {
  addressIn,
  Funds,
  marketEntries,
  type TouchedMarket,
  uniqueMarketName,
  Vocabulary,
} from "../vocabulary.ts";
import {
  accountsIn,
  breakingTrial,
  expectationTrial,
  type FailingTrace,
  type HistoryExpectation,
  type HistoryNames,
  HistoryNotExpressible,
  type HistoryRefusal,
  type HistoryTrial,
  orderName,
  orderNumber,
  ordersIn,
  refusalTrial,
  sameFailure,
} from "./history-failure.ts";
import {
  ddmin,
  NotRunInTime,
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "./shrink-scenario.ts";
import { type Environment, type Failed, Trial } from "./trial.ts";
/** Commands that an exchange accepted, the failing one last. */
export interface FailingCommands {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Accepted[];
}

export interface ShrinkHistoryOptions extends ShrinkOptions {
  /** The expectation that fails at the end, or the request refused there; null if a command throws or breaks an invariant. */
  readonly expected?: HistoryExpectation | HistoryRefusal | null;
  /** Opens the exchanges to which commands are applied; default: `new Exchange`. */
  readonly open?: (config: ExchangeConfig, start: Millis) => Exchange;
}

const FILE = "history.yaml";

/** Time reserved for writing and running the scenario: this many times that of applying the commands, and a minimum. */
const RESERVED_RUNS = 5;
const MIN_RESERVED_MS = 300;

/**
 * Reduces a failing history to a scenario that fails in the same way: a command throws, an invariant or an expectation
 * does not hold, or a request is refused. First the commands are reduced, then the scenario of the rest. Returns null if
 * the history does not fail.
 * @throws HistoryNotExpressible, NotRunInTime
 */
export async function shrinkHistory(
  { config, start: opened, entries }: FailingCommands,
  options: ShrinkHistoryOptions = {},
): Promise<ShrunkScenario | null> {
  const { open = (terms, at) => new Exchange(terms, at), progress, expected = null } = options;
  // The history of a world is from before the time at which its exchange is opened.
  const start = millis(Math.min(opened, entries[0]?.at ?? opened));
  const fresh = (): Exchange => open(config, start);
  const { commands, end: history } = runSteps(traceCommands(fresh(), entries));
  const trace = commands.filter(
    ({ command, at }, index) => !isCausedByTime(command) || commands[index - 1]?.at !== at,
  );
  const names = expected?.names ?? null;
  // The step of a wallet's call does not send one that would revert.
  const all =
    names === null ? trace : trace.filter(({ reverts }) => !reverts).map((traced) => renamed(traced, names));
  progress?.(all.length);
  let reserve = 0;
  const isOver = (): boolean => options.isOver?.(reserve) ?? false;
  const settings = { open: fresh, history, isOver };
  const expectation = expected !== null && "text" in expected ? expected : null;
  const refusal = expected !== null && "command" in expected ? refusalTrial(settings, expected) : null;
  const ending = expectation === null ? breakingTrial(settings) : expectationTrial(settings, expectation);
  const trial = refusal?.trial ?? ending;
  const before = performance.now();
  const [first] = await trial(all).catch((error: unknown) => {
    throw error instanceof RunStopped ? new NotRunInTime() : error;
  });
  if (first === undefined) return null;
  reserve = RESERVED_RUNS * (performance.now() - before) + MIN_RESERVED_MS;
  const request = refusal?.request ?? null;
  const isKept = expectation !== null ? marketsOf(all, expectation) : fundingsFor(request?.command);
  let few = await fewest(first, trial, isKept, { isOver, progress });
  if (refusal !== null) few = await withoutWaiting(few, refusal, start);
  const source = { config, start, history, count: entries.length, names, expectation, request, ...few };
  const opener = new VenueOpener();
  const environment: Environment = { file: FILE, folder: ".", open: (scenario) => opener.local(scenario) };
  const failed = await writeScenario(source, environment);
  // The scenario of a refusal is not reduced, because it lacks the conditions under which the request would be accepted.
  const shrunk =
    refusal === null ? await reduced(failed, environment, options) : unreduced(failed, !isOver());
  return { ...shrunk, before: all.length };
}

/** Gives a created market its name in the scenario. */
function renamed(traced: TracedCommand, { marketNames }: HistoryNames): TracedCommand {
  const { command, events } = traced;
  const created = events.find(({ kind }) => kind === "marketCreated");
  if (command.kind !== "createMarket" || created?.kind !== "marketCreated") return traced;
  return { ...traced, command: { ...command, slug: marketNames.get(created.market) ?? command.slug } };
}

/**
 * Returns whether a command creates a market of the session, or its event. These are kept if there are several markets,
 * because failures do not name a single one, or if the expectation names it.
 */
function marketsOf(all: readonly TracedCommand[], { names: { markets }, text }: HistoryExpectation) {
  const names = new Set(markets);
  const eventOf = ({ command }: TracedCommand): number | null =>
    command.kind === "createMarket" && names.has(command.slug) ? command.event : null;
  const events = new Set(all.map(eventOf));
  return (traced: TracedCommand): boolean =>
    (markets.length > 1 || markets.some((name) => text.includes(name))) &&
    (eventOf(traced) !== null ||
      traced.events.some((event) => event.kind === "eventCreated" && events.has(event.event)));
}

/** Returns whether a command funds the account of a refused order, which would be refused without funds when its cause is fixed. */
const fundingsFor =
  (refused: Command | undefined) =>
  ({ command }: TracedCommand): boolean =>
    refused?.kind === "placeOrder" && isFunding(command) && command.address === refused.address;

/** Leaves out as many commands as possible without changing the failure; `isKept` are never left out. */
async function fewest(
  first: FailingTrace,
  trial: HistoryTrial,
  isKept: (traced: TracedCommand) => boolean,
  { isOver, progress }: { readonly isOver: () => boolean; readonly progress: ShrinkOptions["progress"] },
): Promise<FailingTrace> {
  let few = first;
  const removable = () => few.trace.filter((traced) => !isKept(traced));
  const leaveOut = async (parts: readonly TracedCommand[]): Promise<boolean> => {
    const removed = new Set(parts);
    const trace = few.trace.filter((traced) => !removed.has(traced));
    const failing = await sameFailure(trial, trace, first.fingerprint);
    if (failing === null) return false;
    if (failing.trace.length < few.trace.length) progress?.(failing.trace.length);
    few = failing;
    return true;
  };
  await ddmin(removable, leaveOut, isOver).catch((error: unknown) => {
    if (!(error instanceof RunStopped)) throw error;
  });
  return few;
}

/** Removes the time between commands, and before the refused request, where the failure does not depend on it. */
async function withoutWaiting(
  few: FailingTrace,
  { trial, request }: ReturnType<typeof refusalTrial>,
  start: Millis,
): Promise<FailingTrace> {
  let best = few;
  for (let index = 0; index < best.trace.length; index += 1) {
    const at = best.trace[index - 1]?.at ?? start;
    const trace = best.trace.map((traced, other) => (other === index ? { ...traced, at } : traced));
    best = (await sameFailure(trial, trace, few.fingerprint)) ?? best;
  }
  const { at } = request;
  request.at = best.trace.at(-1)?.at ?? start;
  if ((await sameFailure(trial, best.trace, few.fingerprint)) === null) request.at = at;
  return best;
}

/** Reduces the scenario, if there is time. */
async function reduced(
  failed: Failed,
  environment: Environment,
  options: ShrinkOptions,
): Promise<ShrunkScenario> {
  try {
    const shrunk = await shrinkScenario(failed.draft.text, environment, options);
    if (shrunk === null) throw new Error("a scenario that failed does not fail again");
    return shrunk;
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    return unreduced(failed, false);
  }
}

function unreduced({ draft, scenario, fingerprint, failure }: Failed, isMinimal: boolean): ShrunkScenario {
  const { text } = draft;
  const { length: steps } = scenario.steps;
  return { text, fingerprint, failure, before: steps, steps, isMinimal, files: [], remarks: [] };
}

/** Writes commands as a scenario, in the first style in which it fails in the same way. @throws HistoryNotExpressible */
async function writeScenario(source: TraceToWrite, environment: Environment): Promise<Failed> {
  const { trace, fingerprint, count } = source;
  const trial = new Trial(environment);
  let why = "";
  for (const style of ["header", "steps"] as const) {
    const { text, unsupported } = historyScenario(source, style);
    const result = await trial.run(text);
    const isFailed = result.kind === "failed";
    if (isFailed && result.fingerprint.key === fingerprint.key) return result;
    const found = isFailed ? `fails differently: ${result.fingerprint.sentence}` : RESULTS[result.kind];
    const inexpressible = [...unsupported, ...inexpressibleIn(source)];
    why ||=
      inexpressible.length > 0
        ? `no scenario can express ${inexpressible.join(", ")}`
        : `the scenario of them ${found}`;
  }
  const sequences = listed(trace.map(({ sequence }) => String(sequence)));
  throw new HistoryNotExpressible(
    `${counted(trace.length, "command")} of ${count} ${trace.length === 1 ? "is" : "are"} enough to fail (${fingerprint.sentence}; sequences ${sequences}), but ${why}`,
  );
}

/** Settings that a scenario has, or that change nothing in it. */
const EXPRESSIBLE: ReadonlySet<string> = new Set(["seed", "faucet", "credentials", "settlement", "balances"]);

/** Describes the settings and faults that have other effects in a scenario. */
function* inexpressibleIn({ config, trace }: TraceToWrite): Generator<string> {
  for (const [name, value] of Object.entries(config)) if (!EXPRESSIBLE.has(name)) yield `${name}: ${value}`;
  const faults = trace.flatMap(({ command }) => (command.kind === "setSettlementFault" ? [command] : []));
  if (faults.some(({ probability }) => probability < CERTAIN))
    yield "which settlements a fault with a probability hits";
}

const RESULTS = { passed: "passes", unreadable: "cannot be read", stopped: "is stopped" } as const;

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

/** Commands to write as a scenario. */
interface TraceToWrite extends FailingTrace {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  /** State at the end of the whole history. */
  readonly history: State;
  readonly count: number;
  /** Names in the history; null if nothing there was named. */
  readonly names: HistoryNames | null;
  /** The expectation that fails at the end; null for another failure. */
  readonly expectation: HistoryExpectation | null;
  /** The command that should be accepted at the end, and is refused; null for another failure. */
  readonly request: TracedCommand | null;
}

/**
 * Writes commands of a history as a scenario, with markets and initial funds in the header. Funds include what the faucet
 * gave, and grants as shares of both outcomes. With `style` steps, all funds are in steps. `unsupported` describes
 * commands that no step can express.
 */
function historyScenario(source: TraceToWrite, style: "header" | "steps") {
  const { config, start, trace, fingerprint, count, names, expectation, request, history } = source;
  const all = request === null ? trace : [...trace, request];
  const markets = createdMarkets(source);
  const accounts = new Map<Address, string>();
  const orders = orderNames(source, all);
  const accountAt = (address: Address): string => {
    const { size } = accounts;
    const inHistory = names?.accountOf(address) ?? null;
    const name = accounts.get(address) ?? inHistory ?? NAMES[size] ?? `wallet-${size + 1}`;
    accounts.set(address, name);
    return name;
  };
  const words = new Vocabulary(markets, history, accountAt, (number) => orders.get(number));
  const funds = new Map<Address, Funds>();
  const acted = new Set<Address>();
  const derived = new Set<Address>();
  const unsupported = new Set<string>();
  const steps: NodeMap[] = [];
  let now = start;
  const addStep = (at: Millis, step: NodeMap | null): void => {
    if (at > now) steps.push({ at: moment(at) });
    now = at;
    if (step !== null) steps.push(step);
  };
  // The trades that an expectation has read do not count in a later one.
  let { tradesBefore: unread = [] } = source;
  const readTradesBefore = (): void => {
    if (unread.length > 0) steps.push({ expect: { trades: unread } });
    unread = [];
  };
  for (const traced of all) {
    const { at, command } = traced;
    if (traced.sequence > (names?.sequenceBefore ?? 0)) readTradesBefore();
    const address = addressIn(command);
    const fundings = fundingsOf(traced, source, markets);
    if (address !== null && fundings !== null) {
      const name = words.accountAt(address);
      const initial = funds.get(address) ?? new Funds();
      const isInHeader = style === "header" && !acted.has(address);
      // The faucet gives only at the first derivation of credentials.
      const isRepeated = command.kind === "deriveCredentials" && derived.has(address);
      if (command.kind === "deriveCredentials") derived.add(address);
      funds.set(address, initial);
      for (const [token, amount] of isRepeated ? [] : fundings) {
        if (isInHeader) initial.add(token, amount);
        else if (amount > 0) addStep(at, { [name]: words.funding(token, amount) });
      }
      continue;
    }
    if (address !== null) acted.add(address);
    const step = words.step(traced);
    if (typeof step === "string") unsupported.add(step);
    else if (step !== null || isCausedByTime(command)) addStep(at, step);
  }
  readTradesBefore();
  if (expectation !== null) {
    for (const name of accountsIn(expectation.expectations))
      words.accountAt(expectation.names.accounts.get(name) ?? name);
    steps.push({ expect: expectation.text });
  }
  const sentence = oneLine(fingerprint.sentence);
  const text = scenarioText({
    ...config,
    remarks: [`Of a history of ${count} commands, these are enough to fail: ${sentence}.`],
    name: sentence,
    clock: start,
    markets: marketEntries(markets, []).entries,
    accounts: Object.fromEntries(
      [...accounts].map(([address, name]) => [name, words.assets(funds.get(address) ?? new Funds())]),
    ),
    steps,
  });
  return { text, unsupported: [...unsupported] };
}

const isFunding = (command: Command) =>
  command.kind === "deriveCredentials" || command.kind === "fundAccount";

/** Returns what a command funds: micro-USDC for the token USDC, else size units; null if it is no funding. */
function fundingsOf(
  { command }: TracedCommand,
  { config, history }: TraceToWrite,
  markets: readonly TouchedMarket[],
): (readonly [token: number, amount: number])[] | null {
  if (!isFunding(command)) return null;
  const { collateral, everyMarket } = command.kind === "fundAccount" ? command : config.faucet;
  const single = (command.kind === "fundAccount" ? command.tokens : []).map(
    ({ tokenId, size }) => [history.tokenById.get(tokenId) ?? 0, size] as const,
  );
  const everywhere = markets.flatMap(({ number }) =>
    (["YES", "NO"] as const).map((outcome) => [tokenOf(number, outcome), everyMarket] as const),
  );
  const isThere = ([token]: readonly [number, number]): boolean =>
    markets.some(({ number }) => number === marketOfToken(token));
  return [[USDC, collateral], ...single.filter(isThere), ...everywhere];
}

/** Returns the markets that commands create, with their names in the scenario. */
function createdMarkets({ trace, history, names: given }: TraceToWrite): TouchedMarket[] {
  const names = new Set<string>();
  return trace.flatMap(({ events }) =>
    events.flatMap((event): TouchedMarket[] => {
      if (event.kind !== "marketCreated") return [];
      const name = given?.marketNames.get(event.market) ?? uniqueMarketName(event.slug, names);
      return [{ number: event.market, name, before: null, after: history.markets.get(event.market) }];
    }),
  );
}

/** Names the orders to which commands or expectations refer, by number. */
function orderNames(source: TraceToWrite, all: readonly TracedCommand[]): Map<number, string> {
  const { trace, history, names: given, expectation } = source;
  const referenced = new Set<number | "next" | null>();
  for (const traced of all) {
    const { command } = traced;
    if (command.kind === "cancelOrder") referenced.add(numberOf(history.idPrefixes.order, command.orderId));
    if (command.kind === "setSettlementFault")
      referenced.add(faultedOrder(command.order ?? 0, traced.before));
  }
  for (const name of ordersIn(expectation?.expectations ?? [])) referenced.add(orderNumber(name));
  const names = new Map<number, string>();
  for (const { placed } of trace) {
    if (placed === null || !referenced.has(placed.order)) continue;
    names.set(placed.order, given === null ? `order-${names.size + 1}` : orderName(placed.order));
  }
  return names;
}

const MAX_TITLE_LENGTH = 150;

const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, MAX_TITLE_LENGTH);
