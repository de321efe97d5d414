import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { FileRefused } from "../regular-file.ts";
import type { Disk } from "./disk.ts";
import { writeFully } from "./disk.ts";
import { StoreError } from "./store-error.ts";

export const LOCK_FILE = "lock";
/** More than a lock ever says. */
const MAX_BYTES = 4096;

/** Who holds a folder. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** What tells the process from a later one of the same number, where the system says it. */
  readonly born: string | null;
}

/**
 * Takes a folder for this process alone, and answers what gives it back. A lock whose process is gone is taken over.
 * @throws StoreError `locked` with the number of the process that has it.
 */
export function lockFolder(disk: Disk, folder: string): () => void {
  const own: Holder = { pid: process.pid, host: hostname(), born: statOf(process.pid)?.birth ?? null };
  return take(disk, folder, LOCK_FILE, own);
}

/** Who has a folder, as far as anybody can tell who only looks. */
export type LockState =
  | { readonly kind: "free" | "left" }
  /** The error is what a program would be told that wants the folder now. */
  | { readonly kind: "held"; readonly error: StoreError };

/** Looks at the lock of a folder: a process holds it, or it was left by one that is gone. */
export function lockStateOf(disk: Disk, folder: string): LockState {
  const holder = read(disk, join(folder, LOCK_FILE));
  if (holder === "gone") return { kind: "free" };
  const host = hostname();
  if (holder === null || !isAlive(holder, host)) return { kind: "left" };
  return { kind: "held", error: locked(folder, holder, host) };
}

/** A lock that nobody holds any more is removed by who holds another, of that removal: it may be a new one by then. */
function take(disk: Disk, folder: string, name: string, own: Holder): () => void {
  const path = join(folder, name);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (create(disk, path, own)) return () => disk.remove(path);
    const holder = read(disk, path);
    if (holder === "gone") continue;
    assertDead(holder, folder, own);
    const release = take(disk, folder, `${name}.removal`, own);
    try {
      if (read(disk, path) === "gone") continue;
      assertDead(read(disk, path), folder, own);
      disk.remove(path);
    } finally {
      release();
    }
  }
  throw new StoreError(
    "locked",
    `${folder} is being opened by other processes again and again: try once more`,
  );
}

const ATTEMPTS = 20;

/** Makes a lock, unless there is one. It has its content when it takes its name: nobody ever finds it empty. */
function create(disk: Disk, path: string, holder: Holder): boolean {
  const draft = `${path}.${holder.pid}-${randomUUID()}`;
  writeNew(disk, draft, holder);
  try {
    disk.link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!NO_SECOND_NAMES.has(codeOf(error))) throw error;
    return writeNew(disk, path, holder);
  } finally {
    disk.remove(draft);
  }
}

/** What a file system answers on which no file can have two names. */
const NO_SECOND_NAMES: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** Whether there was no such file yet. */
function writeNew(disk: Disk, path: string, holder: Holder): boolean {
  try {
    const file = disk.open(path, "new");
    try {
      writeFully(file, Buffer.from(`${JSON.stringify(holder)}\n`), 0);
    } finally {
      file.close();
    }
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** @throws StoreError `locked` when a lock's process still runs. */
function assertDead(holder: Holder | "gone" | null, folder: string, { host }: Holder): void {
  if (holder !== null && holder !== "gone" && isAlive(holder, host)) throw locked(folder, holder, host);
}

/**
 * Who holds the lock; null when its file says nothing, which is so after a machine has lost what it had not yet written.
 * @throws FileRefused when it is no file.
 */
function read(disk: Disk, path: string): Holder | "gone" | null {
  try {
    const file = disk.open(path, "read");
    try {
      const bytes = Buffer.alloc(Math.min(file.size, MAX_BYTES));
      file.read(bytes, 0);
      const holder = JSON.parse(bytes.toString("utf8")) as Holder;
      return Number.isSafeInteger(holder.pid) ? holder : null;
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof FileRefused) throw error;
    return codeOf(error) === "ENOENT" ? "gone" : null;
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
  const stat = statOf(pid);
  if (stat === null) return true;
  // One that has ended and waits for its parent to notice holds nothing any more.
  const hasEnded = stat.state === "Z" || stat.state === "X";
  return !hasEnded && (born === null || born === stat.birth);
}

/** The state of a process, and when it was started, in ticks since the machine was; null where the system has no /proc. */
function statOf(pid: number): { readonly state: string; readonly birth: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", birth: fields[19] ?? "" };
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
