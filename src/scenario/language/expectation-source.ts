import type { Declarations } from "./declarations.ts";
import { mappingOf } from "./fields.ts";
import type { Page } from "./page.ts";
import type { Expectation } from "./scenario.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import type { Entry, Node } from "./yaml-tree.ts";

/** Where expectations are read, and where they go. */
export interface ExpectationSource {
  readonly file: OpenFile;
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
  readonly into: Expectation[];
}

/** The entries of a mapping that says something; what is none, or empty, is a problem. */
export function saidEntries(page: Page, node: Node, expected: string): readonly Entry[] {
  const mapping = mappingOf(page, node, `${expected}, a mapping`);
  if (mapping?.entries.length === 0) page.wrong(node.start, `expected ${expected}, found an empty mapping`);
  return mapping?.entries ?? [];
}
