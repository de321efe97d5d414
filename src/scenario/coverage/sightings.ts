import type { GroupName, Items } from "./items.ts";

/** What has been seen, and how often. */
export class Sightings {
  readonly #times = new Map<GroupName, Map<string, number>>();

  note<Name extends GroupName>(group: Name, item: Items[Name]): void {
    let times = this.#times.get(group);
    if (times === undefined) {
      times = new Map();
      this.#times.set(group, times);
    }
    times.set(item, (times.get(item) ?? 0) + 1);
  }

  /** How often an item has been seen. */
  times(group: GroupName, item: string): number {
    return this.#times.get(group)?.get(item) ?? 0;
  }
}
