import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inProject } from "./project.js";

const { version } = JSON.parse(readFileSync(inProject("package.json"), "utf8"));
const SOURCES = inProject("src", "inspector");
const local = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What of Node's modules the engine uses in a browser, and what stands in for it there. */
const STAND_INS = {
  "node:buffer": local("node_modules/buffer/index.js"),
  "node:crypto": local("src/inspector/node-crypto.ts"),
  "node:zlib": local("src/inspector/node-zlib.ts"),
};

/** What a browser has not got is left out: nothing that the page calls needs it. */
const forBrowsers = {
  name: "for-browsers",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) =>
      STAND_INS[path] === undefined
        ? { path, namespace: "absent", sideEffects: false }
        : { path: STAND_INS[path] },
    );
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
    // No source file does anything when it is loaded, but for the one that begins.
    build.onResolve({ filter: /^\.\.?\/.*\.tsx?$/ }, async ({ path, pluginData, ...where }) => {
      if (pluginData === "resolved") return undefined;
      const found = await build.resolve(path, { ...where, pluginData: "resolved" });
      return { ...found, sideEffects: false };
    });
  },
};

/**
 * The inspector as one HTML file that loads nothing: script, style and, where a report is put in, that. What it may run is
 * said by hashes, so that no text of a report can become a script. Answers it with the sources that are in it.
 */
export async function bundleInspector() {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: inProject(),
    entryPoints: { inspector: "src/inspector/main.tsx" },
    outdir: "dist",
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
    define: { CLOBSIM_VERSION: JSON.stringify(version) },
    plugins: [forBrowsers],
  });
  const textOf = (extension) => outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? "";
  const [script, style] = [textOf(".js"), textOf(".css")];
  const page = readFileSync(`${SOURCES}/page.html`, "utf8");
  const html = page
    .replace("POLICY", () => policyOf(script, style))
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script);
  const sources = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );
  return { html, sources, metafile };
}

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** `connect-src 'self'` is the exchange that served the page. */
const policyOf = (script, style) =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
