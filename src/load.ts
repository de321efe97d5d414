import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { cacheFolder } from "./cache-folder.ts";

/** The entries of the bundle by name, as functions that load them. */
type Entries = Readonly<Record<string, () => unknown>>;

/** Modules that the bundle requires but cannot contain: test runners, which load the package themselves. */
export const hosts: Record<string, unknown> = {};

const loaded: Entries[] = [];

/** Time after which V8 has compiled most functions of a start. */
const COMPILED_MS = 1_000;

/**
 * Loads an entry of the bundle with V8's code cache for the same use from the user's cache folder. If V8 has no cache or
 * rejects it, a new one is written after a second or when the process ends.
 */
export function load(entry: string, use = entry): unknown {
  loaded[0] ??= loadBundle(use);
  const answer = loaded[0][entry];
  if (answer === undefined) throw new RangeError(`the bundle has no entry ${entry}`);
  return answer();
}

/** Loads the program, which compiles other functions for each command. */
export function loadProgram(): void {
  const [word = ""] = process.argv.slice(2);
  load("cli", /^[a-z]+$/.test(word) ? word : "cli");
}

function loadBundle(use: string): Entries {
  const url = new URL("./clobsim.cjs", import.meta.url);
  const path = fileURLToPath(url);
  const bytes = readFileSync(path);
  const checksum = crc32(bytes);
  const cache = cacheFolder();
  const name = `${use}-${cacheName(path, bytes.length, checksum)}`;
  const cachedData = cache?.read("code", name) ?? undefined;
  // The bundle is ASCII, which V8 stores with one byte per character and without decoding.
  const script = new Script(bytes.toString("latin1"), { filename: path, cachedData });
  if (cache !== null && script.cachedDataRejected !== false) {
    const write = (): void => {
      process.off("exit", write);
      cache.write("code", name, script.createCachedData());
    };
    setTimeout(write, COMPILED_MS).unref();
    process.on("exit", write);
  }
  const module = { exports: {} };
  const requireOfNode = createRequire(path);
  const require = (id: string): unknown => hosts[id] ?? requireOfNode(id);
  // The query identifies the program, because cached openings are valid for one program only.
  url.search = checksum.toString(16);
  script.runInThisContext()(module, require, url.href);
  return module.exports as Entries;
}

/**
 * Returns a name for a code cache: a hash of the bundle, its path, the version of Node and its flags. Cached code has the
 * path, which stack traces show.
 */
function cacheName(path: string, length: number, checksum: number): string {
  const { version, arch, execArgv, env } = process;
  const circumstances = JSON.stringify([path, version, arch, execArgv, env.NODE_OPTIONS, length]);
  return crc32(circumstances, checksum).toString(16);
}
