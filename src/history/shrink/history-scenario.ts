import { isCausedByTime } from "../../core/commands.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import { map, moment, type Step, scenarioText } from "../scenario-text.ts";
import { faultedOrder, type TracedCommand } from "../trace.ts";
import { addressIn, Funds, freeName, marketEntries, type TouchedMarket, Vocabulary } from "../vocabulary.ts";
import type { FailureFingerprint } from "./fingerprint.ts";
import {
  accountsIn,
  type HistoryExpectation,
  type HistoryNames,
  orderName,
  orderNumber,
  ordersIn,
} from "./history-expectation.ts";

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

/** Whether funds that accounts get before they act are in the header, or all funds in steps. */
export type FundingStyle = "header" | "steps";

/** Commands to write as a scenario. */
export interface TraceToWrite {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly trace: readonly TracedCommand[];
  /** State at the end of the whole history. */
  readonly history: State;
  readonly fingerprint: FailureFingerprint;
  /** Number of commands in the history. */
  readonly count: number;
  readonly style: FundingStyle;
  /** The expectation that fails at the end, or the command that is refused there; null for another failure. */
  readonly expected: HistoryExpectation | RefusedAtEnd | null;
}

/** A command that should be accepted, with the names of its history. */
interface RefusedAtEnd {
  readonly names: HistoryNames;
  readonly traced: TracedCommand;
}

/**
 * Writes commands of a history as a scenario, with markets and initial funds in the header. Funds include what the faucet
 * gave, and grants as shares of both outcomes. `unsupported` describes commands that no step can express.
 */
export function historyScenario(source: TraceToWrite) {
  const { config, start, trace, fingerprint, count, style, expected, history } = source;
  const all = expected !== null && "traced" in expected ? [...trace, expected.traced] : trace;
  const markets = marketsOf(source);
  const accounts = new Map<Address, string>();
  const orders = orderNames(source, all);
  const words = new Vocabulary(markets, history, {
    account: (address) => {
      const { size } = accounts;
      const inHistory = expected?.names.accountOf(address) ?? null;
      const name = accounts.get(address) ?? inHistory ?? NAMES[size] ?? `wallet-${size + 1}`;
      accounts.set(address, name);
      return name;
    },
    order: (number) => orders.get(number),
  });
  const funds = new Map<Address, Funds>();
  const acted = new Set<Address>();
  const unsupported = new Set<string>();
  const steps: Step[] = [];
  let now = start;
  const addStep = (at: Millis, step: Step | null): void => {
    if (at > now) steps.push([["at", moment(at)]]);
    now = at;
    if (step !== null) steps.push(step);
  };
  for (const traced of all) {
    const { at, command } = traced;
    const address = addressIn(command);
    const fundings = fundingsOf(traced, source, markets);
    if (address !== null && fundings !== null) {
      const name = words.accountAt(address);
      const initial = funds.get(address) ?? new Funds();
      const isInHeader = style === "header" && !acted.has(address);
      // The faucet gives only at the first derivation of credentials.
      const isRepeated = command.kind === "deriveCredentials" && funds.has(address);
      funds.set(address, initial);
      for (const [token, amount] of isRepeated ? [] : fundings) {
        if (isInHeader) initial.add(token, amount);
        else if (amount > 0) addStep(at, [[name, words.funding(token, amount)]]);
      }
      continue;
    }
    if (address !== null) acted.add(address);
    const step = words.step(traced);
    if (step === null && isCausedByTime(command)) addStep(at, null);
    else if (step !== null && "unsupported" in step) unsupported.add(step.unsupported);
    else if (step !== null) addStep(at, step);
  }
  if (expected !== null && "text" in expected) {
    const { names, expectations, text } = expected;
    for (const name of accountsIn(expectations)) words.accountAt(names.accounts.get(name) ?? name);
    steps.push([["expect", text]]);
  }
  const sentence = oneLine(fingerprint.sentence);
  const { seed, settlement, balances } = config;
  const text = scenarioText({
    remarks: [`Of a history of ${count} commands, these are enough to fail: ${sentence}.`],
    name: sentence,
    seed,
    clock: start,
    settlement,
    balances,
    markets: marketEntries(markets, []).entries,
    accounts: [...accounts].map(([address, name]) => [
      name,
      map(words.assets(funds.get(address) ?? new Funds())),
    ]),
    steps,
  });
  return { text, unsupported: [...unsupported] };
}

/** Returns what a command funds: micro-USDC if the token is 0, else size units; null if it is no funding. */
function fundingsOf(
  { command }: TracedCommand,
  { config, history }: TraceToWrite,
  markets: readonly TouchedMarket[],
): (readonly [token: number, amount: number])[] | null {
  if (command.kind !== "deriveCredentials" && command.kind !== "fundAccount") return null;
  const { collateral, everyMarket } = command.kind === "fundAccount" ? command : config.faucet;
  const single = (command.kind === "fundAccount" ? command.tokens : []).map(
    ({ tokenId, size }) => [history.tokenById.get(tokenId) ?? 0, size] as const,
  );
  const everywhere = markets.flatMap(({ number }) =>
    (["YES", "NO"] as const).map((outcome) => [tokenOf(number, outcome), everyMarket] as const),
  );
  const isThere = ([token]: readonly [number, number]): boolean =>
    markets.some(({ number }) => number === marketOfToken(token));
  return [[0, collateral], ...single.filter(isThere), ...everywhere];
}

/** Returns the markets that commands create, with their names in the scenario. */
function marketsOf({ trace, history, expected }: TraceToWrite): TouchedMarket[] {
  const names = new Set<string>();
  return trace.flatMap(({ events }) =>
    events.flatMap((event): TouchedMarket[] => {
      if (event.kind !== "marketCreated") return [];
      const name = expected?.names.marketNames.get(event.market) ?? freeName(event.slug, names);
      names.add(name);
      return [{ number: event.market, name, before: null, after: history.markets.get(event.market) }];
    }),
  );
}

/** Names the orders to which commands or expectations refer, by number. */
function orderNames(
  { trace, history, expected }: TraceToWrite,
  all: readonly TracedCommand[],
): Map<number, string> {
  const referenced = new Set<number | "next" | null>();
  for (const traced of all) {
    const { command } = traced;
    if (command.kind === "cancelOrder") referenced.add(numberOf(history.idPrefixes.order, command.orderId));
    if (command.kind === "setSettlementFault") referenced.add(faultedOrder(command.order ?? 0, traced));
  }
  if (expected !== null && "text" in expected) {
    for (const name of ordersIn(expected.expectations)) referenced.add(orderNumber(name));
  }
  const names = new Map<number, string>();
  for (const { placed } of trace) {
    if (placed === null || !referenced.has(placed.order)) continue;
    names.set(placed.order, expected === null ? `order-${names.size + 1}` : orderName(placed.order));
  }
  return names;
}

const MAX_NAME_LENGTH = 150;

const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, MAX_NAME_LENGTH);
