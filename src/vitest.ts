import { expect, type TestAPI, test } from "vitest";
import { type ExchangeMatchers, MATCHERS } from "./fixtures/matchers.ts";
import { type ExchangeFixtures, type ExchangeOptions, TestExchanges } from "./fixtures/test-exchange.ts";
import { TRADERS, type Trader } from "./fixtures/trader.ts";

export type { ExchangeMatchers } from "./fixtures/matchers.ts";
export { type ScenarioSuiteOptions, scenarioSuite } from "./fixtures/scenario-suite.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange } from "./fixtures/test-exchange.ts";
export type { Trader } from "./fixtures/trader.ts";

declare module "vitest" {
  interface Matchers<T> extends ExchangeMatchers<T> {}
}

/**
 * Returns the `test` of vitest with fixtures: an exchange at its opening, and its dev accounts, funded and with API keys,
 * named alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Tests reuse exchanges; concurrent tests use one
 * each. A failing test shows the story of each order and writes a report to `.clobsim/reports`. `expect` gets the
 * matchers of `ExchangeMatchers`.
 * @throws ConfigError that names an invalid option
 */
export function exchange(options: ExchangeOptions = {}): TestAPI<ExchangeFixtures> {
  const exchanges = new TestExchanges(options);
  expect.extend(MATCHERS as never);
  const traders = TRADERS.map((name) => [
    name,
    ({ exchange: { traders } }: ExchangeFixtures, use: (trader: Trader) => Promise<void>) =>
      use(traders[name]),
  ]);
  return test.extend<ExchangeFixtures>({
    exchange: async ({ task }, use) => {
      const acquired = await exchanges.acquire();
      await use(acquired.begin());
      const { state, errors } = task.result ?? {};
      const error = state === "fail" ? errors?.at(-1) : undefined;
      await exchanges.finish(acquired, fullName(task), error === undefined ? null : { error });
    },
    ...Object.fromEntries(traders),
  });
}

/** Returns the names of a test and its suites. */
function fullName(task: { readonly name: string; readonly suite?: unknown }): string {
  const { suite } = task as { readonly suite?: { readonly name: string } };
  return suite === undefined ? task.name : `${fullName(suite)} ${task.name}`;
}
