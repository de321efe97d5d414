import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "./support/folder.ts";

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = new URL("../package-lock.json", import.meta.url);
const { packages } = JSON.parse(readFileSync(file, "utf8")) as { packages: Readonly<Record<string, Entry>> };

/** Yields the paths at which Node looks for a package, nearest first. */
function* placesOf(name: string, from: string): Generator<string> {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    yield place === "" ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (place === "") return;
  }
}

it("package-lock.json has the dependencies of every package on every platform, which npm ci requires", () => {
  const missing = Object.entries(packages).flatMap(([place, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter((name) => ![...placesOf(name, place)].some((candidate) => candidate in packages))
      .map((name) => `${name}, for ${place}`),
  );
  expect(missing).toEqual([]);
});

it("setup runs before any package is installed", async () => {
  const clone = temporaryFolder();
  for (const name of ["bin", "package.json"])
    cpSync(new URL(`../${name}`, import.meta.url), join(clone, name), { recursive: true });
  const running = promisify(execFile)(process.execPath, [join(clone, "bin", "setup.js"), "nothing"]);
  await expect(running).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("expected node bin/setup.js start"),
  });
});
