/** Whether to run all cases, as in CI. Otherwise a fixed part of them runs. */
const isAll = process.env.TEST_LEVEL === "all";

/** Returns a number of repetitions or a size, or a fifth of it outside CI. */
export const atLevel = (all: number): number => (isAll ? all : Math.ceil(all / 5));

/** Returns the number of cases of a property, and their seed. */
export const runs = (all: number, seed = 42): { readonly seed: number; readonly numRuns: number } => ({
  seed,
  numRuns: atLevel(all),
});

/** Returns all cases of a table, or every `every`-th outside CI. */
export const casesAtLevel = <Case>(cases: readonly Case[], every = 5): readonly Case[] =>
  isAll ? cases : cases.filter((_, index) => index % every === 0);
