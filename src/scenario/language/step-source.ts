import type { Declarations } from "./declarations.ts";
import type { StepBase } from "./plain-steps.ts";
import type { OpenFile, ScenarioFiles } from "./scenario-files.ts";
import { countUpTo } from "./source-text.ts";
import type { Entry, Node } from "./yaml-tree.ts";

const LONGEST_TEXT = 200;
/** Of a value that goes over many lines, no more is looked at for the text of its step. */
const MOST_LOOKED_AT = 4_000;

/** A step as it stands in its file, to be read. */
export interface StepSource {
  readonly file: OpenFile;
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
  readonly number: number;
  /** The key that says what the step does, with its value. */
  readonly head: Entry;
  /** The keys beside it. */
  readonly beside: readonly Entry[];
}

/** What every step has. */
export const baseOf = ({ file, number, head, declared }: StepSource): StepBase => ({
  number,
  text: `${stepText(file, head)}${declared.rounds.text}`,
  place: file.page.placeOf(head.key),
});

/** The source on one line, without comments: `alice: BUY 10 YES @ 0.5`. */
function stepText(file: OpenFile, { key, value }: Entry): string {
  const said = value.kind === "text" ? value.value : uncommented(file, value);
  const text = `${key.value}: ${said.slice(0, MOST_LOOKED_AT)}`.replace(/\s+/g, " ").trim();
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

function uncommented({ page }: OpenFile, { start, end }: Node): string {
  const { comments, source } = page;
  const last = Math.min(end, start + MOST_LOOKED_AT);
  let said = "";
  let from = start;
  for (let index = countUpTo(comments, start); (comments[index] ?? last) < last; index += 2) {
    said += source.text.slice(from, comments[index]);
    from = comments[index + 1] ?? last;
  }
  return said + source.text.slice(from, last);
}
