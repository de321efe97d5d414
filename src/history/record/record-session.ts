import { Buffer } from "node:buffer";
import { ApiError } from "../../api/errors.ts";
import { counted, moneyText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import { findAccount } from "../../core/state.ts";
import type { Steps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import { FULL_PRICE, MAX_ISSUANCE, money, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry as JournalEntry, RefusedEntry } from "../../engine/journal.ts";
import { type SessionLog, withRefused } from "../../engine/session-log.ts";
import { seedOfName } from "../../scenario/language/read-scenario.ts";
import type { Funding } from "../../scenario/language/scenario.ts";
import { MAX_SCENARIO_BYTES } from "../../scenario/language/scenario-files.ts";
import {
  balanceEntries,
  bookEntries,
  orderEntries,
  refuseDivergence,
  settledEntries,
} from "./expectations.ts";
import { ObservedBlocks } from "./observed-blocks.ts";
import {
  inOrderOfNonces,
  type ObservedCommand,
  type ObservedSession,
  observeSession,
  RecordingError,
  withoutIdleCalls,
} from "./observed-session.ts";
import {
  type Funds,
  marketEntries,
  raisedIn,
  restingBefore,
  startingFunds,
  writeOpening,
} from "./opening-steps.ts";
import { askedOf, RefusedSteps } from "./refused-steps.ts";
import { Script, ShadowExchange } from "./script.ts";
import type { DescribedSession } from "./session-names.ts";
import { isHouse, orderNames, Parties, touchedMarkets, Vocabulary } from "./session-names.ts";
import { SessionRecorder } from "./session-recorder.ts";
import { SettlementRecorder } from "./settlement-recorder.ts";
import { type Entry, list, map, scenarioText } from "./yaml-text.ts";

/** The session of an exchange that goes on. */
export interface LiveSession extends Omit<Session, "entries" | "refused"> {
  readonly log: SessionLog;
}

/** A step of a scenario that places an order is no shorter: `- a: BUY 1 YES @ 0.5` and the line feed. */
const LEAST_BYTES = 20;

/**
 * What was done so far as a scenario file, in steps.
 * @throws ApiError `SESSION_TOO_LONG`, `SESSION_NOT_RECORDABLE` when there can be no such file.
 */
export function* recordSession({ log, ...session }: LiveSession): Steps<RecordedScenario> {
  const { entries, refused } = log;
  if (entries === null) {
    throw refusal("SESSION_TOO_LONG", `the session has more than ${log.most} commands, and no more are kept`);
  }
  try {
    return yield* recordedFile({ ...session, entries, refused });
  } catch (error) {
    throw error instanceof RecordingError ? refusal(error.code, error.message) : error;
  }
}

/** A session as a scenario that fits in a file, in steps. @throws RecordingError when there can be no such file. */
export function* recordedFile(session: Session): Steps<RecordedScenario> {
  let orders = 0;
  for (const { command } of session.entries) if (command.kind === "placeOrder") orders += 1;
  if (orders * LEAST_BYTES > MAX_SCENARIO_BYTES) {
    throw tooLong(`has ${orders} orders, more than ${Math.floor(MAX_SCENARIO_BYTES / LEAST_BYTES)}`);
  }
  const recorded = yield* recordInSteps(session);
  const bytes = Buffer.byteLength(recorded.scenario);
  if (bytes <= MAX_SCENARIO_BYTES) return recorded;
  throw tooLong(`takes ${bytes} bytes as a scenario`);
}

const tooLong = (what: string): RecordingError =>
  new RecordingError(
    "SESSION_TOO_LONG",
    `the session ${what}, and a file of one has at most ${MAX_SCENARIO_BYTES} bytes`,
  );

const refusal = (code: RecordingError["code"], message: string): ApiError =>
  new ApiError(code, message, { hint: "POST /sim/reset begins a new session, which can be recorded" });

/** A session to be written down. */
export interface Session {
  /** A fresh exchange that stands where the session began. */
  readonly open: () => Exchange;
  /** What it did, oldest first. */
  readonly entries: readonly JournalEntry[];
  /** What was refused meanwhile, oldest first; left out for nothing. */
  readonly refused?: readonly RefusedEntry[];
  /** Accounts that are named by their place here; addresses in lower case. */
  readonly devAccounts: readonly Address[];
  /** The scenario's name; null: `recorded session of 12 orders`. */
  readonly name: string | null;
}

/** A session as a scenario file, and how many orders and trades it has. */
export interface RecordedScenario {
  readonly name: string;
  /** The file's YAML. */
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

/**
 * Writes a session as one scenario file that passes: it repeats the session in a fresh exchange, its settlement and what
 * went wrong with it included, and what it sees there is what the scenario expects. The steps are done in such an
 * exchange as they are written, so that nothing is written that would not pass. The same session gives the same bytes.
 * It takes two steps for each command.
 * @throws RecordingError when no scenario can express it.
 */
export function* recordInSteps(recorded: Session): Steps<RecordedScenario> {
  const { open, entries, refused = [], devAccounts, name } = recorded;
  const repeated = yield* observeSession(open(), entries);
  const observed = { ...repeated, commands: inOrderOfNonces(repeated.commands, repeated.opening) };
  const { commands: called, left } = withoutIdleCalls(observed);
  const commands = called.filter((act) => !fundsHouse(act, observed));
  const session = { ...observed, commands };
  const { opening, end, start } = session;
  const asked = askedOf(refused, end);
  const parties = new Parties(session, devAccounts, asked.accounts);
  const markets = touchedMarkets(session, parties.actors, asked.markets);
  const resting = restingBefore(opening, markets);
  const funds = startingFunds(session, markets, parties.actors, resting);
  refuseOverIssuance(session, funds);
  const terms = marketEntries(markets, resting);
  const orders = end.orders.size - opening.orders.size;
  const title = name ?? `recorded session of ${counted(orders, "order")}`;
  const { seed, settlement, balances } = end.config;
  const isSeed = /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(seed);
  const words = new Vocabulary(parties, markets, end);
  const shadow = new ShadowExchange({
    seed: isSeed ? seed : seedOfName(title),
    settlement,
    balances,
    clock: start,
    markets: terms.terms,
  });
  openAccounts(shadow, words, funds);
  const blocks = new ObservedBlocks(observed.commands, opening, end);
  const names = orderNames(session, blocks.hit);
  const told = { session, words, names, markets, actors: parties.actors, refused };
  const script = new Script(shadow);
  writeOpening(script, told);
  const before = script.steps.length;
  shadow.begin();
  yield* recordSteps(script, blocks, observed.commands, told);
  const scenario = scenarioText({
    remarks: [...terms.remarks, ...remarksOf(isSeed, called.length - commands.length, left)],
    name: title,
    seed: isSeed ? seed : null,
    clock: start,
    settlement,
    balances,
    markets: terms.entries,
    accounts: accountEntries(words, funds),
    opening: script.steps.slice(0, before),
    session: script.steps.slice(before),
  });
  return { name: title, scenario, orders, trades: end.trades.size - opening.trades.size };
}

/** The steps of a session, and what must be true after them. */
function* recordSteps(
  script: Script,
  blocks: ObservedBlocks,
  all: readonly ObservedCommand[],
  told: DescribedSession,
): Steps<void> {
  const { session, words, names, markets } = told;
  const { end } = session;
  const chain = new SettlementRecorder(script, words, blocks, names, end);
  const steps = new SessionRecorder(script, chain, words, names, end);
  const isTold = new Set(session.commands);
  const refused = new RefusedSteps(script, words, names, end);
  for (const each of withRefused(all, told.refused)) {
    yield;
    if ("request" in each) refused.add(each);
    else steps.add(each, isTold.has(each));
  }
  steps.finish((all.at(-1)?.sequence ?? 0) + 1);
  refuseDivergence(told, script.shadow);
  const books = bookEntries(
    words,
    markets.map(({ after }) => after),
  );
  const settled = settledEntries(session, names);
  const expectations: readonly Entry[] = [
    ["book", map(books)],
    ["orders", map(orderEntries(session, names))],
    ["trades", list(steps.trades)],
    ["balances", map(balanceEntries(told, script.shadow))],
    ["chain", map(settled.length === 0 ? [] : [["settled", map(settled)]])],
  ];
  const said = expectations.filter(
    ([, value]) => typeof value !== "object" || !("entries" in value) || value.entries.length > 0,
  );
  script.say(["expect", map(said)]);
}

/** Gives everybody what they start with, as the header of the scenario does. */
function openAccounts(shadow: ShadowExchange, words: Vocabulary, funds: ReadonlyMap<number, Funds>): void {
  for (const [account, { collateral, shares }] of funds) {
    const tokens = [...shares].sort(([a], [b]) => a - b);
    const fundings: Funding[] = collateral > 0 ? [{ asset: "USDC", amount: money(collateral) }] : [];
    for (const [token, amount] of tokens) {
      const asset = { market: words.market(marketOfToken(token)), outcome: outcomeOf(token) };
      fundings.push({ asset, amount: size(amount) });
    }
    const attempt = shadow.open(words.account(account), fundings);
    if (!attempt.ok) throw new RecordingError("SESSION_NOT_RECORDABLE", attempt.message);
  }
}

const accountEntries = (words: Vocabulary, funds: ReadonlyMap<number, Funds>): Entry[] =>
  [...funds].map(([account, { collateral, shares }]) => {
    const assets: Entry[] = collateral > 0 ? [["USDC", moneyText(collateral)]] : [];
    for (const [token, amount] of [...shares].sort(([a], [b]) => a - b)) {
      assets.push([words.token(token), sizeText(amount)]);
    }
    return [words.account(account), map(assets)];
  });

/** Whether a command funds an account of the exchange itself, which no scenario has by name. */
function fundsHouse({ command }: ObservedCommand, { end }: ObservedSession): boolean {
  if (command.kind !== "fundAccount") return false;
  const account = findAccount(end, command.address);
  return account !== undefined && isHouse(account.number);
}

/** What the file says of itself: of the seed, how often the house was funded, and how many transactions are left out. */
const remarksOf = (isSeed: boolean, houses: number, left: number): string[] => [
  ...(isSeed ? [] : ["The seed of the session is no line of text; ids and draws alone depend on it."]),
  ...(houses === 0 ? [] : [`Left out: the exchange's own accounts were funded ${times(houses)}.`]),
  ...(left === 0 ? [] : [`Left out: what wallets did on the chain and changed no balance, ${times(left)}.`]),
];

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

/** A scenario gives shares of both outcomes by two mints where the session needed one. @throws RecordingError */
function refuseOverIssuance({ commands }: ObservedSession, funds: ReadonlyMap<number, Funds>): void {
  let issued = 0;
  for (const own of funds.values()) issued += own.issued;
  for (const { command, events } of commands) {
    if (command.kind !== "fundAccount") continue;
    for (const event of events) {
      if (event.kind === "collateralIssued") issued += event.amount;
      else if (event.kind === "setsIssued") issued += event.size * FULL_PRICE;
    }
    for (const { size } of raisedIn(command, events)) issued += 2 * size * FULL_PRICE;
  }
  if (issued <= MAX_ISSUANCE) return;
  throw new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `a scenario of this session would issue ${moneyText(issued)} USDC, and no exchange issues more than ${moneyText(MAX_ISSUANCE)}`,
  );
}
