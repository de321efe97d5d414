import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Plugin } from "esbuild";

/** Scripts of the build. */
const SETUP = new URL("../../bin/setup/", import.meta.url);
type Bundle = (entryPoints: EntryPoints, options: BuildOptions & { plugins: Plugin[] }) => Promise<unknown>;

type EntryPoints = Readonly<Record<string, string>>;

/** Builds the program, unless it is built from the current sources. Returns the path of the script that Node runs. */
export async function buildProgram(): Promise<string> {
  type Build = (args: readonly string[]) => Promise<number>;
  const { build } = (await import(new URL("build.js", SETUP).href)) as { readonly build: Build };
  if ((await build([])) !== 0) throw new Error("the program could not be built");
  return fileURLToPath(new URL("../clobsim.js", SETUP));
}

/** Compiles the project in a folder. Returns the compiler's output. */
export async function compileProject(folder: string): Promise<string> {
  type RunCompiler = (args: readonly string[]) => Promise<{ readonly output: string }>;
  const project = (await import(new URL("project.js", SETUP).href)) as { readonly runCompiler: RunCompiler };
  return (await project.runCompiler(["-p", folder])).output;
}

/** Bundles the program and its worker threads into `outdir`, as `bundleInto`. */
export async function bundleProgramInto(
  outdir: string,
  replaced: ReadonlyMap<string, string>,
): Promise<void> {
  const { PROGRAM } = (await import(new URL("bundle.js", SETUP).href)) as { PROGRAM: EntryPoints };
  await bundleInto(outdir, PROGRAM, replaced);
}

/**
 * Bundles entry points, by name, from the current sources into `outdir`, like the build but without changing `dist`.
 * `replaced` has other texts for some sources, by path. With external packages it takes a third of the time, but the script
 * starts more slowly.
 */
export async function bundleInto(
  outdir: string,
  entryPoints: EntryPoints,
  replaced: ReadonlyMap<string, string> = new Map(),
  packages: "bundle" | "external" = "bundle",
): Promise<void> {
  const { bundle } = (await import(new URL("bundle.js", SETUP).href)) as { readonly bundle: Bundle };
  // Small output and positions take a third of the time.
  const plain = { sourcemap: false, minifyWhitespace: false, minifySyntax: false };
  await bundle(entryPoints, { outdir, packages, plugins: [replacing(replaced)], ...plain });
  writeFileSync(join(outdir, "package.json"), '{ "type": "module" }');
  if (packages === "external") symlinkSync(resolve("node_modules"), join(outdir, "node_modules"));
}

/** Returns a source with a defect: one text replaced. @throws Error unless it has the text once */
export function planted(file: string, right: string, wrong: string): ReadonlyMap<string, string> {
  const [before = "", after, ...more] = readFileSync(file, "utf8").split(right);
  if (after === undefined || more.length > 0) throw new Error(`${file} does not have once: ${right}`);
  return new Map([[file, before + wrong + after]]);
}

function replacing(texts: ReadonlyMap<string, string>): Plugin {
  return {
    name: "replaced-sources",
    setup(build) {
      for (const [path, contents] of texts) {
        const filter = new RegExp(`/${path.replaceAll(".", "\\.")}$`);
        build.onLoad({ filter }, () => ({ contents, loader: "ts" }));
      }
    },
  };
}
