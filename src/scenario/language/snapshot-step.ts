import { entriesBy } from "./fields.ts";
import { isName, NAME_RULE } from "./names.ts";
import type { SnapshotStep } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { nameAt } from "./values.ts";

/** Reads `snapshot: before`. */
export function readSnapshot(step: StepSource): SnapshotStep | null {
  const { file, head, beside, declared } = step;
  entriesBy(file.page, beside, []);
  const name = snapshotName(step);
  if (name === null) return null;
  const { rounds, snapshots } = declared;
  if (snapshots.has(name) && !rounds.mayGiveAgain(`snapshot ${name}`)) {
    return file.page.wrong(head.value.start, `a snapshot before is named ${name} already`);
  }
  snapshots.add(name);
  rounds.give(`snapshot ${name}`);
  return { ...baseOf(step), kind: "snapshot", name };
}

/** Reads `restore: before`. */
export function readRestore(step: StepSource): SnapshotStep | null {
  const { file, head, beside, declared } = step;
  entriesBy(file.page, beside, []);
  const name = snapshotName(step);
  if (name === null) return null;
  if (declared.snapshots.has(name)) return { ...baseOf(step), kind: "restore", name };
  return file.page.unknown(head.value.start, "snapshot", name, declared.snapshots);
}

function snapshotName({ file, head, declared }: StepSource): string | null {
  const isOne = (text: string): boolean => isName(declared.rounds.named(text));
  const text = nameAt(file.page, head.value, isOne, NAME_RULE);
  return text === null ? null : declared.rounds.named(text);
}
