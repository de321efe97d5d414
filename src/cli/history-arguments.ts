import { VERSION } from "../config.ts";
import { nodeDisk } from "../engine/disk.ts";
import { type JournalPlace, type JournalSource, openPlace, openSource } from "../history/journal-source.ts";
import type { WalkEnd } from "../history/walk.ts";
import { UsageError } from "./exit-code.ts";

/** @throws UsageError when a journal has not got the line that a flag names. */
export function demandLine(
  { name }: JournalSource,
  at: { readonly to?: number },
  end: WalkEnd,
  flag = "--at",
): void {
  if (at.to === undefined || end.last?.n === at.to) return;
  throw new UsageError(`${flag} expects a line of ${name}, which has ${end.scan.number}, found ${at.to}`);
}

/** What the commands take that read a journal. */
export const TAKES_JOURNAL = "DIR|REPORT";

/** Opens the journal that a command line names. @throws UsageError, StoreError */
export const sourceNamed = (command: string, words: readonly string[]): JournalSource =>
  openSource(nodeDisk, nameIn(command, words), VERSION);

/** The same, whatever the journal begins with. @throws UsageError, StoreError */
export const placeNamed = (command: string, words: readonly string[]): JournalPlace =>
  openPlace(nodeDisk, nameIn(command, words));

function nameIn(command: string, words: readonly string[]): string {
  const [name, ...others] = words;
  if (name === undefined || others.length > 0) {
    throw new UsageError(
      `${command} expects one data directory or report, found ${words.length || "none"} (see clobsim ${command} --help)`,
    );
  }
  return name;
}
