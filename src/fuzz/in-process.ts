import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../core/commands.ts";
import { moneyText, sizeText } from "../core/format.ts";
import type { Decision } from "../core/refusals.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import { OUTCOMES, type Outcome, type Side } from "../core/terms.ts";
import { FROZEN_START, price, size } from "../core/units.ts";
import { Exchange } from "../engine/exchange.ts";
import { type Accepted, SessionLog } from "../engine/journal.ts";
import { historySince, reportBytes } from "../history/report.ts";
import {
  type HistoryNames,
  HistoryNotExpressible,
  historyNames,
  readHistoryExpectation,
} from "../history/shrink/history-failure.ts";
import {
  type FailingCommands,
  type ShrinkHistoryOptions,
  shrinkHistory,
} from "../history/shrink/shrink-history.ts";
import { NotRunInTime } from "../history/shrink/shrink-scenario.ts";
import { levelText, orderStateText } from "../scenario/run/format.ts";
import { emptyWorld } from "../simulation/opening.ts";
import { profileText } from "./generator.ts";
import { type OpenExchange, openEmpty, openPlain, SeedHistory } from "./history.ts";
import type { ReferenceExchange, ReferenceMarket } from "./reference/reference-exchange.ts";
import { nothing } from "./reference/wallet.ts";
import type { FailureFiles, SeedRunner } from "./seeds.ts";

/** Runs the history of a seed in this process, against the reference exchange. */
export const inProcess: SeedRunner = {
  async run(seed, commands) {
    const history = await SeedHistory.open(seed);
    const failure = await history.run(commands);
    return {
      seed,
      profile: profileText(history.profile),
      commands: failure === null ? commands : failure.command,
      failure,
    };
  },
  write: ({ seed }, commands, folder, name) => writeFailure(seed, commands, folder, name),
};

/**
 * Yields the reference's values where the exchange's differ, as expectations of the scenario language, simplest first. Books
 * are not compared: each is an expectation.
 */
function* expectationsOf(state: State, reference: ReferenceExchange, names: HistoryNames): Generator<object> {
  for (const { number, status, filled, size: whole } of reference.orders) {
    const order = state.orders.find(number);
    if (order === undefined || (order.status === status && order.matched === filled)) continue;
    const text = orderStateText({ status, matched: size(filled), size: size(whole), reason: null });
    yield { orders: { [`o${number}`]: text } };
  }
  const markets = reference.markets.flatMap((market) => {
    const name = names.marketNames.get(market.number);
    return name === undefined ? [] : [{ market, prefix: names.markets.length > 1 ? `${name} ` : "" }];
  });
  for (const { address, collateral, holdings } of state.accounts) {
    const name = names.accountOf(address);
    const wallet = reference.wallets.find((each) => each.address === address);
    if (name === null || wallet === undefined) continue;
    const shares = markets.flatMap(({ market: { number }, prefix }) => {
      const { yes = nothing(), no = nothing() } = holdings.get(number) ?? {};
      return [
        [`${prefix}YES`, sizeText, yes, wallet.balanceOf(number, "YES")] as const,
        [`${prefix}NO`, sizeText, no, wallet.balanceOf(number, "NO")] as const,
      ];
    });
    const assets = [["USDC", moneyText, collateral, wallet.usdc] as const, ...shares];
    const balances = assets.flatMap(([asset, text, found, { balance, reserved }]) => {
      if (found.balance === balance && found.reserved === reserved) return [];
      return [[asset, { balance: text(balance), reserved: text(reserved) }]];
    });
    if (balances.length > 0) yield { balances: { [name]: Object.fromEntries(balances) } };
  }
  for (const { market, prefix } of markets) yield { book: bookOf(market, prefix) };
}

function bookOf({ books, tickSize, matching }: ReferenceMarket, prefix: string): object {
  const outcomes = matching === "complementary" ? (["YES"] as const) : OUTCOMES;
  const levels = (outcome: Outcome, side: Side): string[] =>
    books[outcome]
      .depth(side)
      .map(({ tick, open }) => levelText({ price: price(tick * tickSize), size: size(open), orders: null }));
  return Object.fromEntries(
    outcomes.map((outcome) => [
      prefix + outcome,
      { bids: levels(outcome, "BUY"), asks: levels(outcome, "SELL") },
    ]),
  );
}

/** Time limit for shrinking one failure, in milliseconds. */
const SHRINK_MS = 20_000;

/** Runs a seed again up to its failure, and writes a bug report and a scenario that fails in the same way. */
export async function writeFailure(
  seed: number,
  commands: number,
  folder: string,
  name: string,
  open: OpenExchange = openPlain,
): Promise<FailureFiles> {
  const history = await SeedHistory.open(seed, open);
  const failure = await history.run(commands);
  if (failure === null) return { scenario: null, report: null, remark: "run again, the seed does not fail" };
  const file = `${name}.ndjson`;
  const report = join(folder, file);
  const { record, exchange } = history.host;
  if (!(record instanceof SessionLog)) {
    writeFileSync(report, record);
    return { scenario: null, report, remark: "the exchange was on a disk, and a scenario's is in memory" };
  }
  const { config } = history.profile;
  const session = historySince(emptyWorld(config.seed), { config, start: FROZEN_START }, record);
  const { now, hash } = exchange;
  const reason = `fuzz: ${failure.sentence}`;
  writeFileSync(report, reportBytes({ history: session, reason, now, hash, defect: null }, file));
  const reproduction = await reproduce(history, record.entries ?? [], open);
  return writeScenario(join(folder, `${name}.yaml`), report, reproduction);
}

/** Writes the scenario if there is one, and names the files of the failure. */
export function writeScenario(path: string, report: string, { text, remark }: Reproduction): FailureFiles {
  if (text !== null) writeFileSync(path, text);
  return { scenario: text === null ? null : path, report, remark };
}

/** Text of a scenario; null if there is none, and `remark` says why. */
interface Reproduction {
  readonly text: string | null;
  readonly remark: string | null;
}

/** Reduces a history to a scenario of a few steps that fails in the same way. Returns null if the history does not fail. */
export async function asScenario(
  history: FailingCommands,
  options: ShrinkHistoryOptions,
): Promise<Reproduction | null> {
  try {
    const shrunk = await shrinkHistory(history, options);
    return shrunk === null ? null : { text: shrunk.text, remark: shrunk.remarks[0] ?? null };
  } catch (error) {
    if (!(error instanceof HistoryNotExpressible || error instanceof NotRunInTime)) throw error;
    return { text: null, remark: error.message };
  }
}

/** Starts the time limit for shrinking one failure. Returns whether less than `reserveMs` is left. */
export function shrinkDeadline(): (reserveMs: number) => boolean {
  const end = performance.now() + SHRINK_MS;
  return (reserveMs) => performance.now() + reserveMs > end;
}

/** Tries the failures that a scenario can show, one after the other, and returns the first that it reproduces. */
async function reproduce(history: SeedHistory, entries: readonly Accepted[], open: OpenExchange) {
  const { config } = history.profile;
  const options = { isOver: shrinkDeadline(), open: (terms: ExchangeConfig) => openEmpty(terms, open) };
  const names = historyNames({ open: () => openEmpty(config, open), entries, devAccounts: [] });
  // The journal does not have the command at which the exchange threw.
  const { latest, exchange } = history;
  const thrown = latest && exchange.thrown && { at: latest.at, command: exchange.thrown.command };
  const failing = thrown === null ? [] : [{ sequence: entries.length + 1, ...thrown }];
  let reproduction: Reproduction = { text: null, remark: "no step of a scenario shows it" };
  for (const expected of failuresOf(history, names)) {
    const reduced = expected === null ? [...entries, ...failing] : entries;
    const whole = { config, start: FROZEN_START, entries: reduced };
    reproduction = (await asScenario(whole, { ...options, expected })) ?? reproduction;
    if (reproduction.text !== null) break;
  }
  return reproduction;
}

/**
 * Yields what may be wrong at the end of a history: what fails by itself as null, the refusal of the latest command, and
 * each difference from the reference.
 */
function* failuresOf({ exchange, latest, checker }: SeedHistory, names: HistoryNames) {
  yield null;
  if (latest?.isRefused && (latest.command.kind === "placeOrder" || latest.command.kind === "cancelOrder")) {
    const { command, at } = latest;
    const decision = exchange.replay({ at: exchange.now, command });
    if (!decision.ok) yield { names, command, sequence: exchange.sequence, at, code: decision.refusal.code };
  }
  for (const expected of expectationsOf(exchange.state, checker.reference, names)) {
    const read = readHistoryExpectation("the reference", JSON.stringify(expected), names);
    if (!("problems" in read)) yield read;
  }
}

/** Seeds to run before the fuzzer counts as defective. */
const SEEDS = 64;
const COMMANDS = 100;

/** An exchange with a defect: the unfilled rest of a FAK order stays in the book. */
class DefectiveExchange extends Exchange {
  override submit(command: Command): Decision {
    const isChanged = command.kind === "placeOrder" && command.orderType === "FAK";
    return super.submit(isChanged ? { ...command, orderType: "GTC" } : command);
  }
}

/** Whether the fuzzer finds a planted defect. Every campaign checks this first. */
export async function findsCanary(): Promise<boolean> {
  const openDefective: OpenExchange = (...terms) => new DefectiveExchange(...terms);
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const history = await SeedHistory.open(seed, openDefective);
    if ((await history.run(COMMANDS)) !== null) return true;
  }
  return false;
}
