import { MID_PLACES } from "../../api/order-book.ts";
import { decimalText, moneyText, priceText, sizeText } from "../../core/format.ts";
import { OUTCOMES, type Outcome } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { millis } from "../../core/units.ts";
import { FILE_LIMITS, ifThere, readText } from "../../regular-file.ts";
import { assetText, tokenText } from "../language/declarations.ts";
import type {
  Expectation,
  ExpectationKind,
  LevelLine,
  ExpectationOf as Of,
} from "../language/expectations.ts";
import type { FillLine, OrderState, Placed } from "../language/order-line.ts";
import { type Place, placeText } from "../language/page.ts";
import { type Fill, type Level, type MaybePromise, priceOf, sizeOf } from "../venue/views.ts";
import { fillLike, goldenText, levelText, orderStateText, tradeText } from "./format.ts";
import { type DiffLine, diffOf, expected, found, type Mismatch, note, same } from "./result.ts";
import { fail, ScenarioFailure, type Session, type Update } from "./session.ts";

/** Checks all expectations. @throws ScenarioFailure with every mismatch. */
export async function checkAll(session: Session, expectations: readonly Expectation[]): Promise<void> {
  const mismatches: Mismatch[] = [];
  for (const expectation of expectations) {
    const check = CHECKS[expectation.kind] as Check<ExpectationKind>;
    try {
      const mismatch = await check(session, expectation);
      if (mismatch !== null) mismatches.push(mismatch);
    } catch (error) {
      if (!(error instanceof ScenarioFailure)) throw error;
      // Several amounts may be expected of the same unknown account.
      const isNew = ({ message }: Mismatch) => mismatches.every((of) => of.message !== message);
      mismatches.push(...error.mismatches.filter(isNew));
    }
  }
  if (mismatches.length > 0) throw new ScenarioFailure(mismatches);
}

type Check<Kind extends ExpectationKind> = (
  session: Session,
  expectation: Of<Kind>,
) => Promise<Mismatch | null>;

const CHECKS: { readonly [Kind in ExpectationKind]: Check<Kind> } = {
  book: async (session, { place, token, ...wanted }) => {
    const book = await session.venue.book(session.tokenOf(token));
    const diffOf = (name: "asks" | "bids"): DiffLine[] =>
      wanted[name] === null ? [] : levelsDiff(name, wanted[name], book[name]);
    const wrong = { bids: diffOf("bids"), asks: diffOf("asks") };
    const names = (["bids", "asks"] as const).filter((name) => differs(wrong[name]));
    const message = `the ${names.join(" and ")} of ${tokenText(token)} are not as expected`;
    const diff = names.toReversed().flatMap((name) => wrong[name]);
    return mismatch(place, message, diff);
  },
  trades: (session, { place, trades }) =>
    checkFills(session, place, "trades", trades, session.newFills(), tradeText),
  order: async (session, { place, name, state }) => {
    const key = session.placedAs(name, place, [expected(orderStateText(state))]);
    return checkOrderState(session, { place, value: state }, name, key);
  },
  balance: async (session, { place, account, state }) => {
    const { asset, amount } = state;
    if (!session.venue.hasOpened(account)) fail(place, session.venue.unknownAccount(account));
    const name = assetText(asset === "USDC" ? asset : session.tokenOf(asset));
    const holdings = await session.venue.holdings(account);
    const seen = holdings.find((holding) => assetText(holding.asset) === name) ?? NOTHING;
    if (amount !== undefined && amount === seen.available) return null;
    const wanted: typeof state = amount === undefined ? state : { asset, balance: amount };
    const text = asset === "USDC" ? moneyText : sizeText;
    const diff = (Object.entries(PARTS) as [keyof typeof PARTS, string][]).flatMap(([part, words]) => {
      const line = (units: number): string => `${assetText(asset)} ${text(units)}${words}`;
      return wanted[part] === undefined ? [] : valueDiff(wanted[part], seen[part], line);
    });
    const { available, balance, reserved, onChain } = seen;
    const held = `${text(available)} of it is available, open orders reserve ${text(reserved)}`;
    const pending = `its wallet holds ${text(onChain)} on the chain, the rest is pending or dropped`;
    return mismatch(place, `the ${assetText(asset)} of ${account} is not as expected`, diff, () => [
      ...(reserved > 0 ? [held] : []),
      ...(onChain === balance ? [] : [pending]),
    ]);
  },
  quote: async (session, { place, token, state }) => {
    const quote = await session.venue.quote(session.tokenOf(token));
    const diff = (["bid", "ask", "mid", "spread", "last"] as const).flatMap((name) => {
      const price = (units: number): string =>
        name === "mid" ? decimalText(units, MID_PLACES) : priceText(units);
      const line = (units: number | null): string => `${name} ${units === null ? "none" : price(units)}`;
      return state[name] === undefined ? [] : valueDiff<number | null>(state[name], quote[name], line);
    });
    return mismatch(place, `the quote of ${tokenText(token)} is not as expected`, diff);
  },
  history: async (session, { place, token, points }) => {
    const { venue } = session;
    const query = { tokenId: venue.tokenId(session.tokenOf(token)) };
    const path = venue.pathOf(session.marketOf(token.market));
    const { data } = await venue.ask("getPricesHistory", { path, query });
    const line = (t: number, price: number): string => `${toIso(millis(t * 1000))} ${priceText(price)}`;
    const diff = diffOf(
      points.map(({ t, price }) => line(t, price)),
      data.map(({ t, p }) => line(t, priceOf(p))),
    );
    return mismatch(place, `the price history of ${tokenText(token)} is not as expected`, diff);
  },
  chain: async ({ venue }, { place, part, count }) => {
    const { head, confirmed, pending } = await venue.ask("getChain");
    const seen = { head: head.number, confirmed, pending }[part];
    const { what, line } = CHAIN_WORDS[part];
    const message = `${what} is ${line(seen)}, expected ${line(count)}`;
    return mismatch(place, message, valueDiff(count, seen, line), () => venue.pendingReasons());
  },
  supply: async (session, { place, market, outcome, size }) => {
    const { venue } = session;
    const path = venue.pathOf(session.marketOf(market));
    const { onChain, ledger } = await venue.ask("getSupply", { path });
    const compared = OUTCOMES.filter((each) => outcome === null || outcome === each);
    const line = (each: Outcome, shares: number): string =>
      `${sizeText(shares)} ${tokenText({ market, outcome: each })}`;
    const diff = diffOf(
      compared.map((each) => line(each, size)),
      compared.map((each) => line(each, sizeOf(onChain[each]))),
    );
    const message = `the shares${market === null ? "" : ` of ${market}`} on the chain are not as expected`;
    return mismatch(place, message, diff, () =>
      compared
        .filter((each) => ledger[each] !== onChain[each])
        .map((each) => `the ledger has ${line(each, sizeOf(ledger[each]))} with pending transactions`),
    );
  },
  settled: async (session, { place, name, statuses }) => {
    const isOne = typeof statuses === "string";
    const key = session.placedAs(name, place, [expected(isOne ? statuses : statuses.join(", "))]);
    const seen = (await session.venue.tradesOf(key)).map(({ status }) => status);
    const wanted = isOne ? Array.from({ length: Math.max(1, seen.length) }, () => statuses) : statuses;
    const lines = (all: readonly string[]): string[] =>
      all.length === 0 ? ["no fills"] : all.map((status, index) => `fill ${index + 1} ${status}`);
    const message = `the settlement of ${name} is not as expected`;
    return mismatch(place, message, diffOf(lines(wanted), lines(seen)), () => session.explain(key));
  },
  stateHash: async (session, { place, hash, start, before, around }) => {
    const seen = await session.venue.stateHash();
    if (seen === null) return null;
    if (session.options.isUpdating) {
      const { file, line } = start;
      const update: Update = { kind: "value", file, line, before, text: around.join(seen) };
      return updated(session, place, placeText(start), seen, seen === hash ? null : update);
    }
    const diff = valueDiff(hash, seen, (text) => text || "(none)");
    return mismatch(place, hashMessage(hash), diff, () => ["clobsim run --update writes it"]);
  },
  golden: async (session, { place, file }) => {
    const text = await goldenText(session.scenario, session.venue);
    const golden = readGolden(file);
    if (session.options.isUpdating)
      return updated(session, place, file, text, golden === text ? null : { kind: "file", file, text });
    const missing = "the golden file does not exist";
    if (golden === null) return { place, message: missing, diff: [note("clobsim run --update writes it")] };
    const diff = golden === text ? [] : diffOf(linesOf(golden), linesOf(text));
    const message = "books and trades differ from the golden file";
    const differs = await mismatch(place, message, diff, () => ["clobsim run --update overwrites it"]);
    return differs && { ...differs, cause: { kind: "golden" } };
  },
};

const differs = (diff: readonly DiffLine[]): boolean => diff.some(({ kind }) => kind !== "same");

/** Returns a mismatch if some lines differ, with the reasons as notes; else null. */
async function mismatch(
  place: Place,
  message: string,
  diff: readonly DiffLine[],
  reasons: () => MaybePromise<readonly string[]> = () => [],
): Promise<Mismatch | null> {
  return differs(diff) ? { place, message, diff: [...diff, ...(await reasons()).map(note)] } : null;
}

/** Returns one line for a value, or two if it is not the expected one. */
const valueDiff = <Value>(wanted: Value, seen: Value, line: (value: Value) => string): DiffLine[] =>
  wanted === seen ? [same(line(wanted))] : [expected(line(wanted)), found(line(seen))];

/** Compares the state of an order; a difference is explained by the order's story. */
export async function checkOrderState(
  session: Session,
  { place, value: state }: Placed<OrderState>,
  name: string,
  key: string,
): Promise<Mismatch | null> {
  const order = await session.venue.order(key);
  const [wanted, seen] = [orderStateText(state), orderStateText(order)];
  // The reason is compared only if given.
  if (wanted === orderStateText({ ...order, reason: state.reason && order.reason })) return null;
  const diff = [expected(wanted), found(seen)];
  return mismatch(place, `${name} is ${seen}, expected ${wanted}`, diff, () => session.explain(key));
}

const NOTHING = { balance: 0, available: 0, reserved: 0, onChain: 0 };
const PARTS = { balance: "", available: " available", reserved: " reserved", onChain: " on the chain" };

/** Compares levels; the number of orders only if given. */
function levelsDiff(name: "bids" | "asks", wanted: readonly LevelLine[], seen: readonly Level[]): DiffLine[] {
  const numbered = new Set(wanted.filter(({ orders }) => orders !== null).map(({ price }) => price));
  const like = (level: Level): LevelLine => (numbered.has(level.price) ? level : { ...level, orders: null });
  return sideDiff(name === "bids" ? "bid" : "ask", wanted.map(levelText), seen.map(like).map(levelText));
}

/** Compares the levels of a side; `name` is `bid` or `ask`. */
export function sideDiff(name: string, wanted: readonly string[], seen: readonly string[]): DiffLine[] {
  const line = (level: string): string => `${name} ${level}`;
  const diff = diffOf(wanted.map(line), seen.map(line));
  if (diff.length === 0) return diff;
  if (wanted.length === 0) return [expected(`no ${name}s`), ...diff];
  return seen.length === 0 ? [...diff, found(`no ${name}s`)] : diff;
}

/** Compares fills with the lines of an expectation, in order. The mismatch has the place of the first different line. */
export async function checkFills<Line extends FillLine>(
  session: Session,
  place: Place,
  what: "fills" | "trades",
  lines: readonly Placed<Line>[],
  fills: readonly Fill[],
  text: (fill: Omit<Line, "isMakerOrder"> | ReturnType<typeof fillLike>) => string,
): Promise<Mismatch | null> {
  // Settlement statuses are read only if a line expects one.
  const statuses = lines.some(({ value }) => value.status !== null)
    ? await session.venue.settlementsOf(fills)
    : [];
  const wanted = lines.map(({ value }) => text(value));
  const seen = fills.map((fill, index) => {
    const line = lines[index]?.value;
    const like = fillLike(fill, line, session.hasOneMarket, statuses[index]);
    return text({ ...like, maker: session.makerOf(fill, line) });
  });
  const first = wanted.findIndex((line, index) => line !== seen[index]);
  if (first < 0 && wanted.length === seen.length) return null;
  const count = wanted.length === seen.length ? "" : `: ${wanted.length} expected, ${seen.length} found`;
  const diff = tradesDiff(what, wanted, seen);
  return mismatch(lines[first]?.place ?? place, `the ${what} are not as expected${count}`, diff, async () => {
    const unsettled = fills.find((_fill, index) => {
      const status = lines[index]?.value.status ?? null;
      return status !== null && status !== statuses[index];
    });
    const unplaced = lines.flatMap(({ value: { isMakerOrder, maker } }) =>
      isMakerOrder && session.orderNamed(maker) === undefined ? [session.missing(maker)] : [],
    );
    return [...unplaced, ...(unsettled === undefined ? [] : await session.explain(unsettled.order))];
  });
}

export const tradesDiff = (what: string, wanted: readonly string[], seen: readonly string[]): DiffLine[] => [
  ...(wanted.length === 0 ? [expected(`no ${what}`)] : []),
  ...diffOf(wanted, seen),
];

const blockText = (number: number): string => `block ${number}`;
const CHAIN_WORDS = {
  head: { what: "the latest block", line: blockText },
  confirmed: { what: "the latest block that is final", line: blockText },
  pending: { what: "the number of pending transactions", line: String },
};

function hashMessage(hash: string): string {
  if (hash === "") return "the state hash is not written yet";
  return hash.includes(":")
    ? "the state hash differs"
    : "the state hash is from an earlier version, which hashed differently";
}

/** Records an update once. It may be reached again: in each order of a race, each inclusion of a file, by another scenario. */
async function updated(session: Session, place: Place, where: string, value: string, update: Update | null) {
  const before = session.recorded.get(where) ?? value;
  if (!session.recorded.has(where) && update !== null) session.updates.push(update);
  session.recorded.set(where, before);
  const message = "no single value can be written, because this is checked more than once and differs";
  return before === value ? null : mismatch(place, message, diffOf(linesOf(before), linesOf(value)));
}

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** Reads a golden file with line feeds as line ends; null if it does not exist. */
export const readGolden = (file: string): string | null =>
  ifThere(() => readText(file, FILE_LIMITS.golden).replaceAll("\r\n", "\n"));
