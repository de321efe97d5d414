import { readFileSync } from "node:fs";
import { planted } from "../../support/bundled.ts";

export const DEFECTS = "test/fuzz/defects";

export interface PlantedDefect {
  readonly name: string;
  /** A seed of the fuzzer that finds it; null if no seed does. */
  readonly seed: string | null;
  /** Paths of the scenarios and tests that find it. */
  readonly scenarios: readonly string[];
  readonly tests: readonly string[];
}

/** The table of the README. */
export const PLANTED_DEFECTS: readonly PlantedDefect[] = [
  ...readFileSync(`${DEFECTS}/README.md`, "utf8").matchAll(/^\| `([^`]+)` +\| (\d+|-) +\| (.*) \|$/gm),
].map(([, name = "", seed = "", cells = ""]) => {
  const paths = [...cells.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  const isScenario = (path: string): boolean => path.endsWith(".yaml");
  return {
    name,
    seed: seed === "-" ? null : seed,
    scenarios: paths.filter(isScenario),
    tests: paths.filter((path) => !isScenario(path)),
  };
});

/** Returns the source with the defect, by path. @throws Error if the patch does not fit the source */
export function plantedBy(name: string): ReadonlyMap<string, string> {
  const patch = readFileSync(`${DEFECTS}/${name}.patch`, "utf8");
  const [, file = "", hunk = ""] = /^\+\+\+ b\/(.*)\n@@ .*\n([\s\S]*)$/m.exec(patch) ?? [];
  const without = (sign: string): string =>
    hunk.replace(new RegExp(`^[${sign}].*\n`, "gm"), "").replace(/^./gm, "");
  return planted(file, without("+"), without("-"));
}
