import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { sourcesOf } from "./bundle.js";
import { inProject } from "./project.js";

const SOURCES = inProject("src", "inspector");
const local = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Replacements for Node's modules that the engine uses in a browser. */
const REPLACEMENTS = {
  "node:buffer": local("node_modules/buffer/index.js"),
  "node:crypto": local("src/inspector/node-stand-ins.ts"),
  "node:zlib": local("src/inspector/node-stand-ins.ts"),
};

/** Replaces Node's modules; those without a replacement are empty, because the page does not call them. */
const forBrowsers = {
  name: "for-browsers",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) =>
      REPLACEMENTS[path] === undefined
        ? { path, namespace: "absent", sideEffects: false }
        : { path: REPLACEMENTS[path] },
    );
    build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
    // No source file except the entry point has side effects when it is loaded.
    build.onResolve({ filter: /^\.\.?\/.*\.tsx?$/ }, async ({ path, pluginData, ...where }) => {
      if (pluginData === "resolved") return undefined;
      const found = await build.resolve(path, { ...where, pluginData: "resolved" });
      return { ...found, sideEffects: false };
    });
  },
};

/** Modules whose records are made, read or written for every command. */
const COMPILING = [
  "core/account.ts",
  "core/chain/settlement.ts",
  "core/chain/transaction.ts",
  "core/order.ts",
  "engine/journal-line.ts",
];
const COMPILED = "compiled-functions";

/**
 * Replaces `Function`, which the page's policy forbids, by one that returns the functions that these modules compile from their
 * declarations. It throws for all others, as a browser does, and loops take their place.
 */
async function compiledFunctions(esbuild) {
  const contents = COMPILING.map((path) => `export * from "./src/${path}";`).join("\n");
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: inProject() },
    bundle: true,
    platform: "node",
    format: "cjs",
    write: false,
  });
  const found = {};
  const recording = new Proxy(Function, {
    construct(_, words) {
      found[words.join()] = `function (${words.slice(0, -1)}) { ${words.at(-1)} }`;
      return new Function(...words);
    },
  });
  const module = { exports: {} };
  new Function("module", "require", "Function", outputFiles[0].text)(
    module,
    createRequire(SOURCES),
    recording,
  );
  for (const { make } of Object.values(module.exports)) {
    try {
      make?.({});
    } catch {
      // All methods of a record are compiled when the first is called, also if it then needs a field.
    }
  }
  const functions = Object.entries(found).map(([words, made]) => `${JSON.stringify(words)}: ${made}`);
  return {
    name: COMPILED,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${COMPILED}$`) }, () => ({
        path: COMPILED,
        namespace: COMPILED,
      }));
      build.onLoad({ filter: /.*/, namespace: COMPILED }, () => ({
        contents: `const functions = { ${functions.join(",\n")} };
          export function CompiledFunction(...words) {
            const found = functions[words.join()];
            if (found === undefined) throw new EvalError("not compiled when the page was built");
            return found;
          }`,
      }));
    },
  };
}

/**
 * Builds the inspector as one HTML file with script, style and a slot for a report. Its security policy allows scripts by
 * hash, so that no text of a report can become a script. Returns it with its sources.
 */
export async function bundleInspector() {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: inProject(),
    entryPoints: ["src/inspector/main.tsx", "src/inspector/style.css"],
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
    define: { Function: "CompiledFunction" },
    inject: [COMPILED],
    plugins: [forBrowsers, await compiledFunctions(esbuild)],
  });
  const textOf = (extension) => outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? "";
  const [script, style] = [textOf(".js"), textOf(".css")];
  const page = readFileSync(`${SOURCES}/page.html`, "utf8");
  const html = page
    .replace("POLICY", () => policyOf(script, style))
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script);
  return { html, sources: sourcesOf(metafile) };
}

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** `connect-src 'self'` allows the exchange that served the page. */
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
