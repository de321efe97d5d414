import type { SourceText } from "./source-text.ts";
import type { YamlFault } from "./yaml-fault.ts";

/** Deeper than this nobody writes. */
const MOST_INDENT = 200;
const UNALIGNED = /all mapping items must start at the same column|sequence item without - indicator/;
const LIST_AS_KEY = /implicit (?:map )?keys?\b/;

/** Faults in order, with those of keys that are not indented under their steps told so, and without what follows from them. */
export function withMisplacedKeys({ text }: SourceText, faults: readonly YamlFault[]): readonly YamlFault[] {
  let isMisplaced = false;
  const told: YamlFault[] = [];
  for (const fault of faults) {
    const at = UNALIGNED.test(fault.message) ? misplacedKey(text, fault.at) : null;
    if (at !== null) {
      isMisplaced = true;
      told.push({ ...fault, at, hint: "indent it under the step" });
    } else if (!isMisplaced || !isOfRest(text, fault)) told.push(fault);
  }
  return told;
}

/** Whether a fault is that of the items behind a misplaced key, which then are taken for a key themselves. */
const isOfRest = (text: string, { at, message }: YamlFault): boolean =>
  LIST_AS_KEY.test(message) && /^ *-/.test(text.slice(at, at + MOST_INDENT));

/** Where the key of a line stands that belongs to the list item above it, by its indentation; null when it belongs to none. */
function misplacedKey(text: string, at: number): number | null {
  const skipped = /(?: *(?:#.*)?\n)*/y;
  skipped.lastIndex = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  let start = skipped.test(text) ? skipped.lastIndex : at;
  const indent = indentAt(text, start);
  const key = start + indent;
  while (start > 0) {
    start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
    const above = indentAt(text, start);
    const sign = text[start + above];
    if (above > indent || sign === "\n" || sign === "#") continue;
    if (sign === "-" && /\s/.test(text[start + above + 1] ?? "")) return key;
    if (above < indent) return null;
  }
  return null;
}

function indentAt(text: string, start: number): number {
  let end = start;
  while (text[end] === " ") end += 1;
  return end - start;
}
