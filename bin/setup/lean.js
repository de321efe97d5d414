import { fileURLToPath } from "node:url";

/** Stands in for packages in the bundle: their names, and the module that takes their place. */
const STAND_INS = [
  // Of express the router is used, and nothing else: the rest need not be loaded before the first answer.
  [/^express$/, "module.exports = { Router: require('router') };"],
  // yargs lays out its help with it, and it prepares for every script and emoji when it is loaded; ours is ASCII.
  [/^string-width$/, "export default (text) => text.replace(/\\u001b\\[[0-9;]*m/g, '').length;"],
  // Words of phrases that stand for a wallet, in ten languages: viem exports them beside accounts of private keys.
  [/^@scure\/bip39\/wordlists\//, "export const wordlist = [];"],
];

/**
 * Leaves out of the bundle what packages bring along and this program never uses, so that the server answers a third
 * sooner after its start; what it answers is the same.
 */
export const leanOptions = {
  minifyWhitespace: true,
  minifySyntax: true,
  // Names stay whole and lines short: Node shows the line that threw.
  lineLimit: 160,
  // The same yaml as ES modules, of which what is not used can be left out: its build for Node is one CommonJS whole.
  alias: { yaml: fileURLToPath(new URL("../../node_modules/yaml/browser/dist/index.js", import.meta.url)) },
  plugins: [
    {
      name: "stand-ins",
      setup(build) {
        const resolveDir = fileURLToPath(new URL("../../node_modules/express", import.meta.url));
        for (const [filter, contents] of STAND_INS) {
          build.onResolve({ filter }, ({ path }) => ({ path, namespace: "stand-in" }));
          build.onLoad({ filter, namespace: "stand-in" }, () => ({ contents, resolveDir }));
        }
      },
    },
  ],
};
