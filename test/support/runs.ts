/** CI tries all cases; otherwise a part of them is tried, the same each time. */
const isAll = process.env.TEST_LEVEL === "all";

/** As much as told, or a fifth of that: how often something is tried that takes long, or how large it is. */
export const atLevel = (all: number): number => (isAll ? all : Math.ceil(all / 5));

/** How many cases a property is tried with, and the seed from which they are made. */
export const runs = (all: number, seed = 42): { readonly seed: number; readonly numRuns: number } => ({
  seed,
  numRuns: atLevel(all),
});

/** All cases of a table, or every fifth, or every so-many-th. */
export const casesAtLevel = <Case>(cases: readonly Case[], every = 5): readonly Case[] =>
  isAll ? cases : cases.filter((_, index) => index % every === 0);
