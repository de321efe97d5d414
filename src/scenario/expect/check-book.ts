import { textOf } from "../../api/decimals.ts";
import type { LevelLine } from "../language/looks.ts";
import type { Expectation } from "../language/scenario.ts";
import { diffOf, expected, found, same } from "../run/diff.ts";
import type { DiffLine } from "../run/result.ts";
import type { Mismatch, Session } from "../run/session.ts";
import { levelText, priceText, secondText, tokenText } from "../run/words.ts";
import type { Level } from "../venue/venue.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

/** Compares the sides of a book that the expectation names, level by level. */
export async function checkBook(
  session: Session,
  { place, token, ...sides }: Of<"book">,
): Promise<Mismatch | null> {
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
}

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

/** Compares the prices of a token that the expectation names. */
export async function checkQuote(
  session: Session,
  { place, token, look }: Of<"quote">,
): Promise<Mismatch | null> {
  const quote = await session.venue.quote(session.tokenOf(token));
  const diff: DiffLine[] = [];
  for (const name of ["bid", "ask", "mid", "spread", "last"] as const) {
    const wanted = look[name];
    if (wanted === undefined) continue;
    const text = (units: number | null): string =>
      `${name} ${units === null ? "none" : name === "mid" ? textOf(units, MID_PLACES) : priceText(units)}`;
    if (quote[name] === wanted) diff.push(same(text(wanted)));
    else diff.push(expected(text(wanted)), found(text(quote[name])));
  }
  if (diff.every(({ kind }) => kind === "same")) return null;
  return { place, message: `the quote of ${tokenText(token)} is not as expected`, diff };
}

/** Compares the whole price history of a token. */
export async function checkHistory(
  session: Session,
  { place, token, points }: Of<"history">,
): Promise<Mismatch | null> {
  const history = await session.venue.history(session.tokenOf(token));
  const line = ({ t, price }: { t: number; price: number }): string => `${secondText(t)} ${priceText(price)}`;
  const diff = diffOf(points.map(line), history.map(line));
  if (diff.every(({ kind }) => kind === "same")) return null;
  return { place, message: `the price history of ${tokenText(token)} is not as expected`, diff };
}
