import { Buffer } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";

/** How many files of a kind are kept, the latest, and how many bytes of them; the very latest always is. */
const KEPT = 8;
const KEPT_BYTES = 128 * 1024 * 1024;
const CHECK_LENGTH = 4;

/** Names another folder, or `off`. It is no setting: it counts before any is read. */
export const CACHE_VARIABLE = "CLOBSIM_CACHE";

/**
 * The folder of the user in which lies what can be made again and takes time to be made: `CLOBSIM_CACHE`, else `clobsim` in
 * the folder that the system has for such things. Null where `CLOBSIM_CACHE` is `off`.
 */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): CacheFolder | null {
  const { [CACHE_VARIABLE]: named = "", XDG_CACHE_HOME: xdg = "", LOCALAPPDATA: local = "" } = environment;
  if (named === "off") return null;
  if (named !== "") return new CacheFolder(named);
  const own = process.platform === "win32" ? local : xdg;
  return new CacheFolder(join(own === "" ? join(homedir(), ".cache") : own, "clobsim"));
}

/** Files that are whole or not there. None is needed: whoever finds none, or a damaged one, makes it anew. */
export class CacheFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** What was written under a name; null where there is nothing, or not what was written. */
  read(kind: string, name: string): Buffer | null {
    try {
      const file = readFileSync(join(this.#path, `${kind}-${name}`));
      const contents = file.subarray(CHECK_LENGTH);
      return file.readUInt32LE(0) === crc32(contents) ? contents : null;
    } catch {
      return null;
    }
  }

  /** Writes a file, or nothing where that cannot be, and removes the oldest of its kind beyond the latest few. */
  write(kind: string, name: string, contents: Buffer): void {
    const path = join(this.#path, `${kind}-${name}`);
    const draft = `${path}.${process.pid}.${Date.now()}`;
    try {
      mkdirSync(this.#path, { recursive: true, mode: 0o700 });
      const check = Buffer.alloc(CHECK_LENGTH);
      check.writeUInt32LE(crc32(contents));
      writeFileSync(draft, Buffer.concat([check, contents]), { mode: 0o600, flag: "wx" });
      renameSync(draft, path);
      this.#removeOldest(kind);
    } catch {
      // A full or read-only disk: the next start makes it again.
      rmSync(draft, { force: true });
    }
  }

  #removeOldest(kind: string): void {
    const files = readdirSync(this.#path)
      .filter((name) => name.startsWith(`${kind}-`))
      .map((name) => ({ path: join(this.#path, name), ...statSync(join(this.#path, name)) }))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    for (const [index, { path, size }] of files.entries()) {
      bytes += size;
      if (index >= KEPT || (index > 0 && bytes > KEPT_BYTES)) rmSync(path, { force: true });
    }
  }
}
