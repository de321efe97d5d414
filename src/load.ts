import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { cacheFolder } from "./cache-folder.ts";

/** The entries of the bundle, by name: what loads and answers each. */
type Entries = Readonly<Record<string, () => unknown>>;

/** What the bundle asks for and cannot hold: test runners, which load the package and not the other way round. */
export const hosts: Record<string, unknown> = {};

const loaded: Entries[] = [];

/** By when what a process needs at its start has been compiled, most of it. */
const SETTLED_MS = 1_000;

/**
 * Loads an entry of the bundle. What V8 has compiled for the same use before is taken from the user's cache, so that nothing is
 * compiled twice; where there is none, or one that V8 does not take, it is written a second later, or when the process ends.
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
  const cache = cacheFolder();
  const name = `${use}-${nameOf(bytes)}`;
  const cachedData = cache?.read("code", name) ?? undefined;
  // The bundle is ASCII: V8 keeps it at one byte a character, and nothing is decoded.
  const script = new Script(bytes.toString("latin1"), { filename: path, cachedData });
  if (cache !== null && script.cachedDataRejected !== false) {
    const keep = once(() => cache.write("code", name, script.createCachedData()));
    setTimeout(keep, SETTLED_MS).unref();
    process.once("exit", keep);
  }
  const module = { exports: {} };
  const requireOfNode = createRequire(path);
  const require = (id: string): unknown => hosts[id] ?? requireOfNode(id);
  // Names the program, too: openings are kept for this one alone.
  url.search = hex8(crc32(bytes));
  script.runInThisContext()(module, require, url.href);
  return module.exports as Entries;
}

/** Names what V8 compiles: the bundle's very bytes, by which version, with which flags. */
function nameOf(bytes: Buffer): string {
  const { version, arch, execArgv, env } = process;
  const circumstances = JSON.stringify([version, arch, execArgv, env.NODE_OPTIONS, bytes.length]);
  return hex8(crc32(circumstances, crc32(bytes)));
}

const hex8 = (value: number): string => value.toString(16).padStart(8, "0");

function once(run: () => void): () => void {
  let isDue = true;
  return () => {
    if (isDue) run();
    isDue = false;
  };
}
