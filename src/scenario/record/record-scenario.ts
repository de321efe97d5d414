import type { Address } from "../../core/commands.ts";
import { findAccount } from "../../core/state.ts";
import { FULL_PRICE, MAX_ISSUANCE } from "../../core/units.ts";
import type { Exchange } from "../../runtime/exchange.ts";
import type { Entry as JournalEntry } from "../../runtime/journal.ts";
import { moneyText, sizeText } from "../run/words.ts";
import { ActSteps, type Step } from "./act-steps.ts";
import { balanceEntries, bookEntries, orderEntries } from "./expectations.ts";
import { marketEntries } from "./market-entries.ts";
import { type Act, type ObservedSession, observeSession } from "./observed-session.ts";
import { openingSteps, restingBefore } from "./opening-steps.ts";
import { orderNames } from "./order-names.ts";
import { isHouse, Parties } from "./parties.ts";
import { RecordingError } from "./recording-error.ts";
import { scenarioText } from "./scenario-text.ts";
import { type Funds, startingFunds } from "./starting-funds.ts";
import { type TouchedMarket, touchedMarkets } from "./touched-markets.ts";
import { Vocabulary } from "./vocabulary.ts";
import { type Entry, list, map } from "./yaml-text.ts";

/** A session to be written down. */
export interface Session {
  /** A fresh exchange that stands where the session began. */
  readonly open: () => Exchange;
  /** What it did, oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Accounts that are named by their place here; addresses in lower case. */
  readonly devAccounts: readonly Address[];
  /** The scenario's name; null: `recorded session of 12 orders`. */
  readonly name: string | null;
}

/** A session as a scenario file, and how many orders and trades it tells. */
export interface RecordedScenario {
  readonly name: string;
  /** The file's YAML. */
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

/**
 * Writes a session as one scenario file that passes: it repeats the session in a fresh exchange, and what it sees there
 * is what the scenario expects. The same session gives the same bytes.
 * @throws RecordingError when no scenario can tell it.
 */
export function recordScenario({ open, entries, devAccounts, name }: Session): RecordedScenario {
  const observed = observeSession(open(), entries);
  const acts = observed.acts.filter((act) => !fundsHouse(act, observed));
  const session = { ...observed, acts };
  const { opening, end, start } = session;
  const parties = new Parties(session, devAccounts);
  const markets = touchedMarkets(session, parties.actors);
  const words = new Vocabulary(parties, markets, end);
  const names = orderNames(session);
  const resting = restingBefore(opening, markets);
  const funds = startingFunds(session, markets, parties.actors, resting);
  refuseOverIssuance(session, funds);
  const terms = marketEntries(markets, resting);
  const orders = end.orders.size - opening.orders.size;
  const title = name ?? `recorded session of ${counted(orders, "order")}`;
  const { seed } = end.config;
  const isSeed = /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(seed);
  const remarks = [
    "A session that clobsim recorded: what it did, and what came of it.",
    ...terms.remarks,
    ...(isSeed ? [] : ["The seed of the session is no line of text; ids alone depend on it."]),
    ...houseRemarks(observed.acts.length - acts.length),
  ];
  const scenario = scenarioText({
    remarks,
    name: title,
    seed: isSeed ? seed : null,
    clock: start,
    markets: terms.entries,
    accounts: accountEntries(words, funds),
    opening: openingSteps(words, names, markets, resting),
    session: sessionSteps(session, words, names, markets, parties.actors),
  });
  return { name: title, scenario, orders, trades: end.trades.size - opening.trades.size };
}

/** The steps of a session, and what must be true after them. */
function sessionSteps(
  session: ObservedSession,
  words: Vocabulary,
  names: ReadonlyMap<number, string>,
  markets: readonly TouchedMarket[],
  actors: readonly number[],
): Step[] {
  const acts = new ActSteps(session, words, names);
  for (const act of session.acts) acts.add(act);
  const { end } = session;
  const books = bookEntries(
    words,
    markets.map(({ after }) => after),
  );
  const all: readonly Entry[] = [
    ["book", map(books)],
    ["orders", map(orderEntries(session, names))],
    ["trades", list(acts.trades)],
    ["balances", map(balanceEntries(words, end, actors, markets))],
  ];
  const said = all.filter(
    ([, value]) => typeof value !== "object" || !("entries" in value) || value.entries.length > 0,
  );
  return [...acts.steps, [["expect", map(said)]]];
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
function fundsHouse({ command }: Act, { end }: ObservedSession): boolean {
  if (command.kind !== "fundAccount") return false;
  const account = findAccount(end, command.address);
  return account !== undefined && isHouse(account.number);
}

const houseRemarks = (count: number): string[] =>
  count === 0
    ? []
    : [`Left out: the exchange's own accounts were funded ${count === 1 ? "once" : `${count} times`}.`];

/** A scenario gives shares of both outcomes by two mints where the session needed one. @throws RecordingError */
function refuseOverIssuance({ acts }: ObservedSession, funds: ReadonlyMap<number, Funds>): void {
  let issued = 0;
  for (const own of funds.values()) issued += own.issued;
  for (const { command, events } of acts) {
    if (command.kind !== "fundAccount") continue;
    for (const event of events) {
      if (event.kind === "collateralIssued") issued += event.amount;
      else if (event.kind === "setsIssued") issued += event.size * FULL_PRICE;
    }
  }
  if (issued <= MAX_ISSUANCE) return;
  throw new RecordingError(
    "SESSION_NOT_RECORDABLE",
    `a scenario of this session would issue ${moneyText(issued)} USDC, and no exchange issues more than ${moneyText(MAX_ISSUANCE)}`,
  );
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
