import { expect, type TestAPI, test } from "vitest";
import { type ExchangeMatchers, MATCHERS } from "./fixtures/matchers.ts";
import { type ExchangeFixtures, type ExchangeOptions, LentExchanges } from "./fixtures/test-exchange.ts";
import { TRADERS, type Trader } from "./fixtures/trader.ts";

export type { ExchangeMatchers } from "./fixtures/matchers.ts";
export { type ScenarioSuiteOptions, scenarioSuite } from "./fixtures/scenario-suite.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange } from "./fixtures/test-exchange.ts";
export type { Trader } from "./fixtures/trader.ts";

declare module "vitest" {
  interface Matchers<T> extends ExchangeMatchers<T> {}
}

/**
 * The `test` of vitest, whose context has an exchange at its opening and its dev accounts, funded and with API keys, by the
 * names alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Exchanges serve one test after another; tests that
 * run side by side have one each. A test that fails shows what became of each order and leaves a report in
 * `.clobsim/reports`. `expect` gets the matchers of `ExchangeMatchers`.
 * @throws ConfigError naming an option that is not what it should be
 */
export function exchange(options: ExchangeOptions = {}): TestAPI<ExchangeFixtures> {
  const exchanges = new LentExchanges(options);
  expect.extend(MATCHERS as never);
  const traders = TRADERS.map((name) => [
    name,
    ({ exchange: { traders } }: ExchangeFixtures, use: (trader: Trader) => Promise<void>) =>
      use(traders[name]),
  ]);
  return test.extend<ExchangeFixtures>({
    exchange: async ({ task }, use) => {
      const lent = await exchanges.lend();
      await use(lent.begin());
      const failed = task.result?.errors?.at(-1);
      const ended = lent.end();
      if (failed === undefined) await ended;
      else await ended.catch(() => {});
      if (failed !== undefined) failed.message = `${failed.message}\n\n${lent.failure(fullName(task))}`;
      exchanges.takeBack(lent);
    },
    ...Object.fromEntries(traders),
  });
}

/** The names of a test's suites and its own. */
function fullName(task: { readonly name: string; readonly suite?: unknown }): string {
  const { suite } = task as { readonly suite?: { readonly name: string } };
  return suite === undefined ? task.name : `${fullName(suite)} ${task.name}`;
}
