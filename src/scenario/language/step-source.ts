import { type Readers, type Values, valuesBy } from "./fields.ts";
import { countUpTo, type Entry, type Node } from "./page.ts";
import type { StepBase } from "./parts.ts";
import type { Source } from "./scenario-files.ts";

const MAX_TEXT_LENGTH = 200;
/** Of a value that goes over many lines, no more is looked at for the text of its step. */
const MAX_LOOKED_AT = 4_000;

export interface StepSource extends Source {
  readonly number: number;
  /** The key that says what the step does, with its value. */
  readonly head: Entry;
  readonly beside: readonly Entry[];
  readonly readRacing: (nodes: readonly Node[]) => readonly StepBase[];
}

/** How the value of each key beside a step is read. */
export type BesideReaders = Readonly<Record<string, (node: Node, source: StepSource) => unknown>>;
export type Beside<Of extends BesideReaders> = Values<{
  readonly [Key in keyof Of]: () => ReturnType<Of[Key]>;
}>;

interface Need<Content> {
  of(step: Content): string | null;
}

/** All that the language says of one kind of step; `Content` is what such a step says. */
export interface StepInfo<Content extends object = object, Of extends BesideReaders = BesideReaders> {
  /** The key that says so in a file, where that is not its kind. */
  readonly key?: string;
  /** What coverage calls it, where that is not its key. */
  readonly name?: string;
  /** How it is written, in backquotes, and what it does. */
  readonly form: string;
  readonly does: string;
  readonly isOverHttp?: true;
  readonly refusals?: readonly string[];
  readonly beside?: Of;
  readonly read: (source: StepSource, beside: Beside<Of>) => Content;
  /** What of it only the control plane can do; without this all of it. */
  control?: null | Need<Content>["of"];
}

/** What a step says: what stands beside it, null where it does not, and what is read behind that. */
type Said<Content, Of extends BesideReaders> = string extends keyof Of
  ? Content
  : Content & Omit<{ readonly [Key in keyof Of]: ReturnType<Of[Key]> | null }, keyof Content>;

/** An entry of the table of steps, its `read` checked against what may stand beside it. */
export const step = <Content extends object, Of extends BesideReaders>(
  info: StepInfo<Content, Of>,
): StepInfo<Said<Content, Of>> => info as unknown as StepInfo<Said<Content, Of>>;

/** Reads a step; a key beside it that means nothing there is a problem. */
export function readStep(
  kind: string,
  info: StepInfo,
  source: StepSource,
): StepBase & { readonly kind: string } {
  const readers: Readers = Object.fromEntries(
    Object.entries(info.beside ?? {}).map(([key, read]) => [key, (node: Node) => read(node, source)]),
  );
  const { number, head, beside, declared } = source;
  const values = valuesBy(beside, readers);
  const said = Object.fromEntries(Object.keys(readers).map((key) => [key, values[key] ?? null]));
  const content = { ...said, ...info.read(source, values) };
  const text = `${stepText(head)}${declared.rounds.text}`;
  return { number, text, place: head.key.place, kind, ...content };
}

/** The source on one line, without comments: `alice: BUY 10 YES @ 0.5`. */
function stepText({ key, value }: Entry): string {
  const said = value.kind === "text" ? value.text : uncommented(value);
  const text = `${key.text}: ${said.slice(0, MAX_LOOKED_AT)}`.replace(/\s+/g, " ").trim();
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, MAX_TEXT_LENGTH - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

function uncommented({ page: { comments, text }, at, end }: Node): string {
  const last = Math.min(end, at + MAX_LOOKED_AT);
  let said = "";
  let from = at;
  for (let index = countUpTo(comments, at); (comments[index] ?? last) < last; index += 2) {
    said += text.slice(from, comments[index]);
    from = comments[index + 1] ?? last;
  }
  return said + text.slice(from, last);
}
