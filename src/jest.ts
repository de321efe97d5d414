import { type ExchangeMatchers, MATCHERS } from "./fixtures/matchers.ts";
import { type ExchangeFixtures, type ExchangeOptions, TestExchanges } from "./fixtures/test-exchange.ts";

export type { ExchangeMatchers } from "./fixtures/matchers.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange, Trader } from "./fixtures/test-exchange.ts";

declare global {
  namespace jest {
    interface Matchers<R> extends ExchangeMatchers<R> {}
  }
}

type Body = (fixtures: ExchangeFixtures) => void | Promise<void>;
type DeclareTest = (name: string, body: Body, timeoutMs?: number) => void;

/** `test` of jest for tests with an exchange. */
export interface ExchangeTest extends DeclareTest {
  readonly todo: (name: string) => void;
  readonly only: DeclareTest;
  readonly skip: DeclareTest;
  readonly concurrent: DeclareTest;
  readonly failing: DeclareTest;
}

type TestOfJest = (name: string, body: () => Promise<void>, timeoutMs?: number) => void;

/** Globals of jest that are used. */
export interface JestGlobals {
  readonly test: TestOfJest &
    Readonly<Record<"only" | "skip" | "concurrent" | "failing", TestOfJest>> &
    Pick<ExchangeTest, "todo">;
  afterEach(hook: () => Promise<void> | undefined): void;
  readonly expect: {
    extend(matchers: object): void;
    getState(): { readonly currentTestName?: string | undefined };
  };
}

/**
 * Returns the `test` of jest with fixtures: an exchange at its opening, and its dev accounts, funded and with API keys,
 * named alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Tests reuse exchanges; concurrent tests use one
 * each. A failing test shows the story of each order and writes a report to `.clobsim/reports`. `expect` gets the
 * matchers of `ExchangeMatchers`.
 * @param globals exports of `@jest/globals`, if jest does not inject globals
 * @throws ConfigError that names an invalid option
 */
export function exchange(
  options: ExchangeOptions = {},
  globals = globalThis as unknown as JestGlobals,
): ExchangeTest {
  const { test, expect, afterEach } = globals;
  if (typeof test !== "function") {
    throw new TypeError(
      'expected a test file of jest: there is no global test here. Without injectGlobals, call exchange({}, require("@jest/globals"))',
    );
  }
  const exchanges = new TestExchanges(options);
  expect.extend(MATCHERS);
  /** Returns the names of a test and its groups. For a concurrent test, jest tells the name of another test. */
  const fullName = (name: string): string => {
    const { currentTestName: current } = expect.getState();
    return current?.endsWith(name) === true ? current : name;
  };
  /** Ends the running test, whose time is up; null between tests. Jest calls no hooks for concurrent tests. */
  let end: (() => Promise<void>) | null = null;
  afterEach(() => end?.());
  const declare =
    (run: TestOfJest, isConcurrent = false): DeclareTest =>
    (name, body, timeoutMs) => {
      const runBody = async (): Promise<void> => {
        const over = new AbortController();
        const show = run === test.failing ? null : undefined;
        const ended = exchanges.run(fullName(name), body, over.signal, show);
        if (isConcurrent) return ended;
        end = () => {
          over.abort();
          return ended;
        };
        return ended.finally(() => {
          end = null;
        });
      };
      // Jest itself refuses a missing function.
      run(name, typeof body === "function" ? runBody : body, timeoutMs);
    };
  const { only, skip, concurrent, failing, todo } = test;
  const variants = { only: declare(only), skip: declare(skip), concurrent: declare(concurrent, true) };
  return Object.assign(declare(test), { ...variants, failing: declare(failing), todo });
}
