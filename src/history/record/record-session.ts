import { Buffer } from "node:buffer";
import { ApiError } from "../../api/errors.ts";
import { counted, moneyText } from "../../core/format.ts";
import { findAccount } from "../../core/state.ts";
import type { Steps } from "../../core/steps.ts";
import type { Address } from "../../core/terms.ts";
import { FULL_PRICE, MAX_ISSUANCE, notional, size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry as JournalEntry, RefusedEntry } from "../../engine/journal.ts";
import { type SessionLog, withRefused } from "../../engine/session-log.ts";
import { seedOfName } from "../../scenario/language/read-scenario.ts";
import { MAX_SCENARIO_BYTES } from "../../scenario/language/scenario-files.ts";
import { isSeed, map, scenarioText } from "../scenario-text.ts";
import { type Trace, type TracedCommand, traceOf } from "../trace.ts";
import {
  type Funds,
  isHouse,
  marketEntries,
  orderNames,
  Parties,
  touchedMarkets,
  Vocabulary,
} from "../vocabulary.ts";
import { finalExpectations } from "./expectations.ts";
import { ObservedBlocks } from "./observed-blocks.ts";
import { raisedIn, restingBefore, startingFunds, writeOpening } from "./opening-steps.ts";
import { askedOf, RefusedSteps } from "./refused-steps.ts";
import { Script } from "./script.ts";
import { SessionRecorder } from "./session-recorder.ts";
import { inOrderOfNonces, RecordingError, withoutIdleCalls } from "./told-commands.ts";

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
    `the session ${what}, and a file of one has at most ${MAX_SCENARIO_BYTES} bytes`,
    "SESSION_TOO_LONG",
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
  const trace = yield* traceOf(open(), entries);
  refuseAstray(trace);
  const all = inOrderOfNonces(trace.commands, trace.opening);
  const { commands: called, left } = withoutIdleCalls({ ...trace, commands: all });
  const commands = called.filter((traced) => !fundsHouse(traced, trace));
  const session = { ...trace, commands };
  const { opening, end, start: clock } = session;
  const asked = askedOf(refused, end);
  const parties = new Parties(session, devAccounts, asked.accounts);
  const { actors } = parties;
  const markets = touchedMarkets(session, actors, asked.markets);
  const resting = restingBefore(opening, markets);
  const funds = startingFunds(session, markets, actors, resting);
  refuseOverIssuance(session, funds);
  const terms = marketEntries(markets, resting);
  const orders = end.orders.size - opening.orders.size;
  const title = name ?? `recorded session of ${counted(orders, "order")}`;
  const { seed, settlement, balances } = end.config;
  const blocks = new ObservedBlocks(all, opening, end);
  const names = orderNames(session, blocks.hit);
  const words = new Vocabulary(markets, end, {
    account: (address) => parties.nameOf(end.accountByAddress.get(address) ?? 0),
    order: (number) => names.get(number),
  });
  const told = { session, words, names, markets, actors };
  const header = { settlement, balances, clock };
  const script = new Script(
    { ...header, seed: isSeed(seed) ? seed : seedOfName(title), markets: terms.terms },
    told,
  );
  for (const [account, own] of funds) script.open(words.account(account), own);
  writeOpening(script);
  if (script.steps.length > 0) script.steps.unshift({ remark: "What rests from the start, oldest first." });
  script.begin();
  script.remark("The session.");
  yield* recordSteps(script, blocks, withRefused(all, refused));
  const scenario = scenarioText({
    ...header,
    remarks: [TITLE, ...terms.remarks, ...remarksOf(isSeed(seed), called.length - commands.length, left)],
    name: title,
    seed,
    markets: terms.entries,
    accounts: [...funds].map(([account, own]) => [words.account(account), map(words.assets(own))]),
    steps: script.steps,
  });
  return { name: title, scenario, orders, trades: end.trades.size - opening.trades.size };
}

const TITLE = "A session that clobsim recorded: what it did, and what came of it.";

/** What was decided by the rules of an earlier version comes out otherwise in a scenario, which has today's alone. */
function refuseAstray({ astray, thrown }: Trace): void {
  if (thrown !== null) throw thrown;
  if (astray === null) return;
  throw new RecordingError(
    astray === "more"
      ? "repeated by the rules of this version, the session does more than it did"
      : `repeated by the rules of this version, the session differs from sequence ${astray.sequence} on: ${astray.command.kind}`,
  );
}

/** The steps of a session, and what must be true after them. */
function* recordSteps(
  script: Script,
  blocks: ObservedBlocks,
  all: Iterable<TracedCommand | RefusedEntry>,
): Steps<void> {
  const steps = new SessionRecorder(script, blocks);
  const isTold = new Set(script.told.session.commands);
  const refused = new RefusedSteps(script);
  let last = 0;
  for (const each of all) {
    yield;
    if ("request" in each) refused.add(each);
    else {
      steps.add(each, isTold.has(each));
      last = each.sequence;
    }
  }
  steps.finish(last + 1);
  script.say(["expect", map(finalExpectations(steps.trades, script))]);
}

/** Whether a command funds an account of the exchange itself, which no scenario has by name. */
function fundsHouse({ command }: TracedCommand, { end }: Trace): boolean {
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
function refuseOverIssuance({ commands }: Trace, funds: ReadonlyMap<number, Funds>): void {
  let issued = 0;
  for (const own of funds.values()) {
    // Shares of one outcome are minted as full sets.
    for (const [token, amount] of own.all)
      issued += token === 0 ? amount : notional(FULL_PRICE, size(amount));
  }
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
    `a scenario of this session would issue ${moneyText(issued)} USDC, and no exchange issues more than ${moneyText(MAX_ISSUANCE)}`,
  );
}
