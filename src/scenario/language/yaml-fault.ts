import { withMisplacedKeys } from "./misplaced-key.ts";
import type { SourceText } from "./source-text.ts";

/** What makes a text no YAML, or more YAML than the language takes. */
export interface YamlFault {
  readonly at: number;
  readonly message: string;
  readonly hint: string | null;
}

/** What to do about the faults that people make most, by the parser's codes. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["TAB_AS_INDENT", "indent with spaces"],
  ["BAD_INDENT", "line it up with what belongs together"],
  ["BLOCK_AS_IMPLICIT_KEY", "quote a text that contains a colon and a space"],
  ["MULTILINE_IMPLICIT_KEY", "write `key: value`, with a colon and a space"],
  ["BAD_SCALAR_START", "quote it"],
  ["BAD_DQ_ESCAPE", "write a backslash twice, or use single quotes"],
]);

const KEY_WITHOUT_VALUE = "Implicit map keys need to be followed by map values";

/** A fault in the parser's own words. */
export function yamlFault(at: number, code: string, message: string): YamlFault {
  const words = message.charAt(0).toLowerCase() + message.slice(1);
  return { at, message: `not YAML: ${words}`, hint: hintOf(code, message) };
}

function hintOf(code: string, message: string): string | null {
  return HINTS.get(message === KEY_WITHOUT_VALUE ? "MULTILINE_IMPLICIT_KEY" : code) ?? null;
}

/** The first fault of each line, in order: what follows on the line is mostly its consequence. */
export function orderedFaults(source: SourceText, faults: readonly YamlFault[]): YamlFault[] {
  let line = 0;
  const inOrder = [...faults].sort((a, b) => a.at - b.at);
  return withMisplacedKeys(source, inOrder).filter(({ at }) => {
    const before = line;
    line = source.placeOf(at).line;
    return line !== before;
  });
}
