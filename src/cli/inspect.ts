import { VERSION } from "../config.ts";
import type { Account } from "../core/account.ts";
import { numberOf } from "../core/ids.ts";
import type { Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Touched } from "../history/touched.ts";
import type { Told, Walk } from "../history/walk.ts";
import type { Paint } from "../scenario/report/text.ts";
import { visible } from "../scenario/report/text.ts";
import { type Given, LINE_OR_MOMENT, readOne, type Setting, truth } from "../setting.ts";
import type { Command } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { UsageError } from "./exit-code.ts";
import { demandLine, sourceNamed, TAKES_JOURNAL } from "./history-arguments.ts";
import { didYouMean, paintOf } from "./output.ts";

const MARKET: Setting<string> = {
  expected: "the slug of a market, its beginning, or its id",
  read: (text) => text || null,
};
const ACCOUNT: Setting<string> = {
  expected: "an address, or its beginning from 0x and 4 digits on",
  read: (text) => (/^0x[0-9a-f]{4,40}$/i.test(text) ? text.toLowerCase() : null),
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ORDER: Setting<string> = {
  expected: "the id of an order, or its number",
  read: (text) => (/^[1-9]\d{0,14}$/.test(text) || UUID.test(text) ? text.toLowerCase() : null),
};

/** `clobsim inspect`: the exchange as it stood after a line of its journal. */
export const inspectCommand: Command = {
  name: "inspect",
  summary: "Print books, open orders and balances as they stood after a line of a journal or a report.",
  takes: TAKES_JOURNAL,
  flags: [
    { name: "at", group: "When:", text: "After this line, or at this moment", otherwise: "the end" },
    { name: "market", group: "What:", text: "The one market to show, by its slug, its beginning, or its id" },
    { name: "account", group: "What:", text: "The one account to show, by its address or its beginning" },
    { name: "order", group: "What:", text: "The story of one order instead, by its id or its number" },
    {
      name: "all",
      group: "What:",
      text: "Markets and accounts, too, that nobody has touched since the opening",
      toggle: "on",
    },
    { name: "json", group: "Output:", text: "A JSON document", toggle: "on" },
  ],
  examples: [
    ["inspect .clobsim --at 17", "what the 17th line has left"],
    ["inspect report.ndjson --at 2026-01-01T00:00:10Z --account 0x19e7", "one account at a moment"],
    ["inspect .clobsim --order 4116", "why an order is where it is, line by line"],
  ],
  run: inspect,
};

async function inspect(given: Given, words: readonly string[]): Promise<ExitCode> {
  const at = readOne("at", LINE_OR_MOMENT, given) ?? {};
  const chosen = {
    market: readOne("market", MARKET, given),
    account: readOne("account", ACCOUNT, given),
    isAll: readOne("all", truth, given) ?? false,
  };
  const asked = readOne("order", ORDER, given);
  const isJson = readOne("json", truth, given) ?? false;
  if (asked !== null && (chosen.market !== null || chosen.account !== null || chosen.isAll)) {
    throw new UsageError("--order shows an order alone: --market, --account and --all do not go with it");
  }
  const source = sourceNamed("inspect", words);
  const { Walk, endedWith, endingOf } = await import("./on-histories.ts");
  const walk = new Walk(source, VERSION, at);
  const { exchange } = walk;
  const paint = paintOf(given.environment);
  const view = asked === null ? await standingView(chosen, paint) : await orderView(asked, paint);
  const end = walk.run((told) => view.take(told, exchange.state));
  return endedWith(endingOf(source, end, exchange.state), () => {
    demandLine(source, at, end);
    process.stdout.write(`${shown(view, exchange, end.last?.n ?? 0, isJson, paint)}\n`);
  });
}

/** What is shown of a history: gathered line by line, each with the state behind it, and printed as it stands at last. */
interface InspectView {
  take(told: Told, state: State): void;
  /** @throws UsageError when what was asked for is not there */
  text(state: State): string[];
  json(state: State): object;
}

function shown(
  view: InspectView,
  { state, sequence, now }: Walk["exchange"],
  line: number,
  isJson: boolean,
  paint: Paint,
): string {
  const time = toIso(now);
  if (isJson) return JSON.stringify({ line, time, sequence, ...view.json(state) }, null, 2);
  return [`${paint.bold(`line ${line}`)}, ${time}, sequence ${sequence}`, ...view.text(state)].join("\n");
}

async function orderView(asked: string, paint: Paint): Promise<InspectView> {
  const { OrderLife } = await import("./on-histories.ts");
  return new OrderLife(asked, paint);
}

/** Whose books, orders and balances are asked for. */
interface Chosen {
  readonly market: string | null;
  readonly account: string | null;
  readonly isAll: boolean;
}

async function standingView({ market, account, isAll }: Chosen, paint: Paint): Promise<InspectView> {
  const { Touched, standingOf, standingText } = await import("./on-histories.ts");
  const touched = new Touched();
  const standing = (state: State) =>
    standingOf(state, {
      markets: marketsOf(state, market, isAll ? null : touched),
      accounts: accountsOf(state, account, isAll ? null : touched),
    });
  return {
    take: (told) => touched.take(told),
    text: (state) => standingText(standing(state), paint),
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

const MOST_LISTED = 8;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map(visible).join(", ");
  return names.length <= MOST_LISTED ? shown || "none" : `${shown} and ${names.length - MOST_LISTED} more`;
}
