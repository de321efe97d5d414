import type { SettlementStatus } from "../../core/chain/settlement.ts";
import { counted, moneyText, priceText, sizeText, textOf } from "../../core/format.ts";
import { OUTCOMES, type Outcome } from "../../core/terms.ts";
import { FILE_LIMITS, readText } from "../../regular-file.ts";
import type {
  Expectation,
  ExpectationKind,
  LevelLine,
  ExpectationOf as Of,
} from "../language/expectations.ts";
import type { FillLine, OrderState, TradeLine } from "../language/order-line.ts";
import type { Placed } from "../language/parts.ts";
import type { Place } from "../language/problem.ts";
import type { Fill, HoldingView, Level, OrderView, TokenRef } from "../venue/views.ts";
import { diffOf, expected, found, note, same } from "./diff.ts";
import type { DiffLine } from "./result.ts";
import { type Mismatch, notes, ScenarioFailure, type Session, type Update } from "./session.ts";
import { goldenText } from "./summary.ts";
import { fillLike, fillText, levelText, orderStateText, secondText, tokenText, tradeText } from "./words.ts";

/** Compares everything that must be true. @throws ScenarioFailure with all that is not. */
export async function checkAll(session: Session, expectations: readonly Expectation[]): Promise<void> {
  const mismatches: Mismatch[] = [];
  for (const expectation of expectations) {
    const check = CHECKS[expectation.kind] as Check<ExpectationKind>;
    try {
      const mismatch = await check(session, expectation);
      if (mismatch !== null) mismatches.push(mismatch);
    } catch (error) {
      if (!(error instanceof ScenarioFailure)) throw error;
      mismatches.push(...error.mismatches);
    }
  }
  if (mismatches.length > 0) throw new ScenarioFailure(mismatches);
}

type Check<Kind extends ExpectationKind> = (
  session: Session,
  expectation: Of<Kind>,
) => Promise<Mismatch | null>;

const CHECKS: { readonly [Kind in ExpectationKind]: Check<Kind> } = {
  book: async (session, { place, token, ...sides }) => {
    const book = await session.venue.book(session.tokenOf(token));
    const diff: DiffLine[] = [];
    const wrong: string[] = [];
    for (const name of ["asks", "bids"] as const) {
      const wanted = sides[name];
      if (wanted === null) continue;
      const lines = compareSide(name === "asks" ? "ask" : "bid", wanted, book[name]);
      if (lines.every(({ kind }) => kind === "same")) continue;
      wrong.push(name);
      diff.push(...lines);
    }
    if (wrong.length === 0) return null;
    const names = wrong.reverse().join(" and ");
    return { place, message: `the ${names} of ${tokenText(token)} are not as expected`, diff };
  },
  trades: (session, { place, trades }) => {
    const from = session.fillsRead;
    session.fillsRead = session.venue.fillCount();
    const wanted = trades.map(({ value }) => tradeText(value));
    return compareFills(session, place, "trades", trades, wanted, session.venue.fills(from), tradeText);
  },
  order: async (session, { place, name, state }) => {
    const key = session.placedAs(name, place, [expected(orderStateText(state))]);
    return checkOrderState(session, place, name, key, state, await session.venue.order(key));
  },
  balance: async (session, { place, account, state }) => {
    const { asset } = state;
    const token = asset === "USDC" ? null : session.tokenOf(asset);
    const holdings = await session.venue.holdings(account);
    const balance = holdings.find(({ asset: other }) => isSameAsset(token, other)) ?? NOTHING;
    const name = asset === "USDC" ? "USDC" : tokenText(asset);
    const text = (units: number): string => (asset === "USDC" ? moneyText(units) : sizeText(units));
    const diff: DiffLine[] = [];
    const { amount } = state;
    if (amount !== undefined && (amount === balance.balance || amount === balance.available)) return null;
    if (amount !== undefined)
      diff.push(expected(`${name} ${text(amount)}`), found(`${name} ${text(balance.balance)}`));
    for (const [part, words] of Object.entries(PARTS) as [Part, string][]) {
      const wanted = state[part];
      if (wanted === undefined) continue;
      const line = (units: number): string => `${name} ${text(units)}${words}`;
      diff.push(...valueDiff(wanted, balance[part], line));
    }
    if (diff.every(({ kind }) => kind === "same")) return null;
    if (balance.reserved > 0) {
      diff.push(
        note(`${text(balance.available)} of it is available, open orders reserve ${text(balance.reserved)}`),
      );
    }
    if (balance.onChain !== balance.balance) {
      diff.push(
        note(`its wallet holds ${text(balance.onChain)} on the chain, the rest is pending or was lost`),
      );
    }
    return { place, message: `the ${name} of ${account} is not as expected`, diff };
  },
  quote: async (session, { place, token, state }) => {
    const quote = await session.venue.quote(session.tokenOf(token));
    const diff: DiffLine[] = [];
    for (const name of ["bid", "ask", "mid", "spread", "last"] as const) {
      const wanted = state[name];
      if (wanted === undefined) continue;
      const text = (units: number | null): string =>
        `${name} ${units === null ? "none" : name === "mid" ? textOf(units, MID_PLACES) : priceText(units)}`;
      diff.push(...valueDiff<number | null>(wanted, quote[name], text));
    }
    return mismatch(place, `the quote of ${tokenText(token)} is not as expected`, diff);
  },
  history: async (session, { place, token, points }) => {
    const history = await session.venue.priceHistory(session.tokenOf(token));
    const line = ({ t, price }: { t: number; price: number }): string =>
      `${secondText(t)} ${priceText(price)}`;
    const diff = diffOf(points.map(line), history.map(line));
    return mismatch(place, `the price history of ${tokenText(token)} is not as expected`, diff);
  },
  chain: async ({ venue }, { place, part, count }) => {
    const seen = (await venue.chain())[part];
    if (seen === count) return null;
    const { what, line } = WORDS[part];
    return {
      place,
      message: `${what} is ${line(seen)}, expected ${line(count)}`,
      diff: [expected(line(count)), found(line(seen)), ...(await venue.waiting()).map(note)],
    };
  },
  supply: async (session, { place, market, outcome, size }) => {
    const { onChain, ledger } = await session.venue.supply(session.marketOf(market));
    const compared = OUTCOMES.filter((each) => outcome === null || outcome === each);
    if (compared.every((each) => onChain[each] === size)) return null;
    const line = (each: Outcome, shares: number): string =>
      `${sizeText(shares)} ${tokenText({ market, outcome: each })}`;
    const pending = compared.filter((each) => ledger[each] !== onChain[each]);
    return {
      place,
      message: `the shares${market === null ? "" : ` of ${market}`} on the chain are not as expected`,
      diff: [
        ...diffOf(
          compared.map((each) => line(each, size)),
          compared.map((each) => line(each, onChain[each])),
        ),
        ...pending.map((each) => note(`the ledger counts ${line(each, ledger[each])} with what is pending`)),
      ],
    };
  },
  settled: async (session, { place, name, statuses }) => {
    const isOne = typeof statuses === "string";
    const key = session.placedAs(name, place, [expected(isOne ? statuses : statuses.join(", "))]);
    const seen = await session.venue.settled(key);
    const wanted = isOne ? Array.from({ length: Math.max(1, seen.length) }, () => statuses) : statuses;
    if (wanted.length === seen.length && wanted.every((status, index) => status === seen[index])) return null;
    const lines = (all: readonly string[]): string[] =>
      all.length === 0 ? ["no fills"] : all.map((status, index) => `fill ${index + 1} ${status}`);
    return {
      place,
      message: `the settlement of ${name} is not as expected`,
      diff: [
        ...diffOf(lines(wanted), lines(seen)),
        ...notes(session.withNames(await session.venue.explain(key))),
      ],
    };
  },
  stateHash: async (session, { place, hash, range, around }) => {
    const seen = await session.venue.stateHash();
    if (seen === null) return null;
    if (session.isUpdating) {
      const [before, after] = around;
      const text = `${before}${seen}${after}`;
      const update: Update = { kind: "value", file: place.file, range, text };
      return updated(session, place, `${place.file} ${range[0]}`, seen, seen === hash ? null : update);
    }
    if (seen === hash) return null;
    return {
      place,
      message: hashMessage(hash),
      diff: [expected(hash === "" ? "(none)" : hash), found(seen), note("clobsim run --update writes it")],
    };
  },
  golden: async (session, { place, file }) => {
    const text = await goldenText(session.scenario, session.venue);
    const kept = await readGolden(file);
    if (session.isUpdating) {
      return updated(session, place, file, text, kept === text ? null : { kind: "file", file, text });
    }
    if (kept === text) return null;
    if (kept === null) {
      return {
        place,
        message: "the golden file does not exist",
        diff: [note("clobsim run --update writes it")],
      };
    }
    return {
      place,
      message: OTHER_GOLDEN,
      diff: [...diffOf(linesOf(kept), linesOf(text)), note("clobsim run --update writes it anew")],
    };
  },
};

const mismatch = (place: Place, message: string, diff: readonly DiffLine[]): Mismatch | null =>
  diff.every(({ kind }) => kind === "same") ? null : { place, message, diff };

/** One value as a line, or as two where it is not the one expected. */
const valueDiff = <Value>(wanted: Value, seen: Value, line: (value: Value) => string): DiffLine[] =>
  wanted === seen ? [same(line(wanted))] : [expected(line(wanted)), found(line(seen))];

/** Compares an order with what it should be; what happened to it explains the difference. */
export async function checkOrderState(
  session: Session,
  place: Place,
  name: string,
  key: string,
  state: OrderState,
  order: OrderView,
): Promise<Mismatch | null> {
  const isSame =
    order.status === state.status &&
    order.matched === state.matched &&
    order.size === state.size &&
    (state.reason === null || state.reason === order.reason);
  if (isSame) return null;
  return {
    place,
    message: `${name} is ${orderStateText(order)}, expected ${orderStateText(state)}`,
    diff: [
      expected(orderStateText(state)),
      found(orderStateText(order)),
      ...notes(session.withNames(await session.venue.explain(key))),
    ],
  };
}

const NOTHING = { balance: 0, available: 0, reserved: 0, onChain: 0 };
const PARTS = {
  balance: "",
  available: " available",
  reserved: " reserved",
  onChain: " on the chain",
} as const;
type Part = keyof typeof PARTS;

const isSameAsset = (token: TokenRef | null, other: HoldingView["asset"]): boolean =>
  token === null || other === "USDC"
    ? token === null && other === "USDC"
    : token.market === other.market && token.outcome === other.outcome;

/** A side as lines, best first; how many orders a level has is compared where the file says it. */
function compareSide(name: string, wanted: readonly LevelLine[], seen: readonly Level[]): DiffLine[] {
  const counted = new Set(wanted.filter(({ orders }) => orders !== null).map(({ price }) => price));
  const like = (level: Level): LevelLine => (counted.has(level.price) ? level : { ...level, orders: null });
  return sideDiff(name, wanted.map(levelText), seen.map(like).map(levelText));
}

/** How the levels of a side differ; `name` is `bid` or `ask`. */
export function sideDiff(name: string, wanted: readonly string[], seen: readonly string[]): DiffLine[] {
  const line = (level: string): string => `${name} ${level}`;
  const diff = diffOf(wanted.map(line), seen.map(line));
  if (wanted.length === 0 && diff.length > 0) return [expected(`no ${name}s`), ...diff];
  if (seen.length === 0 && diff.length > 0) return [...diff, found(`no ${name}s`)];
  return diff;
}

const MID_PLACES = 5;

export const checkFills = (
  session: Session,
  { place, value }: Placed<readonly Placed<FillLine>[]>,
  fills: readonly Fill[],
): Promise<Mismatch | null> => {
  const wanted = value.map((line) => fillText(line.value));
  return compareFills(session, place, "fills", value, wanted, fills, fillText);
};

/** Compares fills with the lines of an expectation, in order; the first line that differs is where the mismatch stands. */
async function compareFills(
  session: Session,
  place: Place,
  what: "fills" | "trades",
  lines: Lines,
  wanted: readonly string[],
  fills: readonly Fill[],
  text: (fill: ReturnType<typeof fillLike>) => string,
): Promise<Mismatch | null> {
  // How far each fill is settled is asked only where some line says how far one should be.
  const statuses = lines.some(({ value }) => value.status !== null)
    ? await session.venue.settlementsOf(fills)
    : [];
  const seen = fills.map((fill, index) => {
    const line = lines[index]?.value;
    const like = fillLike(fill, line, session.hasOneMarket, statuses[index]);
    return text({ ...like, maker: session.makerOf(fill, line) });
  });
  const first = wanted.findIndex((line, index) => line !== seen[index]);
  if (first < 0 && wanted.length === seen.length) return null;
  const count = wanted.length === seen.length ? "" : `: ${wanted.length} expected, ${seen.length} found`;
  return {
    place: lines[first]?.place ?? place,
    message: `the ${what} are not as expected${count}`,
    diff: [
      ...tradesDiff(what, wanted, seen),
      ...unplaced(session, lines),
      ...(await reasonsOf(session, lines, fills, statuses)),
    ],
  };
}

type Lines = readonly Placed<FillLine | TradeLine>[];

/** Which of the orders that the lines name were never placed. */
const unplaced = (session: Session, lines: Lines): DiffLine[] =>
  notes(
    lines.flatMap(({ value: { isMakerOrder, maker } }) =>
      isMakerOrder && session.orderNamed(maker) === undefined ? [session.neverPlaced(maker)] : [],
    ),
  );

/** Why the first fill that is not settled as it should be is not: the story of its order. */
async function reasonsOf(
  session: Session,
  lines: Lines,
  fills: readonly Fill[],
  statuses: readonly SettlementStatus[],
): Promise<DiffLine[]> {
  const unsettled = fills.find((_fill, index) => {
    const wanted = lines[index]?.value.status ?? null;
    return wanted !== null && wanted !== statuses[index];
  });
  if (unsettled === undefined) return [];
  return notes(session.withNames(await session.venue.explain(unsettled.order)));
}

export const tradesDiff = (what: string, wanted: readonly string[], seen: readonly string[]): DiffLine[] => [
  ...(wanted.length === 0 ? [expected(`no ${what}`)] : []),
  ...diffOf(wanted, seen),
];

const WORDS = {
  head: { what: "the latest block", line: (count: number) => `block ${count}` },
  confirmed: { what: "the latest block that is final", line: (count: number) => `block ${count}` },
  pending: { what: "what waits for a block", line: (count: number) => counted(count, "transaction") },
} as const;

function hashMessage(hash: string): string {
  if (hash === "") return "the state's hash is not written yet";
  return hash.includes(":")
    ? "the state's hash is another"
    : "the state's hash was written by an earlier version, which hashed otherwise";
}

export const OTHER_GOLDEN = "books and trades are not those of the golden file";

/** Notes an update once, however often its place is come by: in each order of a race, in each inclusion of a file. */
function updated(
  session: Session,
  place: Place,
  where: string,
  value: string,
  update: Update | null,
): Mismatch | null {
  const before = session.recorded.get(where);
  if (before === undefined) {
    session.recorded.set(where, value);
    if (update !== null) session.updates.push(update);
    return null;
  }
  if (before === value) return null;
  return {
    place,
    message: "no one value can be written, for this is checked more than once and differs",
    diff: diffOf(linesOf(before), linesOf(value)),
  };
}

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** The text of a golden file; null where there is none. Line ends are the checkout's affair. */
export async function readGolden(file: string): Promise<string | null> {
  try {
    return readText(file, FILE_LIMITS.golden).replaceAll("\r\n", "\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
