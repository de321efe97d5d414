import { type TestContext, type TestOptions, test as testOfNode } from "node:test";
import { type ExchangeFixtures, type ExchangeOptions, LentExchanges } from "./fixtures/test-exchange.ts";

export { assertBalance, assertBook, assertLive, assertTraded } from "./fixtures/matchers.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange } from "./fixtures/test-exchange.ts";
export type { Trader } from "./fixtures/trader.ts";

/** What a test does with its exchange and dev accounts. */
export type ExchangeTestBody = (fixtures: ExchangeFixtures, context: TestContext) => void | Promise<void>;

interface DeclareTest {
  (name: string, body: ExchangeTestBody): Promise<void>;
  (name: string, options: TestOptions, body: ExchangeTestBody): Promise<void>;
}

/** `test` of node:test for tests with an exchange. */
export interface ExchangeTest extends DeclareTest {
  readonly only: DeclareTest;
  readonly skip: DeclareTest;
  readonly todo: DeclareTest;
}

/**
 * The `test` of node:test, whose first argument has an exchange at its opening and its dev accounts, funded and with API
 * keys, by the names alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Exchanges serve one test after another;
 * tests that run side by side have one each. A test that fails shows what became of each order and leaves a report in
 * `.clobsim/reports`.
 * @throws ConfigError naming an option that is not what it should be
 */
export function exchange(options: ExchangeOptions = {}): ExchangeTest {
  const exchanges = new LentExchanges(options);
  const declare =
    (run: typeof testOfNode): DeclareTest =>
    (name: string, ...rest: readonly [ExchangeTestBody] | readonly [TestOptions, ExchangeTestBody]) => {
      const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
      return run(name, options, (context) =>
        exchanges.run(
          name,
          (fixtures) => body(fixtures, context),
          (told) => {
            for (const line of told.split("\n")) context.diagnostic(line);
          },
        ),
      );
    };
  const { only, skip, todo } = testOfNode;
  const variants = {
    only: declare(only as never),
    skip: declare(skip as never),
    todo: declare(todo as never),
  };
  return Object.assign(declare(testOfNode), variants);
}
