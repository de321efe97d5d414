import { type TestContext, type TestOptions, test as testOfNode } from "node:test";
import { type ExchangeFixtures, type ExchangeOptions, TestExchanges } from "./fixtures/test-exchange.ts";

export { assertBalance, assertBook, assertLive, assertTraded } from "./fixtures/matchers.ts";
export type { ExchangeFixtures, ExchangeOptions, TestExchange, Trader } from "./fixtures/test-exchange.ts";

/** Body of a test with its fixtures. */
export type ExchangeTestBody = (fixtures: ExchangeFixtures, context: TestContext) => void | Promise<void>;

interface DeclareTest {
  (name: string, options?: TestOptions): Promise<void>;
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
 * Returns the `test` of node:test with fixtures: an exchange at its opening, and its dev accounts, funded and with API
 * keys, named alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy. Tests reuse exchanges; concurrent tests use
 * one each. A failing test shows the story of each order and writes a report to `.clobsim/reports`.
 * @throws ConfigError that names an invalid option
 */
export function exchange(options: ExchangeOptions = {}): ExchangeTest {
  const exchanges = new TestExchanges(options);
  const withFixtures = (body: ExchangeTestBody, isTodo: boolean) => (context: TestContext) => {
    let mayFail = isTodo;
    // A context does not tell whether it was called.
    for (const name of ["todo", "skip"] as const) {
      const mark = context[name].bind(context);
      context[name] = (message) => {
        mayFail = true;
        mark(message);
      };
    }
    const show = (story: () => string): void => {
      if (!mayFail) for (const line of story().split("\n")) context.diagnostic(line);
    };
    const { fullName, signal } = context;
    const ended = exchanges.run(fullName, (fixtures) => body(fixtures, context), signal, show);
    // When its time is up, the test prints what has been told by the end of this hook.
    context.after(() => ended.catch(() => {}));
    return ended;
  };
  const declare = (run: unknown): DeclareTest => {
    const declareOfNode = run as (...args: readonly unknown[]) => Promise<void>;
    return (...args: readonly unknown[]) => {
      const isTodo = run === testOfNode.todo || args.some(hasTodo);
      return declareOfNode(
        ...args.map((arg) =>
          typeof arg === "function" ? withFixtures(arg as ExchangeTestBody, isTodo) : arg,
        ),
      );
    };
  };
  const { only, skip, todo } = testOfNode;
  const variants = { only: declare(only), skip: declare(skip), todo: declare(todo) };
  return Object.assign(declare(testOfNode), variants);
}

/** Whether an argument is options with `todo`: true or a text. */
const hasTodo = (arg: unknown): boolean => ((arg as TestOptions | undefined)?.todo ?? false) !== false;
