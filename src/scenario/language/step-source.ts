import { shortened } from "../../core/format.ts";
import { countAtMost } from "../../core/table.ts";
import { type Readers, type Values, valuesBy } from "./fields.ts";
import type { MappingEntry, Node, Place } from "./page.ts";
import type { Source } from "./scenario-files.ts";

/** At most 200 with the dots of a shortened text. */
const MAX_TEXT_LENGTH = 197;
/** Characters of a long value that are read for the text of its step. */
const MAX_SCANNED = 4_000;

/** Fields of every step: its number in the scenario, from 1; its source text on one line; its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

export interface StepSource extends Source {
  readonly number: number;
  /** The entry whose key is the kind of step. */
  readonly head: MappingEntry;
  readonly beside: readonly MappingEntry[];
  readonly readRacing: (nodes: readonly Node[]) => readonly StepBase[];
}

/** Readers of the keys that may accompany a step. */
type BesideReaders = Readonly<Record<string, (node: Node, source: StepSource) => unknown>>;
type Beside<Of extends BesideReaders> = Values<{
  readonly [Key in keyof Of]: () => ReturnType<Of[Key]>;
}>;

/** Declaration of one kind of step; `Content` is the fields of such a step. */
export interface StepInfo<Content extends object = object, Of extends BesideReaders = BesideReaders> {
  /** Its key in a file, if different from its kind. */
  readonly key?: string;
  /** Its name in coverage, if different from its key. */
  readonly name?: string;
  readonly isOverHttp?: true;
  readonly refusals?: readonly string[];
  readonly beside?: Of;
  readonly read: (source: StepSource, beside: Beside<Of>) => Content;
  /**
   * Returns what of the step needs the control plane, or null; null if never. A text, which names it, if always;
   * undefined if the step itself does.
   */
  control?: null | string | { of(step: Content): string | null }["of"];
}

/** Fields of a step: those of its accompanying keys, null if missing, and those that `read` returns. */
type StepFields<Content, Of extends BesideReaders> = string extends keyof Of
  ? Content
  : Content & Omit<{ readonly [Key in keyof Of]: ReturnType<Of[Key]> | null }, keyof Content>;

/** Declares a row of the table of steps; infers the types of its accompanying keys. */
export const step = <Content extends object, Of extends BesideReaders>(
  info: StepInfo<Content, Of>,
): StepInfo<StepFields<Content, Of>> => info as unknown as StepInfo<StepFields<Content, Of>>;

/** Reads a step; an accompanying key that the step does not have is a problem. */
export function readStep(kind: string, info: StepInfo, source: StepSource) {
  const readers: Readers = Object.fromEntries(
    Object.entries(info.beside ?? {}).map(([key, read]) => [key, (node: Node) => read(node, source)]),
  );
  const { number, head, beside, declared } = source;
  const values = valuesBy(beside, readers);
  const given = Object.fromEntries(Object.keys(readers).map((key) => [key, values[key] ?? null]));
  const content = { ...given, ...info.read(source, values) };
  const text = `${stepText(head)}${declared.rounds.text}`;
  return { number, text, place: head.key.place, kind, ...content };
}

/** Returns the source of a step on one line, without comments: `alice: BUY 10 YES @ 0.5`. */
function stepText({ key, value }: MappingEntry): string {
  const source = value.kind === "text" ? value.text : uncommented(value);
  const text = `${key.text}: ${source.slice(0, MAX_SCANNED)}`.replace(/\s+/g, " ").trim();
  return shortened(text, MAX_TEXT_LENGTH);
}

function uncommented({ page: { comments, text }, at, end }: Node): string {
  const last = Math.min(end, at + MAX_SCANNED);
  let kept = "";
  let from = at;
  for (let index = countAtMost(comments, at); (comments[index] ?? last) < last; index += 2) {
    kept += text.slice(from, comments[index]);
    from = comments[index + 1] ?? last;
  }
  return kept + text.slice(from, last);
}
