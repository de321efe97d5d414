import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { FillLine, TradeLine } from "../language/looks.ts";
import type { Place } from "../language/problem.ts";
import type { Expectation, Placed } from "../language/scenario.ts";
import { diffOf, expected } from "../run/diff.ts";
import type { DiffLine } from "../run/result.ts";
import { type Mismatch, notes, type Session } from "../run/session.ts";
import { fillLike, fillText, tradeText } from "../run/words.ts";
import type { Fill } from "../venue/venue.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

/** Compares all trades since the last such expectation, in order. */
export async function checkTrades(
  session: Session,
  { place, trades }: Of<"trades">,
): Promise<Mismatch | null> {
  const fills = await session.venue.fills(session.fillsRead);
  session.fillsRead = session.venue.fillCount();
  const statuses = await statusesOf(session, trades, fills);
  const wanted = trades.map(({ value }) => tradeText(value));
  const seen = fills.map((fill, index) =>
    tradeText(seenAs(session, fill, trades[index]?.value, statuses[index])),
  );
  const reasons = [...unplaced(session, trades), ...(await reasonsOf(session, trades, fills, statuses))];
  return mismatchOf(place, trades, wanted, seen, "trades", reasons);
}

/** Compares the fills of one step's own order. */
export async function checkFills(
  session: Session,
  { place, value }: Placed<readonly Placed<FillLine>[]>,
  fills: readonly Fill[],
): Promise<Mismatch | null> {
  const statuses = await statusesOf(session, value, fills);
  const wanted = value.map((line) => fillText(line.value));
  const seen = fills.map((fill, index) =>
    fillText(seenAs(session, fill, value[index]?.value, statuses[index])),
  );
  const reasons = [...unplaced(session, value), ...(await reasonsOf(session, value, fills, statuses))];
  return mismatchOf(place, value, wanted, seen, "fills", reasons);
}

/** A fill as far as a line tells of one. */
const seenAs = (session: Session, fill: Fill, line: FillLine | undefined, status?: SettlementStatus) => ({
  ...fillLike(fill, line, session.hasOneMarket, status),
  maker: session.makerOf(fill, line),
});

type Lines = readonly Placed<FillLine | TradeLine>[];

/** Which of the orders that the lines name were never placed. */
const unplaced = (session: Session, lines: Lines): DiffLine[] =>
  notes(
    lines.flatMap(({ value: { isMakerOrder, maker } }) =>
      isMakerOrder && session.orderNamed(maker) === undefined ? [session.neverPlaced(maker)] : [],
    ),
  );

/** How far each fill is settled by now; asked only where some line says how far one should be. */
async function statusesOf(
  { venue }: Session,
  lines: Lines,
  fills: readonly Fill[],
): Promise<readonly SettlementStatus[]> {
  return lines.some(({ value }) => value.status !== null) ? venue.settlementsOf(fills) : [];
}

/** Why the first fill that is not settled as it should be is not: the story of its order. */
async function reasonsOf(
  session: Session,
  lines: Lines,
  fills: readonly Fill[],
  statuses: readonly SettlementStatus[],
): Promise<DiffLine[]> {
  const astray = fills.find((_fill, index) => {
    const wanted = lines[index]?.value.status ?? null;
    return wanted !== null && wanted !== statuses[index];
  });
  if (astray === undefined) return [];
  return notes(session.withNames(await session.venue.explain(astray.order)));
}

/** The first line that differs is where the mismatch stands. */
function mismatchOf(
  place: Place,
  lines: readonly { readonly place: Place }[],
  wanted: readonly string[],
  seen: readonly string[],
  what: string,
  reasons: readonly DiffLine[],
): Mismatch | null {
  const first = wanted.findIndex((text, index) => text !== seen[index]);
  if (first < 0 && wanted.length === seen.length) return null;
  const count = wanted.length === seen.length ? "" : `: ${wanted.length} expected, ${seen.length} found`;
  return {
    place: lines[first]?.place ?? place,
    message: `the ${what} are not as expected${count}`,
    diff: [...tradesDiff(what, wanted, seen), ...reasons],
  };
}

/** How two lists of trades or fills differ. */
export const tradesDiff = (what: string, wanted: readonly string[], seen: readonly string[]): DiffLine[] => [
  ...(wanted.length === 0 ? [expected(`no ${what}`)] : []),
  ...diffOf(wanted, seen),
];
