import { VERSION } from "../config.ts";
import type { Account } from "../core/account.ts";
import { numberOf } from "../core/ids.ts";
import type { Market } from "../core/market.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Touched } from "../history/touched.ts";
import { type Given, readOne, type Setting, truth } from "../setting.ts";
import type { Command } from "./command.ts";
import type { ExitCode } from "./exit-code.ts";
import { LINE_OR_MOMENT, sourceNamed, TAKES_JOURNAL } from "./history-arguments.ts";
import { paintOf } from "./paint.ts";
import { UsageError } from "./usage-error.ts";

const MARKET: Setting<string> = {
  expected: "the slug of a market, its beginning, or its id",
  read: (text) => text || null,
};
const ACCOUNT: Setting<string> = {
  expected: "an address, or its beginning from 0x and 4 digits on",
  read: (text) => (/^0x[0-9a-f]{4,40}$/i.test(text) ? text.toLowerCase() : null),
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
  ],
  run: inspect,
};

async function inspect(given: Given, words: readonly string[]): Promise<ExitCode> {
  const at = readOne("at", LINE_OR_MOMENT, given) ?? {};
  const market = readOne("market", MARKET, given);
  const account = readOne("account", ACCOUNT, given);
  const isAll = readOne("all", truth, given) ?? false;
  const isJson = readOne("json", truth, given) ?? false;
  const source = sourceNamed("inspect", words);
  const [{ Walk }, { Touched }, { standingOf }, { standingText }, { endingOf }] = await Promise.all([
    import("../history/walk.ts"),
    import("../history/touched.ts"),
    import("../history/standing.ts"),
    import("./standing-text.ts"),
    import("./walk-ending.ts"),
  ]);
  const walk = new Walk(source, VERSION, at);
  const touched = new Touched();
  const end = walk.run((told) => touched.take(told));
  if (at.to !== undefined && end.last?.n !== at.to) {
    throw new UsageError(
      `--at expects a line of ${source.name}, which has ${end.scan.number}, found ${at.to}`,
    );
  }
  const { state, sequence, now } = walk.exchange;
  const selection = {
    markets: marketsOf(state, market, isAll ? null : touched),
    accounts: accountsOf(state, account, isAll ? null : touched),
  };
  const place = { line: end.last?.n ?? 0, time: toIso(now), sequence };
  const standing = { ...place, ...standingOf(state, selection) };
  if (isJson) process.stdout.write(`${JSON.stringify(standing, null, 2)}\n`);
  else process.stdout.write(`${standingText(standing, paintOf(given.environment)).join("\n")}\n`);
  const { code, lines } = endingOf(source, end, state);
  if (lines.length > 0) process.stderr.write(`clobsim: ${lines.join("\n")}\n`);
  return code;
}

/** @throws UsageError when there is no such market then, or more than one. */
function marketsOf(state: State, named: string | null, touched: Touched | null): Market[] {
  const markets = [...state.markets];
  if (named === null) return markets.filter(({ number }) => touched === null || touched.markets.has(number));
  const number = state.marketBySlug.get(named) ?? numberOf(state.idPrefixes.market, named);
  const found = markets.filter((market) =>
    number === 0 ? market.slug.startsWith(named) : market.number === number,
  );
  return theOne("market", named, found);
}

/** @throws UsageError when there is no such account then, or more than one. */
function accountsOf(state: State, named: string | null, touched: Touched | null): Account[] {
  const accounts = [...state.accounts];
  if (named === null) {
    return accounts.filter(({ address }) => touched === null || touched.accounts.has(address));
  }
  const found = accounts.filter(({ address }) => address.startsWith(named));
  return theOne("account", named, found);
}

function theOne<T>(noun: string, named: string, found: T[]): T[] {
  if (found.length === 1) return found;
  const finding = found.length === 0 ? `there was none ${named} then` : `${found.length} begin with ${named}`;
  throw new UsageError(`--${noun} expects one ${noun}, ${finding}`);
}
