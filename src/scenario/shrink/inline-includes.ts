import { dirname, resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import { readTextFile } from "../language/scenario-files.ts";
import { Draft, type Part } from "./draft.ts";
import { bodyAt, lineOf, listed } from "./step-list.ts";
import type { Place } from "./trial.ts";

/** A file may include files that include files, but not for ever. */
const DEEPEST = 16;

/** The text with the steps of included files in their places; null where nothing is included, or cannot stand there. */
export function withIncludesInline(draft: Draft, { folder }: Pick<Place, "folder">): string | null {
  const text = inlined(draft, folder, 0);
  return text === draft.text ? null : text;
}

function inlined(draft: Draft, folder: string, depth: number): string {
  let { text } = draft;
  // From the last to the first, so that those before stay where they are.
  for (const step of [...draft.steps].reverse()) {
    const path = includedBy(step);
    const line = lineOf(draft, step);
    if (path === null || line === null || depth >= DEEPEST) continue;
    const file = resolve(folder, path);
    const read = readTextFile(file);
    if (!read.ok) continue;
    const part = partOf(read.text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
    const within = new Draft(inlined(part, dirname(file), depth + 1));
    if (within.steps.length === 0) continue;
    const steps = listed(
      within.steps.map((inner) => bodyAt(within, inner, line.column)),
      line.column,
    );
    text = text.slice(0, line.start) + steps + text.slice(line.end);
  }
  return text;
}

/** An included file as the draft of a scenario: a list stands under the key `steps`. */
function partOf(text: string): Draft {
  const draft = new Draft(text);
  return draft.headers.length > 0 ? draft : new Draft(`steps:\n${text}`);
}

function includedBy({ node }: Part): string | null {
  if (!isMap(node)) return null;
  const path = node.get("include", true);
  return isScalar(path) ? String(path.value) : null;
}
