import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

const entryPoints = [fileURLToPath(new URL("../../src/client/client.ts", import.meta.url))];

it("a client imports only modules of Node, and the one that suggests options", async () => {
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path),
  );
  expect(loaded.filter((path) => !path.startsWith("node:"))).toEqual(["fastest-levenshtein"]);
  expect(loaded).toContain("node:http");
});
