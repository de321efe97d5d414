import { dirname } from "node:path";
import type { DiskFile, OpenMode } from "../../src/engine/disk.ts";
import { type DiskImage, MemoryDisk, MemoryFile } from "../../src/engine/memory-disk.ts";

export type { DiskImage };

/** A change of a file's data that a power failure may undo until it is synced. */
export type DataChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly size: number };
/** A change of directory entries that a power failure may undo until the directory is synced. */
interface NameChange {
  readonly path: string;
  readonly apply: (names: Map<string, FileOnDisk>) => void;
}

export type CallKind =
  | "open"
  | "read"
  | "write"
  | "cut"
  | "sync"
  | "rename"
  | "link"
  | "remove"
  | "syncFolder"
  | "makeFolder";

/** Decides which unsynced changes survive a power failure. */
export interface Outcome {
  /** Returns how many of the unsynced name changes survive, counted from the first. */
  readonly names: (unsynced: number) => number;
  /** Returns the data changes, or parts of them, that survive, in order. */
  readonly data: (unsynced: readonly DataChange[]) => readonly DataChange[];
}

/** A file's synced content and its unsynced changes. */
class FileOnDisk {
  readonly synced: MemoryFile;
  unsynced: DataChange[] = [];

  constructor(bytes?: Uint8Array) {
    this.synced = new MemoryFile(new Uint8Array(bytes ?? []));
  }

  sync(count = this.unsynced.length): void {
    for (const change of this.unsynced.splice(0, count)) apply(this.synced, change);
  }
}

function apply(bytes: MemoryFile, change: DataChange): void {
  if (change.kind === "cut") bytes.truncate(change.size);
  else bytes.write(change.bytes, change.position);
}

/** A disk in memory that can simulate a power failure, failing calls and short writes. */
export class SimulatedDisk extends MemoryDisk {
  readonly #onDisk = new Map<MemoryFile, FileOnDisk>();
  readonly #syncedNames = new Map<string, FileOnDisk>();
  #unsyncedNames: NameChange[] = [];
  /** Called before each call that changes something, syncs or reads an open file. If it throws, the call fails with the same error. */
  before: (call: { readonly kind: CallKind; readonly path: string }) => void = () => {};
  /** Returns how many bytes of a write are written. */
  taken: (path: string, length: number) => number = (_path, length) => length;

  constructor(image: DiskImage = new Map()) {
    super(image);
    for (const [path, bytes] of this.files) {
      const file = new FileOnDisk(bytes.view);
      this.#onDisk.set(bytes, file);
      this.#syncedNames.set(path, file);
    }
  }

  /** Returns the content of the disk after a power failure. */
  afterPowerFailure({ names, data }: Outcome): DiskImage {
    const files = new Map(this.#syncedNames);
    for (const change of this.#unsyncedNames.slice(0, names(this.#unsyncedNames.length))) change.apply(files);
    return new Map(
      [...files].map(([path, { synced, unsynced }]) => {
        const bytes = new MemoryFile(new Uint8Array(synced.view));
        for (const change of data(unsynced)) apply(bytes, change);
        return [path, bytes.view.slice()];
      }),
    );
  }

  override makeFolder(path: string): void {
    this.before({ kind: "makeFolder", path });
    super.makeFolder(path);
  }

  override open(path: string, how: OpenMode): DiskFile {
    const isThere = this.files.has(path);
    if (how === "write" || (how === "new" && !isThere)) this.before({ kind: "open", path });
    const file = super.open(path, how);
    if (!isThere) this.#onDisk.set(this.files.get(path) as MemoryFile, new FileOnDisk());
    const onDisk = this.#onDiskAt(path);
    if (!isThere) this.#addNameChange(path, (names) => names.set(path, onDisk));
    return {
      get size() {
        return file.size;
      },
      read: (into, position) => {
        this.before({ kind: "read", path });
        return file.read(into, position);
      },
      write: (bytes, position) => {
        this.before({ kind: "write", path });
        const taken = new Uint8Array(bytes.subarray(0, this.taken(path, bytes.length)));
        if (taken.length === 0) return 0;
        onDisk.unsynced.push({ kind: "write", position, bytes: taken });
        return file.write(taken, position);
      },
      truncate: (size) => {
        this.before({ kind: "cut", path });
        onDisk.unsynced.push({ kind: "cut", size });
        file.truncate(size);
      },
      sync: () => {
        this.before({ kind: "sync", path });
        onDisk.sync();
      },
      syncAsync: async () => {
        this.before({ kind: "sync", path });
        const { length } = onDisk.unsynced;
        await null;
        onDisk.sync(Math.min(length, onDisk.unsynced.length));
      },
      close: () => {},
    };
  }

  override rename(from: string, path: string): void {
    this.before({ kind: "rename", path: from });
    super.rename(from, path);
    this.#addNameChange(path, (names) => {
      const moved = names.get(from);
      if (moved === undefined) return;
      names.delete(from);
      names.set(path, moved);
    });
  }

  override link(from: string, path: string): void {
    this.before({ kind: "link", path });
    super.link(from, path);
    const onDisk = this.#onDiskAt(path);
    this.#addNameChange(path, (names) => names.set(path, onDisk));
  }

  override remove(path: string): void {
    this.before({ kind: "remove", path });
    super.remove(path);
    this.#addNameChange(path, (names) => names.delete(path));
  }

  override syncFolder(path: string): void {
    this.before({ kind: "syncFolder", path });
    const isInside = (change: NameChange): boolean => dirname(change.path) === path;
    for (const change of this.#unsyncedNames.filter(isInside)) change.apply(this.#syncedNames);
    this.#unsyncedNames = this.#unsyncedNames.filter((change) => !isInside(change));
  }

  #addNameChange(path: string, apply: NameChange["apply"]): void {
    this.#unsyncedNames.push({ path, apply });
  }

  #onDiskAt(path: string): FileOnDisk {
    return this.#onDisk.get(this.files.get(path) as MemoryFile) as FileOnDisk;
  }
}
