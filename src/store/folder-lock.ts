import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { writeWhole } from "./disk.ts";
import { StoreError } from "./store-error.ts";

export const LOCK_FILE = "lock";

/** Who holds a folder. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** What tells the process from a later one of the same number, where the system says it. */
  readonly born: string | null;
}

/**
 * Takes a folder for this process alone, and answers what gives it back. A lock whose process is gone is taken over: it
 * is renamed first, which only one of several that try can do.
 * @throws StoreError `locked` with the number of the process that has it.
 */
export function lockFolder(disk: Disk, folder: string): () => void {
  const path = join(folder, LOCK_FILE);
  const own: Holder = { pid: process.pid, host: hostname(), born: birthOf(process.pid) };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (create(disk, path, own)) return () => disk.remove(path);
    const holder = read(disk, path);
    if (holder === "gone") continue;
    if (holder !== null && isAlive(holder, own.host)) throw locked(folder, holder, own.host);
    takeAway(disk, path, `${path}.${own.pid}`);
  }
  throw new StoreError(
    "locked",
    `${folder} is being opened by other processes again and again: try once more`,
  );
}

const ATTEMPTS = 20;

function create(disk: Disk, path: string, holder: Holder): boolean {
  try {
    const file = disk.open(path, "new");
    try {
      writeWhole(file, Buffer.from(`${JSON.stringify(holder)}\n`), 0);
    } finally {
      file.close();
    }
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Who holds the lock; null when its file says nothing, which is so after a crash while it was made. */
function read(disk: Disk, path: string): Holder | "gone" | null {
  try {
    const file = disk.open(path, "read");
    try {
      const bytes = Buffer.alloc(file.size);
      file.read(bytes, 0);
      const holder = JSON.parse(bytes.toString("utf8")) as Holder;
      return Number.isSafeInteger(holder.pid) ? holder : null;
    } finally {
      file.close();
    }
  } catch (error) {
    return codeOf(error) === "ENOENT" ? "gone" : null;
  }
}

function takeAway(disk: Disk, path: string, aside: string): void {
  try {
    disk.rename(path, aside);
    disk.remove(aside);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Whether the process still runs. Of another machine nobody here can tell: it may. */
function isAlive({ pid, host, born }: Holder, ownHost: string): boolean {
  if (host !== ownHost) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  const now = birthOf(pid);
  return born === null || now === null || born === now;
}

/** When a process was started, in ticks since the machine was; null where the system has no /proc. */
function birthOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function locked(folder: string, { pid, host }: Holder, ownHost: string): StoreError {
  const whom = host === ownHost ? `process ${pid}` : `process ${pid} on ${host}`;
  const remedy =
    host === ownHost
      ? "stop it, or give another directory with --data, or keep nothing with --ephemeral"
      : `if it is gone, remove ${join(folder, LOCK_FILE)}`;
  return new StoreError("locked", `${folder} is in use by ${whom}: ${remedy}`);
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
