import type { Outcome } from "../../core/commands.ts";
import type { Expectation } from "../language/scenario.ts";
import { diffOf, expected, found, note } from "../run/diff.ts";
import { type Mismatch, notes, type Session } from "../run/session.ts";
import { sizeText, tokenText } from "../run/words.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

const OUTCOMES: readonly Outcome[] = ["YES", "NO"];
const WORDS = {
  head: { what: "the latest block", line: (count: number) => `block ${count}` },
  confirmed: { what: "the latest block that is final", line: (count: number) => `block ${count}` },
  pending: { what: "what waits for a block", line: (count: number) => counted(count, "transaction") },
} as const;

/** Compares where the chain stands; what waits for a block says what for. */
export async function checkChain(
  { venue }: Session,
  { place, part, count }: Of<"chain">,
): Promise<Mismatch | null> {
  const seen = (await venue.chain.view())[part];
  if (seen === count) return null;
  const { what, line } = WORDS[part];
  return {
    place,
    message: `${what} is ${line(seen)}, expected ${line(count)}`,
    diff: [expected(line(count)), found(line(seen)), ...(await venue.chain.waiting()).map(note)],
  };
}

/** Compares how many shares of a market there are on the chain. */
export async function checkSupply(
  session: Session,
  { place, market, outcome, size }: Of<"supply">,
): Promise<Mismatch | null> {
  const { onChain, ledger } = await session.venue.chain.supply(session.marketOf(market));
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
}

/** Compares how far the settlement of a named order's fills has come. */
export async function checkSettled(
  session: Session,
  { place, name, statuses }: Of<"settled">,
): Promise<Mismatch | null> {
  const key = session.orderNamed(name);
  const isOne = typeof statuses === "string";
  if (key === undefined) {
    return {
      place,
      message: session.neverPlaced(name),
      diff: [expected(isOne ? statuses : statuses.join(", "))],
    };
  }
  const seen = await session.venue.chain.settled(key);
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
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
