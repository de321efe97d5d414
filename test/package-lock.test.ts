import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = new URL("../package-lock.json", import.meta.url);
const { packages } = JSON.parse(readFileSync(file, "utf8")) as { packages: Readonly<Record<string, Entry>> };

/** Where Node looks for a package from a place on: the nearest folder first. */
function* placesOf(name: string, from: string): Generator<string> {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    yield place === "" ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (place === "") return;
  }
}

it("has what every package asks for, on every platform: else npm ci refuses to install anything", () => {
  const missing = Object.entries(packages).flatMap(([place, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter((name) => ![...placesOf(name, place)].some((candidate) => candidate in packages))
      .map((name) => `${name}, for ${place}`),
  );
  expect(missing).toEqual([]);
});
