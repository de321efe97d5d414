import { isCausedByTime } from "../../core/commands.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, tokenOf } from "../../core/market.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import { map, moment, type Step, scenarioText } from "../scenario-text.ts";
import { orderOfFault, type TracedCommand } from "../trace.ts";
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

/** Whether what accounts get before they act stands in the header, or all of it in steps. */
export type FundingStyle = "header" | "steps";

/** Some commands to be written as a scenario. */
export interface TraceToWrite {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly trace: readonly TracedCommand[];
  /** What is known at the end of the whole history. */
  readonly history: State;
  readonly fingerprint: FailureFingerprint;
  /** How many commands the history had. */
  readonly count: number;
  readonly style: FundingStyle;
  /** What must be true at the end, or what must be accepted there, where it is that which fails. */
  readonly expected: HistoryExpectation | RefusedAtEnd | null;
}

/** A command that is refused where it should be accepted, and the names of the history. */
interface RefusedAtEnd {
  readonly names: HistoryNames;
  readonly traced: TracedCommand;
}

/**
 * Some commands of a history as a scenario of their own: its markets and what its accounts start with are its header. What
 * the exchange's own faucet gave is given there, and grants in every market as shares of both outcomes. `unsaid` is what was done that no step says, in words.
 */
export function historyScenario(written: TraceToWrite) {
  const { config, start, trace, fingerprint, count, style, expected, history } = written;
  const all = expected !== null && "traced" in expected ? [...trace, expected.traced] : trace;
  const markets = marketsOf(written);
  const accounts = new Map<Address, string>();
  const orders = orderNames(written, all);
  const words = new Vocabulary(markets, history, {
    account: (address) => {
      const { size } = accounts;
      const given = expected?.names.accountOf(address) ?? null;
      const name = accounts.get(address) ?? given ?? NAMES[size] ?? `wallet-${size + 1}`;
      accounts.set(address, name);
      return name;
    },
    order: (number) => orders.get(number),
  });
  const funds = new Map<Address, Funds>();
  const acted = new Set<Address>();
  const unsaid = new Set<string>();
  const steps: Step[] = [];
  let now = start;
  const say = (at: Millis, step: Step | null): void => {
    if (at > now) steps.push([["at", moment(at)]]);
    now = at;
    if (step !== null) steps.push(step);
  };
  for (const traced of all) {
    const { at, command } = traced;
    const address = addressIn(command);
    const given = givenBy(traced, written, markets);
    if (address !== null && given !== null) {
      const name = words.named(address);
      const own = funds.get(address) ?? new Funds();
      const isAtStart = style === "header" && !acted.has(address);
      // Whatever credentials are derived again, the faucet gives once.
      const isAgain = command.kind === "deriveCredentials" && funds.has(address);
      funds.set(address, own);
      for (const [token, amount] of isAgain ? [] : given) {
        if (isAtStart) own.add(token, amount);
        else if (amount > 0) say(at, [[name, words.funding(token, amount)]]);
      }
      continue;
    }
    if (address !== null) acted.add(address);
    const step = words.step(traced);
    if (step === null && isCausedByTime(command)) say(at, null);
    else if (step !== null && "cannotSay" in step) unsaid.add(step.cannotSay);
    else if (step !== null) say(at, step);
  }
  if (expected !== null && "text" in expected) {
    const { names, expectations, text } = expected;
    for (const name of accountsIn(expectations)) words.named(names.accounts.get(name) ?? name);
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
  return { text, unsaid: [...unsaid] };
}

/** What a command gives: micro-USDC, where the token is 0, and size units of tokens; null of what gives nothing. */
function givenBy(
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

/** The markets that commands make, with the names that the scenario gives them. */
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

/** The names of the orders that something speaks of again, by number. */
function orderNames(
  { trace, history, expected }: TraceToWrite,
  all: readonly TracedCommand[],
): Map<number, string> {
  const spokenOf = new Set<number | "next" | null>();
  for (const traced of all) {
    const { command } = traced;
    if (command.kind === "cancelOrder") spokenOf.add(numberOf(history.idPrefixes.order, command.orderId));
    if (command.kind === "setSettlementFault") spokenOf.add(orderOfFault(command.order ?? 0, traced));
  }
  if (expected !== null && "text" in expected) {
    for (const name of ordersIn(expected.expectations)) spokenOf.add(orderNumber(name));
  }
  const names = new Map<number, string>();
  for (const { placed } of trace) {
    if (placed === null || !spokenOf.has(placed.order)) continue;
    names.set(placed.order, expected === null ? `order-${names.size + 1}` : orderName(placed.order));
  }
  return names;
}

const LONGEST = 150;

const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, LONGEST);
