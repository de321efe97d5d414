import { cpSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { VERSION } from "../../../src/version.ts";
import { Shell } from "../shell.ts";
import { plantedFuzzer, startFuzz } from "./planted.ts";

const fuzzer = await plantedFuzzer();
const codesOf = (...lines: readonly string[]) =>
  Promise.all(lines.map(async (line) => (await startFuzz(fuzzer, line).ended).code));
const shards = [1, 2, 3];
const lines = shards.map((index) => `--seeds 0..200 --shard ${index}/3 --out own/${index}`);
expect(await codesOf(...lines, "--seeds 0..200 --out unsharded")).toEqual([1, 1, 1, 1]);
for (const index of shards)
  cpSync(fuzzer.path("own", `${index}`), fuzzer.path("shared"), { recursive: true });
await codesOf("--seeds 300..310 --commands 20 --out other", "--seeds 0..5 --shard 2/2 --out clean");
fuzzer.write("empty/notes.txt", "no results\n");
const shell = new Shell(
  { path: fuzzer.folder, read: (name) => fuzzer.read(name) },
  {
    write: (name = "", text = "") => void fuzzer.write(name, `${text}\n`),
    /** Writes the results of all seeds with a change, and shows them. */
    edit: async (from = "", to = "") => {
      const text = fuzzer.read("unsharded/fuzz-0-200.json");
      expect(text).toMatch(new RegExp(from));
      fuzzer.write("edited.json", text.replace(new RegExp(from), to));
      return (await shell.run("fuzz show edited.json")).join("\n");
    },
    /** Prints results with only the names of files. */
    "without-folders": (name = "") =>
      fuzzer
        .read(name)
        .replace(/"(scenario|report)": "(.*)"/g, (_, key, path) => `"${key}": "${basename(path)}"`),
  },
);
shell.names.set("VERSION", VERSION);

it("results of seeds are merged and shown as their page shows", async () => {
  await shell.expectPage(join(import.meta.dirname, "results.txt"));
});
