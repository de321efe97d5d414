import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { LIBRARY, writeAtomically } from "./bundle.js";
import { writeCommonJsTypes } from "./entries.js";
import { inProject, runCompiler } from "./project.js";

/** Output folder of the compiler. */
const EMITTED = inProject("node_modules", ".cache", "clobsim-types");

/**
 * Writes the types of the library: one file for each entry, with only the exported types, and one for their common types, so
 * that a class imported from several entries is the same. Returns the compiler's output on failure, else null.
 */
export async function rollUpTypes(outdir) {
  rmSync(EMITTED, { recursive: true, force: true });
  // Not checked here, because `npm test` and `npm run check` do that.
  const project = ["-p", inProject("src", "tsconfig.build.json"), "--outDir", EMITTED, "--noCheck"];
  const [{ code, output }, published, { rolldown }, { dts }] = await Promise.all([
    runCompiler(project),
    loadPublishedTypes(),
    import("rolldown"),
    import("rolldown-plugin-dts"),
  ]);
  if (code !== 0) return output;
  for (const [path, text] of Object.entries(published)) writeAtomically(join(EMITTED, path), text);
  const names = Object.keys(LIBRARY);
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(EMITTED, `${name}.d.ts`)])),
    external: (id) => !id.startsWith(".") && !id.startsWith(EMITTED),
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
    experimental: { attachDebugInfo: "none" },
  });
  const types = await bundle.generate({
    chunkFileNames: "[name].d.ts",
    codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] },
    minifyInternalExports: false,
  });
  for (const { fileName, code } of types.output) {
    // `await using` needs it in projects with an older `lib`.
    const library = code.includes("Symbol.asyncDispose") ? '/// <reference lib="esnext.disposable" />\n' : "";
    writeAtomically(join(outdir, fileName), library + code);
  }
  writeCommonJsTypes(outdir);
  return null;
}

/** Returns declarations for types that are inferred from schemas, because users of the package do not have zod. */
async function loadPublishedTypes() {
  const outfile = join(EMITTED, "published-types.mjs");
  const entryPoints = [inProject("bin", "setup", "published-types.ts")];
  const { build } = await import("esbuild");
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  const { publishedTypes } = await import(pathToFileURL(outfile).href);
  return publishedTypes();
}
