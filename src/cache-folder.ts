import { Buffer } from "node:buffer";
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { crc32 } from "node:zlib";
import { makeFolder } from "./make-folder.ts";
import { FILE_LIMITS, readRegular } from "./regular-file.ts";

/** Maximum number and total size of the files of a kind. The latest file is always kept. */
const MAX_FILES = 16;
const MAX_BYTES = 128 * 1024 * 1024;
const CHECKSUM_BYTES = 4;
/** Names that end with a hash, also of drafts. Others are files of the user, who may have named any folder. */
const OWN_NAME = /^[a-z-]*-[0-9a-f]+(?:\.\d+\.\d+)?$/;

/** Variable with another folder or `off`. It is not a setting, because it is read before the settings. */
export const CACHE_VARIABLE = "CLOBSIM_CACHE";

/**
 * Returns the user's cache folder: `CLOBSIM_CACHE`, else `clobsim` in the system's cache folder; null if `CLOBSIM_CACHE` is
 * `off`, or if the environment names no folder of the user.
 */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): CacheFolder | null {
  const { [CACHE_VARIABLE]: named = "", XDG_CACHE_HOME: xdg = "", HOME: home = "" } = environment;
  if (named === "off") return null;
  if (named !== "") return new CacheFolder(named);
  const local = isAbsolute(xdg) ? xdg : join(home, ".cache");
  const own = process.platform === "win32" ? (environment.LOCALAPPDATA ?? "") : local;
  return isAbsolute(own) ? new CacheFolder(join(own, "clobsim")) : null;
}

/** Cached files, each complete or absent. A missing or damaged file is created again. */
export class CacheFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads a file; null if it is missing or damaged. */
  read(kind: string, name: string): Buffer | null {
    try {
      const file = readRegular(join(this.#path, `${kind}-${name}`), FILE_LIMITS.world);
      const contents = file.subarray(CHECKSUM_BYTES);
      return file.readUInt32LE(0) === crc32(contents) ? contents : null;
    } catch {
      return null;
    }
  }

  /** Writes a file and removes the oldest of its kind above the maximum. Errors are ignored. */
  write(kind: string, name: string, contents: Buffer): void {
    const path = join(this.#path, `${kind}-${name}`);
    const draft = `${path}.${process.pid}.${Date.now()}`;
    try {
      makeFolder(this.#path, 0o700);
      const checksum = Buffer.alloc(CHECKSUM_BYTES);
      checksum.writeUInt32LE(crc32(contents));
      try {
        writeFileSync(draft, Buffer.concat([checksum, contents]), { mode: 0o600, flag: "wx" });
        renameSync(draft, path);
      } finally {
        rmSync(draft, { force: true });
      }
      this.#removeOldest(kind);
    } catch {
      // The disk is full or read-only; the next start tries again.
    }
  }

  #removeOldest(kind: string): void {
    const files = readdirSync(this.#path)
      .filter((name) => name.startsWith(`${kind}-`) && OWN_NAME.test(name))
      .map((name) => ({ path: join(this.#path, name), ...statSync(join(this.#path, name)) }))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    for (const [index, { path, size }] of files.entries()) {
      bytes += size;
      if (index >= MAX_FILES || (index > 0 && bytes > MAX_BYTES)) rmSync(path, { force: true });
    }
  }
}
