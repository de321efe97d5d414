import { nearest } from "../api/nearest.ts";
import { marketNamed } from "../api/view.ts";
import { VERSION } from "../config.ts";
import type { Account } from "../core/account.ts";
import { listed } from "../core/format.ts";
import type { Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { JournalReplay, type ReplayedLine } from "../history/journal-replay.ts";
import { Touched } from "../history/mentions.ts";
import { stateView } from "../history/state-view.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";
import type { Run } from "./commands.ts";
import { UsageError } from "./exit-code.ts";
import { writePage } from "./inspect-page.ts";
import { OrderHistory, stateText } from "./inspect-text.ts";
import { endedWith, endingOf, openNamed, requireLine } from "./journal-text.ts";
import { paintOf, print, printDocument } from "./output.ts";

/** `clobsim inspect`: prints the state of an exchange after a line of its journal. */
export const run: Run<"inspect"> = async (values, [name = ""], { environment }) => {
  const { market, account, order, all: isAll, json: isJson, html } = values;
  const hasChosen = market !== null || account !== null || isAll;
  if (html !== null) {
    if (values.at === null && order === null && !hasChosen && !isJson) return writePage(name, html);
    throw new UsageError(
      "--html shows the whole history: --at, --market, --account, --order, --all and --json do not go with it",
    );
  }
  const at = values.at ?? {};
  if (order !== null && hasChosen) {
    throw new UsageError("--order shows an order alone: --market, --account and --all do not go with it");
  }
  const source = openNamed(name);
  const replay = new JournalReplay(source, VERSION, at);
  const { exchange } = replay;
  const paint = paintOf(environment);
  const view =
    order === null ? stateInspection({ market, account, isAll }, paint) : new OrderHistory(order, paint);
  const end = replay.run((replayed) => view.add(replayed, exchange.state));
  return endedWith(endingOf(source, end, exchange.state), () => {
    requireLine(source, at, end);
    const text = outputOf(view, exchange, end.last?.n ?? 0, isJson, paint);
    if (isJson) printDocument(text);
    else print(text.split("\n"));
  });
};

/** Collects lines of a journal, and describes the state at the end. */
interface Inspection {
  /** Adds a line with the state after it. */
  add(replayed: ReplayedLine, state: State): void;
  /** @throws UsageError if the requested market, account or order does not exist */
  text(state: State): string[];
  /** @throws UsageError as `text` */
  json(state: State): object;
}

function outputOf(
  view: Inspection,
  { state, sequence, now }: JournalReplay["exchange"],
  line: number,
  isJson: boolean,
  paint: Paint,
): string {
  const time = toIso(now);
  if (isJson) return JSON.stringify({ line, time, sequence, ...view.json(state) }, null, 2);
  return [`${paint.bold(`line ${line}`)}, ${time}, sequence ${sequence}`, ...view.text(state)].join("\n");
}

/** Selection of the markets and accounts to show. */
interface Selection {
  readonly market: string | null;
  readonly account: string | null;
  readonly isAll: boolean;
}

function stateInspection({ market, account, isAll }: Selection, paint: Paint): Inspection {
  const touched = new Touched();
  const viewOf = (state: State) =>
    stateView(state, {
      markets: marketsOf(state, market, isAll ? null : touched),
      accounts: accountsOf(state, account, isAll ? null : touched),
    });
  return {
    add: (replayed, state) => touched.take(replayed, state),
    text: (state) => stateText(viewOf(state), paint),
    json: viewOf,
  };
}

/** @throws UsageError if no market or more than one matches. */
function marketsOf(state: State, named: string | null, touched: Touched | null): Market[] {
  const markets = [...state.markets];
  if (named === null) return markets.filter(({ number }) => touched === null || touched.markets.has(number));
  const own = marketNamed(state, named);
  if (own !== undefined) return [own];
  return withPrefix("market", named, markets, ({ slug }) => slug);
}

/** @throws UsageError if no account or more than one matches. */
function accountsOf(state: State, named: string | null, touched: Touched | null): Account[] {
  const accounts = [...state.accounts];
  if (named === null) {
    return accounts.filter(({ address }) => touched === null || touched.accounts.has(address));
  }
  return withPrefix("account", named, accounts, ({ address }) => address);
}

/** Returns the only item whose name has a prefix. @throws UsageError that suggests names */
function withPrefix<T>(noun: string, named: string, all: readonly T[], nameOf: (item: T) => string): T[] {
  const found = all.filter((item) => nameOf(item).startsWith(named));
  if (found.length === 1) return found;
  const expected = `--${noun} expects one ${noun}`;
  if (found.length > 1) {
    throw new UsageError(
      `${expected}, ${found.length} begin with ${named}: ${listed(found.map(nameOf).map(visible))}`,
    );
  }
  const names = all.map(nameOf);
  const containing = names.filter((name) => name.includes(named));
  const similar = containing.length > 0 ? containing : [nearest(named, names) ?? []].flat();
  const suggestion =
    similar.length > 0
      ? `, did you mean ${listed(similar.map(visible))}?`
      : `: there were ${listed(names.map(visible))}`;
  throw new UsageError(`${expected}, there was none ${named} then${suggestion}`);
}
