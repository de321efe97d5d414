import { readFileSync } from "node:fs";
import { EXPECTATIONS, OWN_EXPECTATIONS } from "../../../src/scenario/language/expectations.ts";
import { STEPS, STRUCTURE } from "../../../src/scenario/language/steps.ts";

export const PAGE = new URL("../../../docs/reference/scenario-language.md", import.meta.url);

/** A row of the reference page: examples in backquotes, and what they do or check. */
export interface Description {
  readonly form: string;
  readonly does: string;
}

const [introduction = "", ...sections] = readFileSync(PAGE, "utf8").split(/^## /m);
/** What stands before the sections of the page. */
export const INTRODUCTION = introduction;

/** Rows of each section of the page, without the heads of their tables. */
const [steps = [], expectations = []] = sections.map((section) =>
  [...section.matchAll(/^\| (.*?) \| (.*?) \|/gm)].slice(2),
);

/** Returns the rows by the kinds that they describe, which are in the same order. */
const byKind = <Kind extends string>(kinds: readonly Kind[], rows: typeof steps) => {
  if (kinds.length !== rows.length)
    throw new Error(`expected rows for ${kinds.join(", ")} in ${PAGE.pathname}`);
  const described = kinds.map((kind, index) => [kind, { form: rows[index]?.[1], does: rows[index]?.[2] }]);
  return Object.fromEntries(described) as Readonly<Record<Kind, Description>>;
};

export const DESCRIBED_STEPS = byKind(
  [...(Object.keys(STEPS) as (keyof typeof STEPS)[]), ...STRUCTURE],
  steps,
);
export const DESCRIBED_EXPECTATIONS = byKind(
  [...OWN_EXPECTATIONS, ...(Object.keys(EXPECTATIONS) as (keyof typeof EXPECTATIONS)[])],
  expectations,
);
