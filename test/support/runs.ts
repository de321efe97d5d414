import fc from "fast-check";

/** Whether to run all cases, as in CI. Otherwise a fixed part of them runs. */
const isAll = process.env.TEST_LEVEL === "all";

/** Returns a number of repetitions or a size, or two fifths of it outside CI. */
export const atLevel = (all: number): number => (isAll ? all : Math.ceil(all * 0.4));

/** Returns the number of cases of a property, and their seed. */
export const runs = (all: number, seed = 42): { readonly seed: number; readonly numRuns: number } => ({
  seed,
  numRuns: atLevel(all),
});

type Arbitraries<Values> = { readonly [Index in keyof Values]: fc.Arbitrary<Values[Index]> };

/** Checks a property of any values: `forAll(runs(600), [fc.nat(), fc.string()], (count, text) => { ... })`. */
export const forAll = <Values extends [unknown, ...unknown[]]>(
  parameters: fc.Parameters<Values>,
  arbitraries: Arbitraries<Values>,
  holds: (...values: Values) => void,
): void => fc.assert(fc.property<Values>(...arbitraries, holds), parameters);

/** The same, of a property that is checked asynchronously. */
export const forAllAsync = <Values extends [unknown, ...unknown[]]>(
  parameters: fc.Parameters<Values>,
  arbitraries: Arbitraries<Values>,
  holds: (...values: Values) => Promise<void>,
): Promise<void> => fc.assert(fc.asyncProperty<Values>(...arbitraries, holds), parameters);

/** Returns all cases of a table, or every `every`-th outside CI. */
export const casesAtLevel = <Case>(cases: readonly Case[], every = 5): readonly Case[] =>
  isAll ? cases : cases.filter((_, index) => index % every === 0);

/** The type of the values of an arbitrary. */
export type ValueOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

type Values<Fields> = {
  readonly [Name in keyof Fields]: ValueOf<Fields[Name]>;
};

/** Returns a weighted arbitrary of records of one kind, for `fc.oneof`. */
export const ofKind = <
  const Kind extends string,
  Fields extends Readonly<Record<string, fc.Arbitrary<unknown>>>,
>(
  weight: number,
  kind: Kind,
  fields: Fields = {} as Fields,
) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: Kind } & Values<Fields>
  >,
});
