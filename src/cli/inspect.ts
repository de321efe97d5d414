import { VERSION } from "../config.ts";
import type { Account } from "../core/account.ts";
import { numberOf } from "../core/ids.ts";
import type { Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { JournalReplay, type ReplayedLine } from "../history/journal-replay.ts";
import { Touched } from "../history/mentions.ts";
import { stateView } from "../history/state-view.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";
import { didYouMean } from "../setting.ts";
import type { Run } from "./commands.ts";
import { UsageError } from "./exit-code.ts";
import { writePage } from "./inspect-page.ts";
import { OrderLife, stateText } from "./inspect-text.ts";
import { endedWith, endingOf, requireLine, sourceNamed } from "./journal-text.ts";
import { paintOf, print, printDocument } from "./output.ts";

/** `clobsim inspect`: the exchange as it stood after a line of its journal. */
export const run: Run<"inspect"> = async (values, [name = ""], { environment }) => {
  const { market, account, order, all: isAll, json: isJson, html } = values;
  const hasChosen = market !== null || account !== null || isAll;
  if (html !== null) {
    if (values.at === null && order === null && !hasChosen && !isJson) return writePage(name, html);
    throw new UsageError(
      "--html shows all of it: --at, --market, --account, --order, --all and --json do not go with it",
    );
  }
  const at = values.at ?? {};
  if (order !== null && hasChosen) {
    throw new UsageError("--order shows an order alone: --market, --account and --all do not go with it");
  }
  const source = sourceNamed(name);
  const replay = new JournalReplay(source, VERSION, at);
  const { exchange } = replay;
  const paint = paintOf(environment);
  const view = order === null ? standingView({ market, account, isAll }, paint) : new OrderLife(order, paint);
  const end = replay.run((told) => view.take(told, exchange.state));
  return endedWith(endingOf(source, end, exchange.state), () => {
    requireLine(source, at, end);
    const text = shown(view, exchange, end.last?.n ?? 0, isJson, paint);
    if (isJson) printDocument(text);
    else print(text.split("\n"));
  });
};

/** What is shown of a history: gathered line by line, each with the state behind it, and printed as it stands at last. */
interface InspectView {
  take(told: ReplayedLine, state: State): void;
  /** @throws UsageError when what was asked for is not there */
  text(state: State): string[];
  json(state: State): object;
}

function shown(
  view: InspectView,
  { state, sequence, now }: JournalReplay["exchange"],
  line: number,
  isJson: boolean,
  paint: Paint,
): string {
  const time = toIso(now);
  if (isJson) return JSON.stringify({ line, time, sequence, ...view.json(state) }, null, 2);
  return [`${paint.bold(`line ${line}`)}, ${time}, sequence ${sequence}`, ...view.text(state)].join("\n");
}

/** Whose books, orders and balances are asked for. */
interface Chosen {
  readonly market: string | null;
  readonly account: string | null;
  readonly isAll: boolean;
}

function standingView({ market, account, isAll }: Chosen, paint: Paint): InspectView {
  const touched = new Touched();
  const standing = (state: State) =>
    stateView(state, {
      markets: marketsOf(state, market, isAll ? null : touched),
      accounts: accountsOf(state, account, isAll ? null : touched),
    });
  return {
    take: (told, state) => touched.take(told, state),
    text: (state) => stateText(standing(state), paint),
    json: standing,
  };
}

/** @throws UsageError when there is no such market then, or more than one. */
function marketsOf(state: State, named: string | null, touched: Touched | null): Market[] {
  const markets = [...state.markets];
  if (named === null) return markets.filter(({ number }) => touched === null || touched.markets.has(number));
  const number = state.marketBySlug.get(named) ?? numberOf(state.idPrefixes.market, named);
  const own = state.markets.find(number);
  if (own !== undefined) return [own];
  return theOne("market", named, markets, ({ slug }) => slug);
}

/** @throws UsageError when there is no such account then, or more than one. */
function accountsOf(state: State, named: string | null, touched: Touched | null): Account[] {
  const accounts = [...state.accounts];
  if (named === null) {
    return accounts.filter(({ address }) => touched === null || touched.accounts.has(address));
  }
  return theOne("account", named, accounts, ({ address }) => address);
}

/** The one whose name begins so. @throws UsageError that names those that could be meant */
function theOne<T>(noun: string, named: string, all: readonly T[], nameOf: (item: T) => string): T[] {
  const found = all.filter((item) => nameOf(item).startsWith(named));
  if (found.length === 1) return found;
  const expected = `--${noun} expects one ${noun}`;
  if (found.length > 1) {
    throw new UsageError(`${expected}, ${found.length} begin with ${named}: ${listed(found.map(nameOf))}`);
  }
  const names = all.map(nameOf);
  const having = names.filter((name) => name.includes(named));
  const like = didYouMean(named, names);
  const meant =
    having.length > 0 ? `, did you mean ${listed(having)}?` : like || `: there were ${listed(names)}`;
  throw new UsageError(`${expected}, there was none ${named} then${meant}`);
}

const MAX_LISTED = 8;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map(visible).join(", ");
  return names.length <= MAX_LISTED ? shown || "none" : `${shown} and ${names.length - MAX_LISTED} more`;
}
