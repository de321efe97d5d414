import { parseDocument, stringify } from "yaml";
import { Declarations } from "../language/declarations.ts";
import { readExpectations } from "../language/expectations.ts";
import { attempt } from "../language/page.ts";
import type { Problem } from "../language/problem.ts";
import { ProblemList } from "../language/problem.ts";
import type { Expectation } from "../language/scenario.ts";
import { ScenarioFiles } from "../language/scenario-files.ts";
import type { HistoryNames } from "./history-names.ts";

/** What must be true at the end of a history, in the scenario language. */
export interface HistoryExpectation {
  readonly names: HistoryNames;
  readonly expectations: readonly Expectation[];
  /** The same on one line, as it stands behind `expect:`. */
  readonly text: string;
}

/** Text that cannot be read as an expectation. */
export interface ExpectationProblems {
  readonly problems: readonly Problem[];
}

const FLOW = { schema: "failsafe", collectionStyle: "flow", lineWidth: 0 } as const;
/** Expectations of a whole run: whatever is left out, they fail. */
const OF_ALL: ReadonlySet<Expectation["kind"]> = new Set(["golden", "stateHash"]);

/** Reads what stands behind `expect:` in a scenario; `label` is how problems name the text. */
export function readHistoryExpectation(
  label: string,
  text: string,
  names: HistoryNames,
): HistoryExpectation | ExpectationProblems {
  const problems = new ProblemList();
  const files = new ScenarioFiles(label, ".", problems);
  const expectations = attempt(() => {
    const file = files.open(text);
    const declared = new Declarations(new Set(names.markets), new Set(names.accounts.keys()));
    for (const name of names.orderNames()) declared.orders.set(name, "GTC");
    return readExpectations({ ...file, files, declared }, file.root);
  });
  const whole = expectations?.find(({ kind }) => OF_ALL.has(kind));
  if (whole !== undefined) {
    const message = `expected what a few steps can bring about, found ${whole.kind}: it is of everything`;
    problems.add({ place: whole.place, message, hint: null });
  }
  if (expectations !== undefined && problems.isEmpty) {
    const value: unknown = parseDocument(text, { schema: "failsafe" }).toJS();
    return { names, expectations, text: stringify(value, FLOW).trimEnd() };
  }
  return { problems: problems.inOrder(label) };
}

/** The names of the orders that expectations speak of. */
export const ordersIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "order" || each.kind === "settled") return [each.name];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { maker, isMakerOrder } }) => (isMakerOrder ? [maker] : []));
  });

/** The names of the accounts that expectations speak of. */
export const accountsIn = (expectations: readonly Expectation[]): readonly string[] =>
  expectations.flatMap((each) => {
    if (each.kind === "balance") return [each.account];
    if (each.kind !== "trades") return [];
    return each.trades.flatMap(({ value: { taker, maker, isMakerOrder } }) =>
      isMakerOrder ? [taker] : [taker, maker],
    );
  });
