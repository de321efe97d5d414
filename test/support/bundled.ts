import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The build's own bundler. */
const BUNDLER = new URL("../../bin/setup/bundle.js", import.meta.url).href;
type Bundle = (
  entryPoints: Readonly<Record<string, string>>,
  options: { outdir: string },
) => Promise<unknown>;

/**
 * Bundles entry points, by their names in the folder that is named `outdir`, from the sources that stand now, as the build
 * does it: a build of the user's is left alone.
 */
export async function bundleInto(
  outdir: string,
  entryPoints: Readonly<Record<string, string>>,
): Promise<void> {
  const { bundle } = (await import(BUNDLER)) as { readonly bundle: Bundle };
  await bundle(entryPoints, { outdir });
  writeFileSync(join(outdir, "package.json"), '{ "type": "module" }');
}
