import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../config.ts";
import { moneyText, sizeText } from "../core/format.ts";
import type { State } from "../core/state.ts";
import type { Side } from "../core/terms.ts";
import { price, size } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Entry } from "../engine/journal.ts";
import { reportBytes, sessionHistory } from "../history/report.ts";
import { HistoryNames, readHistoryExpectation } from "../history/shrink/history-expectation.ts";
import type { HistoryRefusal } from "../history/shrink/history-trial.ts";
import {
  HistoryNotTellable,
  type ShrinkHistoryOptions,
  type History as ShrunkHistory,
  shrinkHistory,
} from "../history/shrink/shrink-history.ts";
import { NotRunInTime } from "../history/shrink/shrink-scenario.ts";
import { levelText } from "../scenario/run/words.ts";
import { emptyWorld } from "../simulation/opening.ts";
import { type OpenExchange, openEmpty } from "./exchange-host.ts";
import { History, openPlain } from "./history.ts";
import type { Failure, FailureFiles } from "./outcome.ts";
import type { ReferenceExchange, ReferenceMarket } from "./reference/reference-exchange.ts";
import { type Amount, nothing } from "./reference/wallet.ts";

/** What a reference says where an exchange says something else, as expectations of the scenario language, plainest first. */
function* expectationsOf(state: State, reference: ReferenceExchange, names: HistoryNames): Generator<string> {
  yield* ordersOf(state, reference);
  yield* balancesOf(state, reference, names);
  for (const market of reference.markets) {
    const name = names.marketNames.get(market.number);
    if (name !== undefined) yield bookText(market, names.markets.length > 1 ? `${name} ` : "");
  }
}

function* ordersOf({ orders }: State, reference: ReferenceExchange): Generator<string> {
  for (const { number, status, filled, size } of reference.orders) {
    const order = orders.find(number);
    if (order === undefined || (order.status === status && order.matched === filled)) continue;
    yield `orders: { o${number}: ${status} ${sizeText(filled)}/${sizeText(size)} }`;
  }
}

function* balancesOf(state: State, reference: ReferenceExchange, names: HistoryNames): Generator<string> {
  for (const account of state.accounts) {
    const name = names.accountOf(account.address);
    const wallet = reference.wallets.find(({ address }) => address === account.address);
    if (name === null || wallet === undefined) continue;
    const parts: string[] = [];
    if (!isSame(account.collateral, wallet.usdc)) parts.push(`USDC: ${amountText(wallet.usdc, moneyText)}`);
    for (const market of reference.markets) {
      const marketName = names.marketNames.get(market.number);
      const holding = account.holdings.get(market.number);
      for (const outcome of ["YES", "NO"] as const) {
        const found = holding?.[outcome === "YES" ? "yes" : "no"] ?? nothing();
        const wanted = wallet.look(market.number, outcome);
        if (marketName === undefined || isSame(found, wanted)) continue;
        const token = names.markets.length > 1 ? `${marketName} ${outcome}` : outcome;
        parts.push(`${token}: ${amountText(wanted, sizeText)}`);
      }
    }
    if (parts.length > 0) yield `balances: { ${name}: { ${parts.join(", ")} } }`;
  }
}

const isSame = (a: Pick<Amount, "balance" | "reserved">, b: Amount): boolean =>
  a.balance === b.balance && a.reserved === b.reserved;

const amountText = ({ balance, reserved }: Amount, text: (units: number) => string): string =>
  `{ balance: ${text(balance)}, reserved: ${text(reserved)} }`;

function bookText({ books, tick, isOneBook }: ReferenceMarket, prefix: string): string {
  const outcomes = isOneBook ? (["YES"] as const) : (["YES", "NO"] as const);
  const shown = outcomes.map((outcome) => {
    const levels = (side: Side): string =>
      books[outcome]
        .depth(side)
        .map(({ tick: level, open }) =>
          levelText({ price: price(level * tick), size: size(open), orders: null }),
        )
        .join(", ");
    return `${prefix}${outcome}: { bids: [${levels("BUY")}], asks: [${levels("SELL")}] }`;
  });
  return `book: { ${shown.join(", ")} }`;
}

/** How long one failure may be reduced. */
const SHRINK_MS = 20_000;

/** Runs a seed again up to its failure, and writes what tells it: a bug report, and a scenario that fails in the same way. */
export async function writeFailure(
  seed: number,
  commands: number,
  folder: string,
  name: string,
  open: OpenExchange = openPlain,
): Promise<FailureFiles> {
  const history = await History.open(seed, open);
  const failure = await history.run(commands);
  if (failure === null) return { scenario: null, report: null, remark: "run again, the seed does not fail" };
  const report = join(folder, `${name}.ndjson`);
  writeFileSync(report, reportOf(history, failure, `${name}.ndjson`));
  const { entries } = history;
  if (entries === null)
    return { scenario: null, report, remark: "it was kept on a disk, and no scenario is" };
  return withScenario(join(folder, `${name}.yaml`), report, await tell(history, entries, open));
}

/** Writes the scenario beside a report, where there is one. */
export function withScenario(path: string, report: string, { text, remark }: Told): FailureFiles {
  if (text !== null) writeFileSync(path, text);
  return { scenario: text === null ? null : path, report, remark };
}

function reportOf(
  { journal, profile, start, entries, exchange }: History,
  { sentence }: Failure,
  file: string,
) {
  if (journal !== null) return journal;
  const history = sessionHistory(
    emptyWorld(profile.config.seed),
    { config: profile.config, start },
    entries ?? [],
  );
  const content = {
    history,
    engine: VERSION,
    reason: `fuzz: ${sentence}`,
    now: exchange.now,
    hash: exchange.hash,
  };
  return reportBytes({ ...content, defect: null }, file);
}

/** A scenario, or why there is none. */
interface Told {
  readonly text: string | null;
  readonly remark: string | null;
}

/** A scenario of a few steps that fails as a history does; null where that does not fail. */
export async function asScenario(
  history: ShrunkHistory,
  options: ShrinkHistoryOptions,
): Promise<Told | null> {
  try {
    const shrunk = await shrinkHistory(history, options);
    return shrunk === null ? null : { text: shrunk.text, remark: shrunk.remarks[0] ?? null };
  } catch (error) {
    if (!(error instanceof HistoryNotTellable || error instanceof NotRunInTime)) throw error;
    return { text: null, remark: error.message };
  }
}

/** Says when the time is over in which one failure may be reduced. */
export function reducing(): (reserveMs: number) => boolean {
  const end = performance.now() + SHRINK_MS;
  return (reserve) => performance.now() + reserve > end;
}

/** The first of what is wrong with a history that a scenario can show. */
async function tell(history: History, entries: readonly Entry[], open: OpenExchange): Promise<Told> {
  const { config } = history.profile;
  const opened = (): Exchange => openEmpty(config, history.start, open);
  const options: ShrinkHistoryOptions = {
    isOver: reducing(),
    open: (terms, start) => openEmpty(terms, start, open),
  };
  const names = new HistoryNames({ open: opened, entries, devAccounts: [] });
  const whole = { config, start: history.start, entries: withThrown(history, entries) };
  let told: Told = { text: null, remark: "no step of a scenario shows it" };
  for (const expected of [null, refusalOf(history, names), ...wanted(history, names)]) {
    if (expected === undefined) continue;
    const of = expected === null ? whole : { ...whole, entries };
    told = (await asScenario(of, { ...options, expected })) ?? told;
    if (told.text !== null) break;
  }
  return told;
}

/** With the command at which the exchange has thrown, which no journal has. */
function withThrown({ exchange, latest }: History, entries: readonly Entry[]): readonly Entry[] {
  if (exchange.thrown === null || latest === null) return entries;
  return [...entries, { sequence: entries.length + 1, at: latest.at, command: exchange.thrown.command }];
}

/** What the reference says of what differs, in the words of scenarios. */
function* wanted(history: History, names: HistoryNames) {
  for (const text of expectationsOf(history.exchange.state, history.reference, names)) {
    const read = readHistoryExpectation("the reference", text, names);
    if (!("problems" in read)) yield read;
  }
}

/** The order or cancel that was refused last; undefined where it was something else. */
function refusalOf({ exchange, latest }: History, names: HistoryNames): HistoryRefusal | undefined {
  if (latest === null || !latest.isRefused) return undefined;
  const { command, at } = latest;
  if (command.kind !== "placeOrder" && command.kind !== "cancelOrder") return undefined;
  const decision = exchange.decideNext(command);
  if (decision.ok) return undefined;
  const request = {
    method: command.kind === "placeOrder" ? ("POST" as const) : ("DELETE" as const),
    path: "/clob/order",
    address: command.address,
    isProven: true,
    status: 400,
    code: decision.refusal.code,
    field: null,
    asked: { kind: "command" as const, command },
  };
  return { names, command, refused: { sequence: exchange.sequence, at, request } };
}
