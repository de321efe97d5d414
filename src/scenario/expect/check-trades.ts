import type { FillLine } from "../language/looks.ts";
import type { Place } from "../language/problem.ts";
import type { Expectation, Placed } from "../language/scenario.ts";
import { diffOf, expected } from "../run/diff.ts";
import type { Mismatch, Session } from "../run/session.ts";
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
  const wanted = trades.map(({ value }) => tradeText(value));
  const seen = fills.map((fill, index) =>
    tradeText(fillLike(fill, trades[index]?.value, session.hasOneMarket)),
  );
  return mismatchOf(place, trades, wanted, seen, "trades");
}

/** Compares the fills of one step's own order. */
export function checkFills(
  session: Session,
  { place, value }: Placed<readonly Placed<FillLine>[]>,
  fills: readonly Fill[],
): Mismatch | null {
  const wanted = value.map((line) => fillText(line.value));
  const seen = fills.map((fill, index) =>
    fillText(fillLike(fill, value[index]?.value, session.hasOneMarket)),
  );
  return mismatchOf(place, value, wanted, seen, "fills");
}

/** The first line that differs is where the mismatch stands. */
function mismatchOf(
  place: Place,
  lines: readonly { readonly place: Place }[],
  wanted: readonly string[],
  seen: readonly string[],
  what: string,
): Mismatch | null {
  const first = wanted.findIndex((text, index) => text !== seen[index]);
  if (first < 0 && wanted.length === seen.length) return null;
  const count = wanted.length === seen.length ? "" : `: ${wanted.length} expected, ${seen.length} found`;
  return {
    place: lines[first]?.place ?? place,
    message: `the ${what} are not as expected${count}`,
    diff: wanted.length === 0 ? [expected(`no ${what}`), ...diffOf(wanted, seen)] : diffOf(wanted, seen),
  };
}
